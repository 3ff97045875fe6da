package blocked

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"slices"
	"testing"
	"testing/iotest"
)

// FuzzDecode gives arbitrary bytes to everything that reads: no panic, memory in proportion to the bytes, and all ways agree.
func FuzzDecode(f *testing.F) {
	for _, g := range goldenFiles {
		f.Add(g.container(f), false)
		f.Add(g.compact(f), false)
	}
	f.Add([]byte{1, 1}, false)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		// The fuzzer does not find checksums: it may ask for right ones.
		if seal && len(data) >= headerBytes {
			data = slices.Clone(data)
			binary.LittleEndian.PutUint64(data, magic)
			reseal(data)
		}
		whole := slices.Clone(data)
		// 16 times the bytes for a stream of unknown length, a few copies, and the errors.
		most := 40*uint64(len(data)) + 1<<19
		if a := allocated(func() { decode(t, data) }); a > most {
			t.Errorf("%d bytes allocated for %d bytes of input", a, len(data))
		}
		if !bytes.Equal(data, whole) {
			t.Error("the input was changed")
		}
	})
}

// decode reads data in all ways.
func decode(t *testing.T, data []byte) {
	v, err := OpenView(data)
	if err != nil {
		if !v.MayContainHash(1) {
			t.Error("a view beside an error knows something")
		}
	} else {
		ask(t, v, data[headerBytes:])
	}
	u, unverified := OpenViewUnverified(data)
	if unverified == nil {
		ask(t, u, data[headerBytes:])
	}
	if err == nil && (unverified != nil || u != v) {
		t.Errorf("unverified: %v, %+v instead of %+v", unverified, u, v)
	}
	var f Filter
	binaryErr := f.UnmarshalBinary(data)
	if (binaryErr == nil) != (err == nil && !v.CallerHash()) {
		t.Errorf("OpenView: %v, UnmarshalBinary: %v", err, binaryErr)
	}
	if binaryErr == nil {
		again, err := f.MarshalBinary()
		if err != nil || !bytes.Equal(again[:32], data[:32]) || !bytes.Equal(again[40:56], data[40:56]) || !bytes.Equal(again[64:], data[64:]) {
			t.Errorf("another container: %v", err)
		}
	}
	for _, r := range []io.Reader{bytes.NewReader(data), iotest.HalfReader(bytes.NewReader(data))} {
		var s Filter
		n, err := s.ReadFrom(r)
		rest, _ := io.ReadAll(r)
		if int(n)+len(rest) != len(data) {
			t.Errorf("ReadFrom took %d bytes and left %d of %d", n, len(rest), len(data))
		}
		if (err == nil && len(rest) == 0) != (binaryErr == nil) {
			t.Errorf("UnmarshalBinary: %v, ReadFrom: %v, %d bytes left", binaryErr, err, len(rest))
		}
		if err == nil && len(rest) == 0 && !sameFilter(s.View(), &f) {
			t.Error("ReadFrom reads another filter")
		}
	}
	var x Filter
	if textErr := x.UnmarshalText(textEncoding.AppendEncode(nil, data)); (textErr == nil) != (binaryErr == nil) {
		t.Errorf("UnmarshalBinary: %v, UnmarshalText: %v", binaryErr, textErr)
	}
	x.UnmarshalText(data)
	c, err := OpenCompact(data, 3)
	if err == nil {
		ask(t, c, data[:len(data)-trailerBytes])
	}
	d, unverified := OpenCompactUnverified(data, 3)
	if unverified == nil {
		ask(t, d, data[:len(data)-trailerBytes])
	}
	if err == nil && (unverified != nil || c != d) {
		t.Errorf("compact, unverified: %v, %+v instead of %+v", unverified, c, d)
	}
}

// ask compares a view's answers and statistics with those of the reference over the same blocks.
func ask(t *testing.T, v View, blocks []byte) {
	g := v.Geometry()
	if g.check() != nil || g.Bytes() != uint64(len(blocks)) {
		t.Fatalf("geometry %+v of %d bytes", g, len(blocks))
	}
	r := reference{blocks, g.Blocks, g.K}
	var hs [20]uint64
	var may [20]bool
	for i := range hs {
		hs[i] = uint64(i*i) * mul2
	}
	v.MayContainHashes(may[:], hs[:])
	for i, h := range hs {
		if may[i] != r.contains(h) || v.MayContainHash(h) != may[i] {
			t.Errorf("hash %#x: %v", h, may[i])
		}
	}
	key := blocks[:min(len(blocks), 17)]
	if v.CallerHash() && !v.MayContain(key) || !v.CallerHash() && v.MayContain(key) != r.contains(v.Hash(key)) {
		t.Errorf("key %x", key)
	}
	ones := 0
	for _, b := range blocks {
		ones += bits.OnesCount8(b)
	}
	s := v.Stats()
	if s.Fill != float64(ones)/float64(8*len(blocks)) || s.FalsePositiveRate < 0 || s.FalsePositiveRate > 1 || s.FalsePositiveRate != v.FalsePositiveRate() {
		t.Errorf("%+v", s)
	}
	if v.Keys() != s.Keys || s.Geometry != g {
		t.Errorf("%+v", s)
	}
}

// FuzzMerge folds and merges filters of arbitrary sizes and hashes: each result is the filter of the keys it should have.
func FuzzMerge(f *testing.F) {
	f.Add(uint8(3), uint8(2), uint8(4), uint8(7), []byte("some bytes that are hashes, eight at a time, and some more of them"))
	f.Add(uint8(0), uint8(0), uint8(0), uint8(0), []byte{})
	f.Add(uint8(200), uint8(16), uint8(1), uint8(15), bytes.Repeat([]byte{0xf3, 7, 1}, 100))
	f.Fuzz(func(t *testing.T, blocks, a, b, k uint8, data []byte) {
		var parts [2][]uint64
		for i := 0; i+8 <= len(data); i += 8 {
			parts[i/8%2] = append(parts[i/8%2], binary.LittleEndian.Uint64(data[i:]))
		}
		n := uint64(blocks)%50 + 1
		large, small := n*(uint64(a)%9+1), n
		if b&1 != 0 {
			large, small = small, large
		}
		made := func(blocks uint64, parts ...[]uint64) *Filter {
			f := newFilter(Geometry{blocks, int(k)%16 + 1}, 4, false)
			for _, hs := range parts {
				f.AddHashes(hs)
			}
			return f
		}
		x, y := made(large, parts[0]), made(small, parts[1])
		if err := x.Union(y); err != nil || !sameFilter(x.View(), made(n, parts[:]...)) {
			t.Errorf("union: %v", err)
		}
		x = made(large, parts[0])
		if err := x.Intersect(y); err != nil || x.blocks != n {
			t.Errorf("intersection: %v", err)
		}
		for _, h := range parts[0] {
			if slices.Contains(parts[1], h) && !x.MayContainHash(h) {
				t.Error("a common key is absent")
			}
		}
		x = made(large, parts[0], parts[1])
		if same, err := x.Equal(made(small, parts[1], parts[0])); !same || err != nil {
			t.Errorf("equal: %v, %v", same, err)
		}
		for a := uint64(1); a <= 12; a++ {
			if s, err := x.Fold(a); (err == nil) != (large%a == 0) || err == nil && !sameFilter(s.View(), made(large/a, parts[:]...)) {
				t.Errorf("folded by %d: %v", a, err)
			}
		}
		p := float64(a)/300 + 1e-3
		s, err := x.FoldTo(p)
		if (err == nil) != (x.FalsePositiveRate() <= p) || err == nil && (s.FalsePositiveRate() > p || s.blocks > x.blocks) {
			t.Errorf("FoldTo(%v): %v", p, err)
		}
	})
}
