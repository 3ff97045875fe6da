package blocked

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// goldenFile is a filter of testdata/, which format_v1.py wrote: 100 keys, key-0 and up, of which the same program found the false positives below key-150.
type goldenFile struct {
	name           string
	g              Geometry
	seed           uint64
	falsePositives []int
}

var goldenFiles = []goldenFile{
	{"a", Geometry{3, 8}, 0, nil},
	{"b", Geometry{2, 13}, 0x0123456789ABCDEF, []int{127}},
	{"c", Geometry{5, 3}, 1 << 32, nil},
}

const goldenKeys = 100

func (g goldenFile) container(t testing.TB) []byte { return readFile(t, "container-v1-"+g.name+".bin") }
func (g goldenFile) compact(t testing.TB) []byte   { return readFile(t, "compact-v1-"+g.name+".bin") }

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func goldenKey(i int) []byte { return strconv.AppendInt([]byte("key-"), int64(i), 10) }

// filter builds the same filter.
func (g goldenFile) filter(t testing.TB) *Filter {
	t.Helper()
	f, err := NewGeometry(g.g, WithSeed(g.seed))
	if err != nil {
		t.Fatal(err)
	}
	for i := range goldenKeys {
		f.Add(goldenKey(i))
	}
	return f
}

// TestGoldenFiles pins version 1 byte for byte, as another program in another language has it, on every architecture.
func TestGoldenFiles(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, g := range goldenFiles {
			f := g.filter(t)
			data := g.container(t)
			copy(data[32:40], make([]byte, 8)) // a Filter does not count its keys
			reseal(data)
			if got, err := f.MarshalBinary(); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: MarshalBinary is not the golden file, error %v:\n%x\n%x", g.name, err, got, data)
			}
			if got, err := f.AppendCompact(nil); err != nil || !bytes.Equal(got, g.compact(t)) {
				t.Errorf("%s: AppendCompact is not the golden file, error %v", g.name, err)
			}
			v, err := OpenView(g.container(t))
			if err != nil {
				t.Fatal(err)
			}
			if v.Keys() != goldenKeys || v.Geometry() != g.g || v.Seed() != g.seed || v.CallerHash() {
				t.Errorf("%s: view of %+v, seed %#x, %d keys, caller's hash %v", g.name, v.Geometry(), v.Seed(), v.Keys(), v.CallerHash())
			}
			c, err := OpenCompact(g.compact(t), g.seed)
			if err != nil {
				t.Fatal(err)
			}
			for i := range goldenKeys {
				if !v.MayContain(goldenKey(i)) || !c.MayContain(goldenKey(i)) {
					t.Errorf("%s: key-%d is absent", g.name, i)
				}
			}
			var positives []int
			for i := goldenKeys; i < 150; i++ {
				if v.MayContain(goldenKey(i)) {
					positives = append(positives, i)
				}
			}
			if !slices.Equal(positives, g.falsePositives) {
				t.Errorf("%s: false positives are %v, want %v", g.name, positives, g.falsePositives)
			}
		}
	})
}

// reseal makes both sums of a container right again.
func reseal(data []byte) {
	binary.LittleEndian.PutUint64(data[48:], xxh3.Hash(data[headerBytes:]))
	binary.LittleEndian.PutUint64(data[56:], xxh3.Hash(data[:56]))
}

// readPaths are all ways to read a container that is all of data.
var readPaths = map[string]func(t testing.TB, data []byte) (View, error){
	"OpenView": func(t testing.TB, data []byte) (View, error) { return OpenView(data) },
	"UnmarshalBinary": func(t testing.TB, data []byte) (View, error) {
		var f Filter
		err := f.UnmarshalBinary(data)
		return f.View(), err
	},
	"UnmarshalBinary-reuse": func(t testing.TB, data []byte) (View, error) {
		f := fullFilter(Geometry{100, 5})
		before := f.Clone()
		err := f.UnmarshalBinary(data)
		if same, _ := f.Equal(before); err != nil && !same {
			t.Errorf("a failed UnmarshalBinary changed the filter")
		}
		return f.View(), err
	},
	"ReadFrom": func(t testing.TB, data []byte) (View, error) {
		var f Filter
		return readWhole(t, &f, bytes.NewReader(data), data)
	},
	"ReadFrom-reuse": func(t testing.TB, data []byte) (View, error) {
		f := fullFilter(Geometry{100, 5})
		v, err := readWhole(t, f, bytes.NewReader(data), data)
		if err != nil && err != errRest && !f.MayContainHash(12345) {
			t.Errorf("a failed ReadFrom made the filter call a key absent that it had: %v", err)
		}
		return v, err
	},
	"ReadFrom-bytewise": func(t testing.TB, data []byte) (View, error) {
		var f Filter
		return readWhole(t, &f, iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(data))), data)
	},
	"OpenFile": func(t testing.TB, data []byte) (View, error) {
		path := filepath.Join(scratch(t), "filter")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := OpenFile(path)
		if err != nil {
			return View{}, err
		}
		defer f.Close()
		return f.Clone().View(), nil
	},
	"UnmarshalText": func(t testing.TB, data []byte) (View, error) {
		var f Filter
		err := f.UnmarshalText(textEncoding.AppendEncode(nil, data))
		return f.View(), err
	},
}

// scratch is one directory for a test's many small files.
var scratch = func() func(testing.TB) string {
	dirs := map[testing.TB]string{}
	return func(t testing.TB) string {
		if dirs[t] == "" {
			dirs[t] = t.TempDir()
			t.Cleanup(func() { delete(dirs, t) })
		}
		return dirs[t]
	}
}()

var errRest = errors.New("bytes after the filter")

// readWhole is ReadFrom for a stream that has one filter and nothing else. A rest is an error here, as it is for the other ways.
func readWhole(t testing.TB, f *Filter, r io.Reader, data []byte) (View, error) {
	n, err := f.ReadFrom(r)
	rest, _ := io.ReadAll(r)
	if int(n)+len(rest) != len(data) {
		t.Errorf("ReadFrom says %d bytes, and %d of %d are left", n, len(rest), len(data))
	}
	if err == nil && len(rest) > 0 {
		err = errRest
	}
	return f.View(), err
}

// fullFilter has many keys, one of which has the hash 12345.
func fullFilter(g Geometry) *Filter {
	f := newFilter(g, 77, false)
	for i := range g.Blocks * 20 {
		f.AddHash(i * mul1)
	}
	f.AddHash(12345)
	return f
}

// sameFilter reports whether v is the filter f.
func sameFilter(v View, f *Filter) bool {
	g := v.filter()
	return v.Geometry() == f.Geometry() && v.Seed() == f.Seed() && v.CallerHash() == f.callerHash && bytes.Equal(g.Bits(), f.Bits())
}

// TestDamage flips every bit, cuts at every length, and puts bytes before and after, on every path that reads.
func TestDamage(t *testing.T) {
	for _, g := range goldenFiles {
		data := g.container(t)
		f := g.filter(t)
		for name, read := range readPaths {
			if name == "OpenFile" && g.name != "a" {
				continue // thousands of small files
			}
			t.Run(g.name+"/"+name, func(t *testing.T) {
				if v, err := read(t, data); err != nil || !sameFilter(v, f) {
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
				damaged := slices.Clone(data)
				for bit := range 8 * len(data) {
					damaged[bit/8] ^= 1 << (bit % 8)
					refused(fmt.Sprintf("bit %d flipped", bit), damaged)
					damaged[bit/8] ^= 1 << (bit % 8)
				}
				for n := range data {
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
			})
		}
	}
}

// TestDamagedEncodings flips every bit of a filter in JSON and gob, with all that stands around it there: an error, or the filter as it was.
func TestDamagedEncodings(t *testing.T) {
	type table struct{ F Filter }
	f := goldenFiles[0].filter(t)
	encodings := map[string]struct {
		encode func(any) ([]byte, error)
		decode func([]byte, any) error
	}{
		"json": {json.Marshal, json.Unmarshal},
		"gob": {
			func(x any) ([]byte, error) {
				var b bytes.Buffer
				err := gob.NewEncoder(&b).Encode(x)
				return b.Bytes(), err
			},
			func(data []byte, x any) error { return gob.NewDecoder(bytes.NewReader(data)).Decode(x) },
		},
	}
	for name, e := range encodings {
		data, err := e.encode(table{*f})
		if err != nil {
			t.Fatal(err)
		}
		detected := 0
		check := func(what string, data []byte) {
			t.Helper()
			var got table
			err := e.decode(data, &got)
			switch {
			case err != nil:
				detected++
			case got.F.blocks == 0: // another field's name, as of a table that has no filter
			case !sameFilter(got.F.View(), f):
				t.Errorf("%s, %s: another filter", name, what)
			}
		}
		for bit := range 8 * len(data) {
			damaged := slices.Clone(data)
			damaged[bit/8] ^= 1 << (bit % 8)
			check(fmt.Sprintf("bit %d flipped", bit), damaged)
		}
		for n := range data {
			check(fmt.Sprintf("cut to %d bytes", n), data[:n])
		}
		if detected < 8*len(data)*9/10 {
			t.Errorf("%s: %d of %d damages are errors", name, detected, 9*len(data))
		}
	}
}

// TestDamagedText flips, cuts and appends to the text form itself.
func TestDamagedText(t *testing.T) {
	text, err := goldenFiles[0].filter(t).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, n int, text []byte) {
		t.Helper()
		if err := new(Filter).UnmarshalText(text); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
			t.Errorf("%s %d: %v", what, n, err)
		}
	}
	for bit := range 8 * len(text) {
		damaged := slices.Clone(text)
		damaged[bit/8] ^= 1 << (bit % 8)
		refused("flipped bit", bit, damaged)
	}
	for n := range text {
		refused("cut to", n, text[:n])
		for _, c := range "\n\r =A" {
			refused("inserted at", n, slices.Insert(slices.Clone(text), n, byte(c)))
		}
	}
	for _, s := range []string{"\n", "\r\n", "=", "A", "AAAA", " ", "\x00"} {
		refused("appended", len(s), append(slices.Clone(text), s...))
	}
}

// TestHeaderFields sets every field to values that crashed others, with right checksums.
func TestHeaderFields(t *testing.T) {
	g := goldenFiles[0]
	data := g.container(t)
	fields := []struct {
		name     string
		at, size int
	}{
		{"magic", 0, 8}, {"version", 8, 2}, {"k", 10, 1}, {"hash", 11, 1}, {"flags", 12, 4}, {"seed", 16, 8}, {"blocks", 24, 8}, {"keys", 32, 8}, {"reserved", 40, 8},
	}
	for _, field := range fields {
		now := uint64(0)
		for i := range field.size {
			now |= uint64(data[field.at+i]) << (8 * i)
		}
		values := []uint64{0, 1, 2, now - 1, now + 1, 2 * now, now << 32, 7, 9, 15, 16, 17, 1 << 7, 1 << 15, 1 << 31, 1<<32 - 1, 1 << 32, 1<<40 - 1, 1 << 40, 1<<40 + 1, 1 << 57, 1 << 58, 1<<58 + now,
			1 << 61, 1 << 62, 1<<62 + now, 1 << 63, 1<<64 - 1}
		for _, x := range values {
			changed := slices.Clone(data)
			for i := range field.size {
				changed[field.at+i] = byte(x >> (8 * i))
			}
			if bytes.Equal(changed, data) {
				continue
			}
			reseal(changed)
			what := fmt.Sprintf("%s = %#x", field.name, x)
			for name, read := range readPaths {
				v, err := read(t, changed)
				if err != nil {
					continue
				}
				switch field.name {
				case "magic", "version", "flags", "blocks", "reserved":
					t.Errorf("%s: %s reads it", what, name)
				case "seed":
					// A valid filter of other keys: nothing tells it from this one.
				case "k":
					// With fewer probes all keys are still there; with more it is a filter of other keys.
					if k := v.Geometry().K; k > g.g.K {
						continue
					}
					fallthrough
				default:
					for i := range goldenKeys {
						if !v.MayContain(goldenKey(i)) {
							t.Errorf("%s: %s calls key-%d absent", what, name, i)
							break
						}
					}
				}
			}
			// What the unverified way takes must be what the verified one takes when the sums are right, and cost it no more.
			_, err := OpenView(changed)
			if _, err2 := OpenViewUnverified(changed); (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
				t.Errorf("%s: verified %v, unverified %v", what, err, err2)
			}
		}
	}
}

// TestUnverified flips every bit: what makes the header implausible is an error. The rest is the storage's.
func TestUnverified(t *testing.T) {
	data := goldenFiles[0].container(t)
	for bit := range 8 * len(data) {
		damaged := slices.Clone(data)
		damaged[bit/8] ^= 1 << (bit % 8)
		_, err := OpenViewUnverified(damaged)
		at := bit / 8
		free := at == 10 || bit == 8*11 || at >= 16 && at < 24 || at >= 32 && at < 40 || at >= 48 // k, hash, seed, keys, sums and blocks
		if !free && err == nil {
			t.Errorf("bit %d flipped: no error", bit)
		}
		if free && at != 10 && err != nil {
			t.Errorf("bit %d flipped: %v", bit, err)
		}
	}
	for n := range data {
		if _, err := OpenViewUnverified(data[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
		if _, err := OpenViewUnverified(append(slices.Clone(data), data[:n+1]...)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes appended: %v", n+1, err)
		}
	}
}

// allocated returns how many bytes do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestLyingHeaders claims more blocks than there are.
func TestLyingHeaders(t *testing.T) {
	data := goldenFiles[0].container(t)
	for _, n := range []uint64{4, 1 << 20, 1<<25 - 1, 1 << 31, 1 << 40, 1<<40 + 1, 1 << 58, 1 << 62, 1<<62 + 3, 1<<64 - 1} {
		lie := slices.Clone(data)
		binary.LittleEndian.PutUint64(lie[24:], n)
		reseal(lie)
		for name, read := range readPaths {
			var err error
			if a := allocated(func() { _, err = read(t, lie) }); a >= 1<<20 {
				t.Errorf("%d blocks: %s allocates %d bytes", n, name, a)
			}
			if err == nil {
				t.Errorf("%d blocks: %s reads it", n, name)
			}
		}
		var f Filter
		r := io.MultiReader(bytes.NewReader(lie)) // of unknown length
		var err error
		if a := allocated(func() { _, err = f.ReadFrom(r) }); a >= 1<<20 || err == nil {
			t.Errorf("%d blocks, unknown length: %d bytes allocated, error %v", n, a, err)
		}
		if n > 4 && n <= 1<<40 && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d blocks, unknown length: %v", n, err)
		}
	}
}

// encoded are the states of a filter that have to survive a trip.
func encoded(t *testing.T) map[string]*Filter {
	make := func(g Geometry, opts ...Option) *Filter {
		f, err := NewGeometry(g, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	fs := map[string]*Filter{
		"empty":        make(Geometry{1, 8}),
		"empty-seeded": make(Geometry{7, 16}, WithSeed(1<<63)),
		"full":         make(Geometry{5, 4}),
		"seeded":       make(Geometry{33, 11}, WithSeed(99)),
		"own-hash":     make(Geometry{3, 6}, WithCallerHash()),
	}
	fill(fs["full"].Bits(), 0xff)
	for i := range 100 {
		fs["seeded"].AddUint64(uint64(i))
		fs["own-hash"].AddHash(uint64(i) * mul1)
	}
	return fs
}

// TestEncodings sends filters through every encoding, by value and by pointer.
func TestEncodings(t *testing.T) {
	type both struct {
		V Filter
		P *Filter
		N *Filter
	}
	for name, f := range encoded(t) {
		t.Run(name, func(t *testing.T) {
			var opts []Option
			if f.callerHash {
				opts = []Option{WithCallerHash()}
			}
			target := func() *Filter {
				f, err := NewGeometry(Geometry{1, 1}, opts...)
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			check := func(what string, got *Filter, err error) {
				t.Helper()
				if err != nil {
					t.Errorf("%s: %v", what, err)
				} else if !sameFilter(got.View(), f) {
					t.Errorf("%s: another filter", what)
				} else if uintptr(unsafe.Pointer(&got.Bits()[0]))%blockBytes != 0 {
					t.Errorf("%s: memory does not start on a cache line", what)
				}
			}
			data, err := f.MarshalBinary()
			if err != nil || len(data) != 64*(int(f.blocks)+1) {
				t.Fatalf("%d bytes, error %v", len(data), err)
			}
			dst := []byte("before")
			if more, err := f.AppendBinary(dst); err != nil || !bytes.Equal(more, append(dst, data...)) {
				t.Errorf("AppendBinary: %v", err)
			}
			x := target()
			check("UnmarshalBinary", x, x.UnmarshalBinary(data))
			var b bytes.Buffer
			if n, err := f.WriteTo(&b); err != nil || int(n) != len(data) || !bytes.Equal(b.Bytes(), data) {
				t.Errorf("WriteTo: %d bytes, error %v", n, err)
			}
			x = target()
			_, err = x.ReadFrom(&b)
			check("ReadFrom", x, err)

			j, err := json.Marshal(both{*f, f, nil})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []any{f, *f} {
				s, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				x := target()
				check(fmt.Sprintf("json of %T", v), x, json.Unmarshal(s, x))
				var g bytes.Buffer
				if err := gob.NewEncoder(&g).Encode(v); err != nil {
					t.Fatal(err)
				}
				x = target()
				check(fmt.Sprintf("gob of %T", v), x, gob.NewDecoder(&g).Decode(x))
			}
			got := both{*target(), target(), nil}
			err = json.Unmarshal(j, &got)
			check("json field by value", &got.V, err)
			check("json field by pointer", got.P, err)
			if got.N != nil {
				t.Errorf("json: a nil filter became one")
			}
			var g bytes.Buffer
			if err := gob.NewEncoder(&g).Encode(both{*f, f, nil}); err != nil {
				t.Fatal(err)
			}
			got = both{*target(), target(), nil}
			err = gob.NewDecoder(&g).Decode(&got)
			check("gob field by value", &got.V, err)
			check("gob field by pointer", got.P, err)

			if x := new(Filter); f.callerHash {
				for _, err := range []error{x.UnmarshalBinary(data), json.Unmarshal(j, &both{})} {
					if !errors.Is(err, ErrMismatch) {
						t.Errorf("a filter of the caller's hashes was read as one of XXH3-64: %v", err)
					}
				}
			} else if y, _ := NewGeometry(Geometry{1, 1}, WithCallerHash()); !errors.Is(y.UnmarshalBinary(data), ErrMismatch) {
				t.Errorf("a filter of XXH3-64 was read as one of the caller's hashes")
			}
		})
	}
}

// TestZeroFilterHasNoBytes: the zero Filter is refused by all that write.
func TestZeroFilterHasNoBytes(t *testing.T) {
	var f Filter
	_, err1 := f.MarshalBinary()
	_, err2 := f.MarshalText()
	_, err3 := f.AppendCompact(nil)
	_, err4 := f.WriteTo(io.Discard)
	_, err5 := f.Fold(1)
	_, err6 := f.FoldTo(0.5)
	for i, err := range []error{err1, err2, err3, err4, err5, err6, f.Save(filepath.Join(t.TempDir(), "f"))} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%d: %v", i, err)
		}
	}
	type opt struct {
		F Filter `json:",omitzero"`
	}
	if s, err := json.Marshal(opt{}); err != nil || string(s) != "{}" {
		t.Errorf("%s, %v", s, err)
	}
}

// TestReuse reads filters of several sizes into one and watches its memory.
func TestReuse(t *testing.T) {
	f := fullFilter(Geometry{64, 8})
	at := &f.Bits()[0]
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []uint64{64, 3, 40, 64, 1, 63} {
		g := newFilter(Geometry{n, 1 + r.IntN(16)}, r.Uint64(), false)
		for range n * 10 {
			g.AddHash(r.Uint64())
		}
		data, _ := g.MarshalBinary()
		for _, read := range []func() error{
			func() error { return f.UnmarshalBinary(data) },
			func() error { _, err := f.ReadFrom(iotest.HalfReader(bytes.NewReader(data))); return err },
		} {
			f.Reset()
			if err := read(); err != nil {
				t.Fatal(err)
			}
			if !sameFilter(f.View(), g) {
				t.Fatalf("%d blocks: another filter", n)
			}
			if &f.Bits()[0] != at {
				t.Fatalf("%d blocks: new memory", n)
			}
		}
		if a := testing.AllocsPerRun(10, func() { f.UnmarshalBinary(data) }); a != 0 {
			t.Errorf("%d blocks: %v allocations", n, a)
		}
	}
}
