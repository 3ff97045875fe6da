package blocked

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// goldenGrowing is a growing filter of testdata/, which growing_v1.py wrote: the keys key-0 to key-99, of which known were found when they came.
type goldenGrowing struct {
	name  string
	n     uint64
	p     float64
	opts  []Option
	known int
}

var goldenGrowings = []goldenGrowing{
	{"a", 5, 0.8, []Option{WithExpansion(3)}, 1},
	{"b", 100, 1e-4, []Option{WithNonScaling(), WithMaxBytes(4096), WithSeed(0x0123456789ABCDEF)}, 0},
	{"c", 20, 1e-5, []Option{WithExpansion(1), WithSeed(1 << 32)}, 0},
}

func (c goldenGrowing) data(t testing.TB) []byte { return readFile(t, "growing-v1-"+c.name+".bin") }

// filter makes the same filter.
func (c goldenGrowing) filter(t testing.TB) *Growing {
	t.Helper()
	g := mustGrow(t, c.n, c.p, c.opts...)
	for i := range goldenKeys {
		if err := g.Add(goldenKey(i)); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// sameGrowing reports whether a and b are the same, in all that is stored.
func sameGrowing(a, b *Growing) bool {
	x, err := a.MarshalBinary()
	y, err2 := b.MarshalBinary()
	return err == nil && err2 == nil && bytes.Equal(x, y) && a.Info() == b.Info() && a.Card() == b.Card() && a.CallerHash() == b.CallerHash()
}

// TestGrowingGolden pins the format, the plan and the rates of the layers, on every architecture, byte for byte as a program in another language has them.
func TestGrowingGolden(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, c := range goldenGrowings {
			g := c.filter(t)
			if got, err := g.MarshalBinary(); err != nil || !bytes.Equal(got, c.data(t)) {
				t.Errorf("%s: another file, error %v:\n%x\n%x", c.name, err, got, c.data(t))
			}
			var back Growing
			if err := back.UnmarshalBinary(c.data(t)); err != nil {
				t.Fatal(err)
			}
			if back.Card() != goldenKeys-uint64(c.known) || !sameGrowing(g, &back) {
				t.Errorf("%s: another filter: %+v", c.name, back.Info())
			}
			for i := range 150 {
				if back.MayContain(goldenKey(i)) != (i < goldenKeys) {
					t.Errorf("%s: key-%d: %v", c.name, i, i >= goldenKeys)
				}
			}
			// Each layer is a container of its own, on a cache line of the file.
			data := c.data(t)
			at := headerBytes + int(tableBytes(uint64(len(g.layers))))
			for i := range g.layers {
				v, err := OpenView(data[at : at+headerBytes+len(g.layers[i].Bits())])
				if at%blockBytes != 0 || err != nil || v.Keys() != g.layers[i].items || !sameFilter(v, &g.layers[i].Filter) {
					t.Errorf("%s: layer %d at %d: %v", c.name, i, at, err)
				}
				at += headerBytes + len(g.layers[i].Bits())
			}
			if at != len(data) {
				t.Errorf("%s: %d bytes, want %d", c.name, len(data), at)
			}
		}
	})
}

// growingReads are all ways to read a container that is all of data.
var growingReads = map[string]func(t testing.TB, data []byte) (*Growing, error){
	"UnmarshalBinary": func(t testing.TB, data []byte) (*Growing, error) {
		g := new(Growing)
		return g, g.UnmarshalBinary(data)
	},
	"UnmarshalBinary-again": func(t testing.TB, data []byte) (*Growing, error) {
		g := mustGrow(t, 3, 0.1, WithSeed(5))
		g.AddHashes([]uint64{1, 2, 3, 4, 5})
		before := g.Clone()
		err := g.UnmarshalBinary(data)
		if err != nil && !sameGrowing(g, before) {
			t.Errorf("a failed UnmarshalBinary changed the filter")
		}
		return g, err
	},
	"ReadFrom": func(t testing.TB, data []byte) (*Growing, error) {
		return readGrowing(t, new(Growing), bytes.NewReader(data), data)
	},
	"ReadFrom-bytewise": func(t testing.TB, data []byte) (*Growing, error) {
		g := mustGrow(t, 3, 0.1, WithSeed(5))
		g.AddHashes([]uint64{1, 2, 3, 4, 5})
		before := g.Clone()
		_, err := readGrowing(t, g, iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(data))), data)
		if err != nil && err != errRest && !sameGrowing(g, before) {
			t.Errorf("a failed ReadFrom changed the filter")
		}
		return g, err
	},
	"UnmarshalText": func(t testing.TB, data []byte) (*Growing, error) {
		g := new(Growing)
		return g, g.UnmarshalText(textEncoding.AppendEncode(nil, data))
	},
}

// loadGrowing reads by way of a file. It is slow.
func loadGrowing(t testing.TB, data []byte) (*Growing, error) {
	path := filepath.Join(scratch(t), "growing")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return LoadGrowing(path)
}

// readGrowing is ReadFrom for a stream that has one filter and nothing else.
func readGrowing(t testing.TB, g *Growing, r io.Reader, data []byte) (*Growing, error) {
	n, err := g.ReadFrom(r)
	rest, _ := io.ReadAll(r)
	if int(n)+len(rest) != len(data) {
		t.Errorf("ReadFrom says %d bytes, and %d of %d are left", n, len(rest), len(data))
	}
	if err == nil && len(rest) > 0 {
		err = errRest
	}
	return g, err
}

// TestGrowingDamage flips every bit, cuts at every length, puts bytes before and after, and swaps layers, on every path that reads.
func TestGrowingDamage(t *testing.T) {
	for _, c := range goldenGrowings {
		data := c.data(t)
		want := c.filter(t)
		reads := growingReads
		if c.name == "b" {
			reads = map[string]func(testing.TB, []byte) (*Growing, error){"LoadGrowing": loadGrowing}
			for name, read := range growingReads {
				reads[name] = read
			}
		} else if testing.Short() {
			continue
		}
		for name, read := range reads {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				if g, err := read(t, data); err != nil || !sameGrowing(g, want) && name != "UnmarshalBinary-again" && name != "ReadFrom-bytewise" {
					t.Fatalf("the undamaged filter: %v", err)
				}
				refused := func(what string, data []byte) {
					t.Helper()
					_, err := read(t, data)
					if err == nil {
						t.Errorf("%s: no error", what)
					} else if err != errRest && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) && !errors.Is(err, io.EOF) {
						t.Errorf("%s: an error of no kind: %v", what, err)
					}
				}
				step := 1
				if name == "LoadGrowing" || testing.Short() {
					step = 7 // files are slow
				}
				damaged := slices.Clone(data)
				for bit := 0; bit < 8*len(data); bit += step {
					damaged[bit/8] ^= 1 << (bit % 8)
					refused(fmt.Sprintf("bit %d flipped", bit), damaged)
					damaged[bit/8] ^= 1 << (bit % 8)
				}
				for n := 0; n < len(data); n += step {
					refused(fmt.Sprintf("cut to %d bytes", n), data[:n])
					if n > 0 {
						refused(fmt.Sprintf("first %d bytes missing", n), data[n:])
					}
				}
				for n := 1; n <= 64; n++ {
					for _, x := range []byte{0, 0xff, data[0]} {
						extra := bytes.Repeat([]byte{x}, n)
						refused(fmt.Sprintf("%d bytes appended", n), append(slices.Clone(data), extra...))
						refused(fmt.Sprintf("%d bytes put before", n), append(extra, data...))
					}
				}
				refused("twice", append(slices.Clone(data), data...))
				if c.name == "c" { // layers of equal shape
					at, size := headerBytes+int(tableBytes(5)), 3*blockBytes
					swapped := slices.Clone(data)
					copy(swapped[at:], data[at+size:at+2*size])
					copy(swapped[at+size:], data[at:at+size])
					refused("two layers swapped", swapped)
					doubled := slices.Clone(data)
					copy(doubled[at:], data[at+size:at+2*size])
					refused("a layer in place of another", doubled)
				}
			})
		}
	}
}

// resealGrowing makes all sums of a container right, as far as its parts can be found.
func resealGrowing(data []byte) {
	le := binary.LittleEndian
	if len(data) < headerBytes {
		return
	}
	le.PutUint64(data[56:], xxh3.Hash(data[:56]))
	n := le.Uint64(data[24:])
	if n > maxLayers || headerBytes+tableBytes(n) > uint64(len(data)) {
		return
	}
	front := headerBytes + tableBytes(n)
	rest := data[front:]
	for i := range n {
		e := data[headerBytes+i*growingEntry:]
		blocks := le.Uint64(e)
		if blocks > uint64(len(rest))/blockBytes || headerBytes+blockBytes*blocks > uint64(len(rest)) {
			break
		}
		part := rest[:headerBytes+blockBytes*blocks]
		reseal(part)
		copy(e[24:32], part[56:64])
		rest = rest[len(part):]
	}
	le.PutUint64(data[front-8:], xxh3.Hash(data[:front-8]))
}

// TestGrowingHeaderFields sets every field of header, table and layers to values that crashed others, with right checksums: an error, or a filter that has the keys, and that one can add to.
func TestGrowingHeaderFields(t *testing.T) {
	for _, c := range goldenGrowings[:2] {
		data := c.data(t)
		at := headerBytes + int(tableBytes(uint64(len(c.filter(t).layers))))
		fields := []struct {
			name     string
			at, size int
			refuse   bool // every other value
		}{
			{"magic", 0, 8, true}, {"version", 8, 2, true}, {"flags", 10, 1, true}, {"hash", 11, 1, true}, {"expansion", 12, 4, false}, {"seed", 16, 8, true}, {"layers", 24, 8, true}, {"p", 32, 8, false}, {"most", 40, 8, false},
			{"reserved", 48, 8, true}, {"blocks", 64, 8, true}, {"capacity", 72, 8, false}, {"items", 80, 8, false}, {"zeros", at - 16, 8, true},
			{"layer's magic", at, 8, true}, {"layer's version", at + 8, 2, true}, {"layer's hash", at + 11, 1, true}, {"layer's seed", at + 16, 8, true}, {"layer's N", at + 24, 8, true}, {"layer's keys", at + 32, 8, false}, {"layer's reserved", at + 40, 8, true},
		}
		for _, field := range fields {
			now := uint64(0)
			for i := range field.size {
				now |= uint64(data[field.at+i]) << (8 * i)
			}
			values := []uint64{0, 1, 2, now - 1, now + 1, 2 * now, now << 32, 7, 9, 15, 16, 17, 1 << 7, 1 << 15, 1<<15 + 1, 1 << 20, 1<<20 + 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<40 - 1, 1 << 40, 1<<40 + 1, 1 << 57, 1 << 58, 1<<58 + now,
				1 << 61, 1 << 62, 1<<62 + now, 1 << 63, 1<<64 - 1}
			if field.name == "p" {
				for _, p := range []float64{0, -1, 1, math.NaN(), math.Inf(1), 5e-324, 1e-9, MinRate(), 0.9999999999999999, math.Copysign(0, -1)} {
					values = append(values, math.Float64bits(p))
				}
			}
			for _, x := range values {
				changed := slices.Clone(data)
				for i := range field.size {
					changed[field.at+i] = byte(x >> (8 * i))
				}
				if bytes.Equal(changed, data) {
					continue
				}
				if field.name != "zeros" {
					resealGrowing(changed)
				} else {
					binary.LittleEndian.PutUint64(changed[at-8:], xxh3.Hash(changed[:at-8]))
				}
				what := fmt.Sprintf("%s: %s = %#x", c.name, field.name, x)
				for name, read := range growingReads {
					var g *Growing
					var err error
					if a := allocated(func() { g, err = read(t, changed) }); a >= 1<<20 {
						t.Errorf("%s: %s allocates %d bytes", what, name, a)
					}
					if err != nil {
						if err != errRest && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrMismatch) && !errors.Is(err, ErrTooLarge) {
							t.Errorf("%s: %s: an error of no kind: %v", what, name, err)
						}
						continue
					}
					if field.refuse || field.name == "capacity" && x > maxKeysPerBlock*binary.LittleEndian.Uint64(data[64:]) {
						t.Errorf("%s: %s reads it", what, name)
						continue
					}
					for i := range goldenKeys {
						if !g.MayContain(goldenKey(i)) {
							t.Errorf("%s: %s calls key-%d absent", what, name, i)
							break
						}
					}
					// Adding goes on, or is an error. The budget keeps a capacity that the file claims from asking for gigabytes.
					if !g.ownBudget {
						g.maxBytes = min(g.maxBytes, 1<<20)
					}
					for i := range uint64(300) {
						if err := g.AddUint64(i); err != nil && !errors.Is(err, ErrFull) {
							t.Errorf("%s: %v", what, err)
						}
					}
					if i := g.Info(); i.Items > i.Capacity || i.Bytes > max(i.MaxBytes, 1000) || g.FalsePositiveRate() > 1 {
						t.Errorf("%s: %+v", what, i)
					}
				}
			}
		}
	}
}

// TestGrowingLies: what a header or a table claims beyond the bytes that come costs nothing.
func TestGrowingLies(t *testing.T) {
	le := binary.LittleEndian
	data := goldenGrowings[0].data(t)
	for name, lie := range map[string]func(data []byte){
		"2^20 layers": func(d []byte) { le.PutUint64(d[24:], 1<<20) },
		"2^40 layers": func(d []byte) { le.PutUint64(d[24:], 1<<40) },
		"2^64 layers": func(d []byte) { le.PutUint64(d[24:], 1<<64-1) },
		"2^59 layers": func(d []byte) { le.PutUint64(d[24:], 1<<59) }, // times 32 is 0
		"2^40 blocks": func(d []byte) { le.PutUint64(d[64:], 1<<40) },
		"2^24 blocks": func(d []byte) { le.PutUint64(d[64:], 1<<24) },
		"all 2^40 blocks": func(d []byte) {
			for i := range 4 {
				le.PutUint64(d[64+32*i:], 1<<40)
			}
		},
		"four layers that do not scale": func(d []byte) { d[10] = growingFixed; le.PutUint32(d[12:], 0) },
		"2^58 blocks":                   func(d []byte) { le.PutUint64(d[64:], 1<<58) },
	} {
		lie2 := slices.Clone(data)
		lie(lie2)
		resealGrowing(lie2)
		// A layer's header that claims it as well.
		at := headerBytes + int(tableBytes(4))
		copy(lie2[at+24:at+32], lie2[64:72])
		le.PutUint64(lie2[at+56:], xxh3.Hash(lie2[at:at+56]))
		copy(lie2[64+24:64+32], lie2[at+56:at+64])
		if le.Uint64(lie2[24:]) == 4 {
			le.PutUint64(lie2[at-8:], xxh3.Hash(lie2[:at-8]))
		}
		for way, read := range growingReads {
			var err error
			if a := allocated(func() { _, err = read(t, lie2) }); a >= 1<<20 || err == nil {
				t.Errorf("%s: %s allocates %d bytes, error %v", name, way, a, err)
			}
		}
		var err error
		if a := allocated(func() { _, err = new(Growing).ReadFrom(io.MultiReader(bytes.NewReader(lie2))) }); a >= 1<<20 || err == nil {
			t.Errorf("%s: of unknown length: %d bytes allocated, error %v", name, a, err)
		}
	}
}

// TestGrowingSizesOverflow: layers whose sizes add up to more than a uint64 counts, in a file that is whole as far as its checksums go.
func TestGrowingSizesOverflow(t *testing.T) {
	const layers = 1 << 18 // of 2^46 bytes and 64: 2^64 + 2^24
	le := binary.LittleEndian
	var h, layer [headerBytes]byte
	growingHeader{hash: hashXXH3, expansion: 2, layers: layers, p: 0.01}.put(&h)
	containerHeader{blocks: MaxBlocks, k: 8, hash: hashXXH3}.put(&layer, nil)
	data := append(h[:], make([]byte, tableBytes(layers))...)
	for i := range layers {
		e := data[headerBytes+growingEntry*i:]
		le.PutUint64(e, MaxBlocks)
		le.PutUint64(e[8:], 1)
		copy(e[24:32], layer[56:])
	}
	le.PutUint64(data[len(data)-8:], xxh3.Hash(data[:len(data)-8]))
	for range layers {
		data = append(data, layer[:]...)
	}
	g := mustGrow(t, 10, 0.01)
	if err := g.UnmarshalBinary(data); !errors.Is(err, ErrTooLarge) {
		t.Errorf("UnmarshalBinary: %v", err)
	}
	if _, err := g.ReadFrom(bytes.NewReader(data)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("ReadFrom: %v", err)
	}
}

// TestGrowingBudgetOfFile: a file that asks for more bytes than a process gives by itself does not get them.
func TestGrowingBudgetOfFile(t *testing.T) {
	g := mustGrow(t, 1000, 0.01, WithMaxBytes(1<<62))
	data, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back Growing
	if err := back.UnmarshalBinary(data); err != nil || back.maxBytes != defaultMaxBytes {
		t.Errorf("%v, %d", err, back.maxBytes)
	}
	if again, err := back.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
		t.Errorf("what the file says of the most bytes is lost: %v", err)
	}
	own := mustGrow(t, 1000, 0.01, WithMaxBytes(1<<61))
	if err := own.UnmarshalBinary(data); err != nil || own.maxBytes != 1<<61 {
		t.Errorf("%v, %d", err, own.maxBytes)
	}
}

// TestGrowingEncodings sends growing filters through every encoding and continues them afterwards as if nothing had been.
func TestGrowingEncodings(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	full := mustGrow(t, 100, 0.01, WithMaxBytes(3000))
	for full.AddHash(r.Uint64()) == nil {
	}
	grown := mustGrow(t, 10, 0.02, WithSeed(9), WithExpansion(3))
	fillLayers(t, grown, 4, r.Uint64)
	caller := mustGrow(t, 10, 0.02, WithCallerHash())
	caller.AddHashes([]uint64{1 << 63, 5, 7})
	type both struct {
		V Growing
		P *Growing
		N *Growing
	}
	for name, g := range map[string]*Growing{
		"empty": mustGrow(t, 100, 0.01), "non-scaling": mustGrow(t, 10, 0.1, WithNonScaling(), WithSeed(1<<63)), "full": full, "grown": grown, "caller's hash": caller,
	} {
		t.Run(name, func(t *testing.T) {
			target := func() *Growing {
				if g.CallerHash() {
					return mustGrow(t, 1, 0.5, WithCallerHash())
				}
				return mustGrow(t, 77, 0.3, WithNonScaling(), WithSeed(3))
			}
			check := func(what string, got *Growing, err error) {
				t.Helper()
				if err != nil || !sameGrowing(got, g) {
					t.Fatalf("%s: another filter, or %v", what, err)
				}
				a, b := got.Clone(), g.Clone()
				for i := range uint64(500) {
					x, err := a.AddIfAbsentHash(i * mul2)
					y, err2 := b.AddIfAbsentHash(i * mul2)
					if x != y || (err == nil) != (err2 == nil) || errors.Is(err, ErrFull) != errors.Is(err2, ErrFull) {
						t.Fatalf("%s: goes on with %v, %v instead of %v, %v", what, x, err, y, err2)
					}
				}
				if !sameGrowing(a, b) {
					t.Errorf("%s: goes on as another filter", what)
				}
				for i := range got.layers {
					if uintptr(unsafe.Pointer(&got.layers[i].Bits()[0]))%blockBytes != 0 {
						t.Errorf("%s: layer %d does not start on a cache line", what, i)
					}
				}
			}
			data, err := g.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if more, err := g.AppendBinary([]byte("before")); err != nil || !bytes.Equal(more, append([]byte("before"), data...)) {
				t.Errorf("AppendBinary: %v", err)
			}
			x := target()
			check("UnmarshalBinary", x, x.UnmarshalBinary(data))
			clear(data) // nothing of it is kept
			check("UnmarshalBinary, data gone", x, nil)
			var b bytes.Buffer
			if n, err := g.WriteTo(&b); err != nil || int(n) != b.Len() {
				t.Errorf("WriteTo: %d bytes, error %v", n, err)
			}
			b.WriteString("rest")
			x = target()
			_, err = x.ReadFrom(&b)
			check("ReadFrom", x, err)
			if b.String() != "rest" {
				t.Errorf("ReadFrom leaves %q", b.String())
			}
			path := filepath.Join(t.TempDir(), "filter")
			if err := g.Save(path); err != nil {
				t.Fatal(err)
			}
			var opts []Option
			if g.CallerHash() {
				opts = append(opts, WithCallerHash())
			}
			x, err = LoadGrowing(path, opts...)
			check("LoadGrowing", x, err)
			for _, v := range []any{g, *g} {
				s, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				x := target()
				check("json", x, json.Unmarshal(s, x))
				var buf bytes.Buffer
				if err := gob.NewEncoder(&buf).Encode(v); err != nil {
					t.Fatal(err)
				}
				x = target()
				check("gob", x, gob.NewDecoder(&buf).Decode(x))
			}
			j, err := json.Marshal(both{*g, g, nil})
			if err != nil {
				t.Fatal(err)
			}
			got := both{*target(), target(), nil}
			err = json.Unmarshal(j, &got)
			check("json field by value", &got.V, err)
			check("json field by pointer", got.P, err)
			if got.N != nil {
				t.Error("json: a nil filter became one")
			}
		})
	}
	// The hash must be the reader's.
	data, _ := caller.MarshalBinary()
	if err := new(Growing).UnmarshalBinary(data); !errors.Is(err, ErrMismatch) {
		t.Errorf("the caller's hash is read as XXH3: %v", err)
	}
	if _, err := new(Growing).ReadFrom(bytes.NewReader(data)); !errors.Is(err, ErrMismatch) {
		t.Errorf("the caller's hash is read as XXH3: %v", err)
	}
	var zero Growing
	_, one := zero.MarshalBinary()
	_, two := zero.WriteTo(io.Discard)
	_, three := zero.MarshalText()
	for _, err := range []error{one, two, three, zero.Save(filepath.Join(t.TempDir(), "f"))} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("a zero Growing has bytes: %v", err)
		}
	}
}

// TestGrowingBudgetOfReader: a reader's WithMaxBytes comes before the file's, for what is read and for what is added later.
func TestGrowingBudgetOfReader(t *testing.T) {
	g := mustGrow(t, 1000, 0.01, WithMaxBytes(40_000))
	r := rand.New(rand.NewPCG(43, 44))
	for range 3000 {
		if err := g.AddHash(r.Uint64()); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "filter")
	if err := g.Save(path); err != nil {
		t.Fatal(err)
	}
	have := g.Info().Bytes
	if _, err := LoadGrowing(path, WithMaxBytes(have-1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than the reader allows: %v", err)
	}
	for most, opts := range map[uint64][]Option{40_000: nil, have: {WithMaxBytes(have)}, 80_000: {WithMaxBytes(80_000), WithoutHugePages()}} {
		l, err := LoadGrowing(path, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for l.AddHash(r.Uint64()) == nil {
		}
		if i := l.Info(); i.MaxBytes != most || i.Bytes > most || most > have && i.Bytes == have || l.hasher.small != (most == 80_000) {
			t.Errorf("at most %d bytes: %+v", most, i)
		}
	}
	// The next save keeps it.
	l, err := LoadGrowing(path, WithMaxBytes(have))
	if err != nil {
		t.Fatal(err)
	}
	data, _ := l.MarshalBinary()
	if got := binary.LittleEndian.Uint64(data[40:]); got != have {
		t.Errorf("%d bytes at most in the file, want %d", got, have)
	}
	for _, opt := range []Option{WithSeed(1), WithExpansion(2), WithNonScaling()} {
		if _, err := LoadGrowing(path, opt); !errors.Is(err, ErrParameter) {
			t.Errorf("an option that the file has: %v", err)
		}
	}
	if _, err := LoadGrowing(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := LoadGrowing(filepath.Dir(path)); !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), "regular") {
		t.Error(err)
	}
}

// TestGrowingStreamErrors passes a reader's and a writer's own errors on, and reads several filters from one stream.
func TestGrowingStreamErrors(t *testing.T) {
	g := goldenGrowings[0].filter(t)
	data := goldenGrowings[0].data(t)
	for n := range len(data) {
		h := g.Clone()
		read, err := h.ReadFrom(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(iotest.ErrTimeout)))
		if int(read) != n || !errors.Is(err, iotest.ErrTimeout) || errors.Is(err, ErrCorrupt) || !sameGrowing(g, h) {
			t.Fatalf("after %d bytes: %d read, %v", n, read, err)
		}
		if n > 0 {
			if _, err = h.ReadFrom(bytes.NewReader(data[:n])); !errors.Is(err, ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
		}
		if wrote, err := g.WriteTo(&limited{n: n, err: os.ErrDeadlineExceeded}); int(wrote) != n || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a writer of %d bytes: %d, %v", n, wrote, err)
		}
		if wrote, err := g.WriteTo(&limited{n: n}); int(wrote) != n || !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("a short writer of %d bytes: %d, %v", n, wrote, err)
		}
	}
	stream := bytes.NewReader(slices.Concat(data, goldenGrowings[1].data(t), data))
	h := new(Growing)
	for _, i := range []int{0, 1, 0} {
		if _, err := h.ReadFrom(stream); err != nil || !sameGrowing(h, goldenGrowings[i].filter(t)) {
			t.Fatal(err)
		}
	}
	if n, err := h.ReadFrom(stream); n != 0 || !errors.Is(err, io.EOF) || errors.Is(err, ErrCorrupt) {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
}

// TestGrowingMemory: reading takes the filter's memory and little more, a Growing in text twice.
func TestGrowingMemory(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("takes memory")
	}
	g := mustGrow(t, 100_000, 0.01)
	fillLayers(t, g, 5, rand.New(rand.NewPCG(45, 46)).Uint64)
	size := g.Info().Bytes
	data, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "filter")
	if err := g.Save(path); err != nil {
		t.Fatal(err)
	}
	const constant = 256 << 10
	for _, c := range []struct {
		name string
		most uint64
		do   func() error
	}{
		{"UnmarshalBinary", size + constant, func() error { return new(Growing).UnmarshalBinary(data) }},
		{"bytes.Reader", size + constant, func() error { _, err := new(Growing).ReadFrom(bytes.NewReader(data)); return err }},
		{"LoadGrowing", size + constant, func() error { _, err := LoadGrowing(path); return err }},
		{"unknown length", size + size/8 + constant, func() error { _, err := new(Growing).ReadFrom(io.MultiReader(bytes.NewReader(data))); return err }},
		{"WriteTo", constant, func() error { _, err := g.WriteTo(io.Discard); return err }},
		{"MarshalBinary", size + constant, func() error { _, err := g.MarshalBinary(); return err }},
		{"Info", 0, func() error { g.Info(); return nil }},
		{"FalsePositiveRate", 0, func() error { g.FalsePositiveRate(); return nil }},
	} {
		if a := allocated(func() { err = c.do() }); err != nil || a > c.most {
			t.Errorf("%s: %d bytes allocated for a filter of %d, at most %d allowed; error %v", c.name, a, size, c.most, err)
		}
	}
}

// FuzzGrowingDecode gives arbitrary bytes to everything that reads growing filters: no panic, memory in proportion to the bytes, all ways agree, and what is read can be asked and added to.
func FuzzGrowingDecode(f *testing.F) {
	for _, g := range goldenGrowings {
		f.Add(g.data(f), false)
		f.Add(g.data(f), true)
		f.Add(g.data(f)[:200], true)
	}
	f.Add(goldenFiles[0].container(f), true)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal && len(data) >= headerBytes {
			data = slices.Clone(data)
			binary.LittleEndian.PutUint64(data, growingMagic)
			resealGrowing(data)
		}
		whole := slices.Clone(data)
		var gs []*Growing
		var errs []error
		most := 60*uint64(len(data)) + 1<<19
		a := allocated(func() {
			for _, read := range []string{"UnmarshalBinary", "UnmarshalText", "ReadFrom"} {
				g, err := growingReads[read](t, data)
				gs, errs = append(gs, g), append(errs, err)
			}
			g, err := readGrowing(t, new(Growing), iotest.HalfReader(bytes.NewReader(data)), data)
			gs, errs = append(gs, g), append(errs, err)
		})
		if a > most {
			t.Errorf("%d bytes allocated for %d bytes of input", a, len(data))
		}
		if !bytes.Equal(data, whole) {
			t.Error("the input was changed")
		}
		for i, err := range errs[1:] {
			if (err == nil) != (errs[0] == nil) {
				t.Errorf("one way says %v, another %v", errs[0], err)
			} else if err == nil && !sameGrowing(gs[0], gs[i+1]) {
				t.Error("two ways read two filters")
			}
		}
		if errs[0] != nil {
			if !errors.Is(errs[0], ErrCorrupt) && !errors.Is(errs[0], ErrVersion) && !errors.Is(errs[0], ErrMismatch) && !errors.Is(errs[0], ErrTooLarge) {
				t.Errorf("an error of no kind: %v", errs[0])
			}
			if len(gs[0].layers) != 0 {
				t.Error("an error, and a filter")
			}
			return
		}
		g := gs[0]
		again, err := g.MarshalBinary()
		if err != nil || len(again) != len(data) || !bytes.Equal(again[:headerBytes], data[:headerBytes]) {
			t.Errorf("another container: %v", err)
		}
		if rate := g.FalsePositiveRate(); !(rate >= 0 && rate <= 1) {
			t.Errorf("rate %v", rate)
		}
		g.maxBytes = min(g.maxBytes, g.bytes+1<<16)
		var hs [40]uint64
		for i := range hs {
			hs[i] = uint64(i*i) * mul2
		}
		n, err := g.AddHashes(hs[:])
		if (err == nil) != (n == len(hs)) || err != nil && !errors.Is(err, ErrFull) {
			t.Errorf("%d added, %v", n, err)
		}
		for _, h := range hs[:n] {
			if !g.MayContainHash(h) {
				t.Errorf("%#x was added and is absent", h)
			}
		}
		if i := g.Info(); i.Items > i.Capacity || i.Layers < 1 {
			t.Errorf("%+v", i)
		}
	})
}
