package blocked

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCompactDamage is TestDamage for the compact form. Its trailer has no checksum: a flipped bit of k or hash that leaves another valid value is the storage's to find, and nothing else is.
func TestCompactDamage(t *testing.T) {
	for _, g := range goldenFiles {
		data := g.compact(t)
		refused := func(what string, n int, data []byte) {
			t.Helper()
			if v, err := OpenCompact(data, g.seed); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) || !v.MayContainHash(1) {
				t.Errorf("%s: %s %d: %v", g.name, what, n, err)
			}
		}
		for bit := range 8 * len(data) {
			damaged := slices.Clone(data)
			damaged[bit/8] ^= 1 << (bit % 8)
			if at := bit/8 - (len(data) - trailerBytes); at == 1 || at == 2 {
				k, hash := damaged[len(data)-7], damaged[len(data)-6]
				if k >= 1 && k <= 16 && hash <= 1 {
					v, err := OpenCompact(damaged, g.seed)
					if err != nil {
						t.Errorf("%s: k = %d, hash = %d: %v", g.name, k, hash, err)
					}
					// With fewer probes, or the caller's hashes, it still knows every key.
					for i := range goldenKeys {
						if int(k) <= g.g.K && !v.MayContain(goldenKey(i)) {
							t.Errorf("%s: k = %d, hash = %d: key-%d is absent", g.name, k, hash, i)
						}
					}
					continue
				}
			}
			refused("flipped bit", bit, damaged)
		}
		for n := range data {
			refused("cut to", n, data[:n])
			if n > 0 {
				refused("cut before", n, data[n:])
			}
		}
		for n := 1; n <= 64; n++ {
			for _, x := range []byte{0, 0xff, 1} {
				extra := bytes.Repeat([]byte{x}, n)
				refused("appended", n, append(slices.Clone(data), extra...))
				refused("put before", n, append(extra, data...))
			}
		}
		refused("twice", 0, append(slices.Clone(data), data...))
		// A valid trailer, with the right checksum, behind a number of bytes that is no number of blocks.
		for n := range 200 {
			odd := append(make([]byte, n), data[len(data)-trailerBytes:]...)
			putTrailer((*[trailerBytes]byte)(odd[n:]), 8, hashXXH3, odd[:n])
			for i, open := range []func([]byte, uint64) (View, error){OpenCompact, OpenCompactUnverified} {
				if _, err := open(odd, 0); (err == nil) != (n > 0 && n%64 == 0) {
					t.Errorf("%d bytes and a trailer, %d: %v", n, i, err)
				}
			}
		}
		// The unverified form sees the shape.
		for n := range data {
			if _, err := OpenCompactUnverified(data[:n], 0); err == nil && n%64 != 8 {
				t.Errorf("%s: unverified, cut to %d: no error", g.name, n)
			}
		}
		for _, at := range []int{8, 5, 6, 7} { // version, hash and flags; k
			damaged := slices.Clone(data)
			damaged[len(data)-at] |= 0x20
			if _, err := OpenCompactUnverified(damaged, 0); err == nil {
				t.Errorf("%s: unverified, byte %d before the end: no error", g.name, at)
			}
		}
	}
}

// TestCompactAppends to what there is.
func TestCompactAppends(t *testing.T) {
	g := goldenFiles[1]
	dst := append(make([]byte, 0, 1000), "before"...)
	fill(dst[6:1000], 0xaa)
	out, err := g.filter(t).AppendCompact(dst)
	if err != nil || !bytes.Equal(out, append([]byte("before"), g.compact(t)...)) {
		t.Errorf("%v: %x", err, out)
	}
	if &out[0] != &dst[0] {
		t.Error("the memory that was there was not used")
	}
}

// TestMayContainCompact holds it against a view of the same bytes, at every offset, and against OpenCompactUnverified where the bytes are no filter.
func TestMayContainCompact(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(51, 52))
		for offset := range 64 {
			for _, k := range []int{1, 2, 7, 8, 9, 13, 16} {
				f := newFilter(Geometry{5, k}, r.Uint64()>>(64*(offset&1)), false)
				for i := range 100 {
					f.Add(goldenKey(i))
				}
				compact, err := f.AppendCompact(nil)
				if err != nil {
					t.Fatal(err)
				}
				data, check := fenced(len(compact), offset)
				copy(data, compact)
				for i := range 400 {
					key := goldenKey(i)
					if may, ok := MayContainCompact(data, f.Seed(), key); !ok || may != f.MayContain(key) || !may && i < 100 {
						t.Fatalf("k = %d, offset %d: key-%d: %v, %v", k, offset, i, may, ok)
					}
				}
				if err := check(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestMayContainCompactDamage(t *testing.T) {
	for _, g := range goldenFiles {
		whole := g.compact(t)
		try := func(what string, n int, data []byte) {
			t.Helper()
			v, err := OpenCompactUnverified(data, g.seed)
			may, ok := MayContainCompact(data, g.seed, goldenKey(1000))
			if want := err == nil && !v.CallerHash(); ok != want || may != v.MayContain(goldenKey(1000)) || !ok && !may {
				t.Errorf("%s: %s %d: %v, %v; %v", g.name, what, n, may, ok, err)
			}
		}
		try("whole", 0, whole)
		try("nil", 0, nil)
		for n := range whole {
			try("cut to", n, whole[:n])
			try("cut before", n, whole[n:])
		}
		for at := len(whole) - trailerBytes; at < len(whole); at++ {
			for x := range 256 {
				damaged := slices.Clone(whole)
				damaged[at] = byte(x)
				try("changed trailer", at<<8|x, damaged)
			}
		}
		for n := range 200 {
			try("ones", n, bytes.Repeat([]byte{0xff}, n))
			try("zeros", n, make([]byte, n))
		}
		if n := testing.AllocsPerRun(100, func() {
			MayContainCompact(whole, g.seed, whole[:20])
			MayContainCompact(whole[1:], g.seed, whole[:20])
		}); n > 0 && !raceEnabled {
			t.Errorf("%v allocations", n)
		}
	}
}
