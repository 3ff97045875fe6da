package blocked

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// viewed is a container at an offset from a cache line, with fences, and a filter of the same bits.
func viewed(t testing.TB, f *Filter, offset int) (data []byte, check func() error) {
	t.Helper()
	c, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	data, check = fenced(len(c), offset)
	copy(data, c)
	return data, check
}

// TestViewOffsets looks up by every method at every offset from a cache line.
func TestViewOffsets(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for offset := range 64 {
			for _, k := range []int{2, 8, 13, 16} {
				f := newFilter(Geometry{13, k}, r.Uint64(), false)
				hs := hashesFor(r, 150)
				f.AddHashes(hs[:75])
				for i := range uint64(50) {
					f.AddUint64(i)
				}
				data, check := viewed(t, f, offset)
				v, err := OpenView(data)
				if err != nil {
					t.Fatal(err)
				}
				compareView(t, v, f, hs)
				if v, err = OpenViewUnverified(data); err != nil {
					t.Fatal(err)
				}
				compareView(t, v, f, hs)
				compact, err := f.AppendCompact(nil)
				if err != nil {
					t.Fatal(err)
				}
				data2, check2 := fenced(len(compact), offset)
				copy(data2, compact)
				if v, err = OpenCompact(data2, f.Seed()); err != nil {
					t.Fatal(err)
				}
				compareView(t, v, f, hs)
				if v, err = OpenCompactUnverified(data2, f.Seed()); err != nil {
					t.Fatal(err)
				}
				compareView(t, v, f, hs)
				for _, err := range []error{check(), check2()} {
					if err != nil {
						t.Fatal(err)
					}
				}
				if c, _ := f.MarshalBinary(); !bytes.Equal(c, data) || !bytes.Equal(compact, data2) {
					t.Fatal("a lookup changed the filter")
				}
			}
		}
	})
}

// compareView asks a view and a filter of the same bits the same, by all methods.
func compareView(t *testing.T, v View, f *Filter, hs []uint64) {
	t.Helper()
	n := len(hs)
	keys, strings, numbers := make([][]byte, n), make([]string, n), make([]uint64, n)
	for i := range n {
		numbers[i] = uint64(i)
		keys[i] = binary.LittleEndian.AppendUint64(nil, uint64(i))
		strings[i] = string(keys[i])
	}
	if v.Hash(keys[1]) != f.Hash(keys[1]) || v.HashString(strings[1]) != f.HashString(strings[1]) || v.HashUint64(1) != f.HashUint64(1) {
		t.Fatal("hashes differ")
	}
	if v.Geometry() != f.Geometry() || v.Seed() != f.Seed() {
		t.Fatalf("%v, seed %#x, want %v, %#x", v.Geometry(), v.Seed(), f.Geometry(), f.Seed())
	}
	batches := []struct {
		name string
		one  func(i int) bool
		want func(i int) bool
		all  func(dst []bool)
		sel  func(sel []uint32) []uint32
	}{
		{"hashes", func(i int) bool { return v.MayContainHash(hs[i]) }, func(i int) bool { return f.MayContainHash(hs[i]) },
			func(dst []bool) { v.MayContainHashes(dst, hs) }, func(sel []uint32) []uint32 { return v.SelectHashes(sel, hs) }},
		{"keys", func(i int) bool { return v.MayContain(keys[i]) }, func(i int) bool { return f.MayContain(keys[i]) },
			func(dst []bool) { v.MayContainKeys(dst, keys) }, func(sel []uint32) []uint32 { return v.SelectKeys(sel, keys) }},
		{"strings", func(i int) bool { return v.MayContainString(strings[i]) }, func(i int) bool { return f.MayContainString(strings[i]) },
			func(dst []bool) { v.MayContainStrings(dst, strings) }, func(sel []uint32) []uint32 { return v.SelectStrings(sel, strings) }},
		{"uint64s", func(i int) bool { return v.MayContainUint64(numbers[i]) }, func(i int) bool { return f.MayContainUint64(numbers[i]) },
			func(dst []bool) { v.MayContainUint64s(dst, numbers) }, func(sel []uint32) []uint32 { return v.SelectUint64s(sel, numbers) }},
	}
	for _, b := range batches {
		want := []uint32{99}
		dst := make([]bool, n+2)
		dst[n] = true
		b.all(dst)
		for i := range n {
			is := b.want(i)
			if b.one(i) != is || dst[i] != is {
				t.Fatalf("%s: %d is %v alone and %v in the batch, the filter says %v", b.name, i, b.one(i), dst[i], is)
			}
			if is {
				want = append(want, uint32(i))
			}
		}
		if !dst[n] || dst[n+1] {
			t.Fatalf("%s: wrote behind the answers", b.name)
		}
		if got := b.sel([]uint32{99}); !slices.Equal(got, want) {
			t.Fatalf("%s: selected %v, want %v", b.name, got, want)
		}
	}
}

// TestViewKnowsNothing: a zero View, as one has it after an error, and a view of foreign hashes never say that a key is absent.
func TestViewKnowsNothing(t *testing.T) {
	own, err := NewGeometry(Geometry{9, 7}, WithCallerHash(), WithSeed(5))
	if err != nil {
		t.Fatal(err)
	}
	own.AddHash(1)
	data, err := own.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := OpenView(data)
	if err != nil {
		t.Fatal(err)
	}
	if compact, err := own.AppendCompact(nil); err != nil {
		t.Fatal(err)
	} else if v, err := OpenCompact(compact, 5); err != nil || !v.CallerHash() || !v.MayContainUint64(7) {
		t.Errorf("compact form: %v, caller's hash %v", err, v.CallerHash())
	}
	failed, err := OpenView(data[:100])
	if err == nil {
		t.Fatal("no error")
	}
	var closed *File
	if path := t.TempDir() + "/f"; own.Save(path) != nil {
		t.Fatal("save")
	} else if closed, err = OpenFile(path); err != nil || closed.Close() != nil {
		t.Fatal(err)
	}
	if !foreign.CallerHash() || !foreign.MayContainHash(1) || foreign.MayContainHash(1<<63+5) {
		t.Errorf("view of foreign hashes: caller's hash %v, 1 %v, another %v", foreign.CallerHash(), foreign.MayContainHash(1), foreign.MayContainHash(1<<63+5))
	}
	zero := new(Filter).View()
	for name, v := range map[string]View{"foreign": foreign, "zero": {}, "failed": failed, "closed": closed.View, "of a zero Filter": zero, "of a Filter": own.View()} {
		for i := range uint64(100) {
			key := binary.LittleEndian.AppendUint64(nil, i)
			if !v.MayContain(key) || !v.MayContainString(string(key)) || !v.MayContainUint64(i) {
				t.Fatalf("%s: key %d is absent", name, i)
			}
		}
		for _, n := range []int{0, 1, 8, 300} {
			yes := func(what string, dst []bool) {
				t.Helper()
				if slices.Contains(dst[:n], false) || dst[n] {
					t.Errorf("%s: %s of %d: %v", name, what, n, dst)
				}
			}
			all := make([]uint32, n)
			for i := range all {
				all[i] = uint32(i)
			}
			dst := make([]bool, n+1)
			v.MayContainKeys(dst, make([][]byte, n))
			yes("MayContainKeys", dst)
			dst = make([]bool, n+1)
			v.MayContainStrings(dst, make([]string, n))
			yes("MayContainStrings", dst)
			dst = make([]bool, n+1)
			v.MayContainUint64s(dst, make([]uint64, n))
			yes("MayContainUint64s", dst)
			if !slices.Equal(v.SelectKeys(nil, make([][]byte, n)), all) || !slices.Equal(v.SelectStrings(nil, make([]string, n)), all) || !slices.Equal(v.SelectUint64s(nil, make([]uint64, n)), all) {
				t.Errorf("%s: not all of %d are selected", name, n)
			}
			if v.blocks == 0 {
				dst = make([]bool, n+1)
				v.MayContainHashes(dst, make([]uint64, n))
				yes("MayContainHashes", dst)
				if !v.MayContainHash(uint64(n)) || !slices.Equal(v.SelectHashes(nil, make([]uint64, n)), all) {
					t.Errorf("%s: not all of %d are selected", name, n)
				}
			}
		}
		if v.blocks == 0 {
			n, saturated := v.Cardinality()
			if s := v.Stats(); v.FalsePositiveRate() != 1 || n != 0 || !saturated || s.FalsePositiveRate != 1 || !s.Saturated || v.Keys() != 0 || v.Fill() != 0 {
				t.Errorf("%s: rate %v, keys %d, %v, %+v", name, v.FalsePositiveRate(), n, saturated, s)
			}
			if v.Geometry() != (Geometry{}) || v.Clone().blocks != 0 || v.CallerHash() {
				t.Errorf("%s: %v", name, v.Geometry())
			}
		}
	}
}

// TestViewAllocates nothing: neither opening nor asking.
func TestViewAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	f := fullFilter(Geometry{1000, 8})
	data, _ := f.MarshalBinary()
	compact, _ := f.AppendCompact(nil)
	hs := make([]uint64, 300)
	dst := make([]bool, 300)
	sel := make([]uint32, 0, 300)
	keys, strings := make([][]byte, 300), make([]string, 300)
	answers := 0
	for name, open := range map[string]func() (View, error){
		"OpenView":              func() (View, error) { return OpenView(data) },
		"OpenViewUnverified":    func() (View, error) { return OpenViewUnverified(data) },
		"OpenCompact":           func() (View, error) { return OpenCompact(compact, f.Seed()) },
		"OpenCompactUnverified": func() (View, error) { return OpenCompactUnverified(compact, f.Seed()) },
	} {
		if a := testing.AllocsPerRun(100, func() {
			v, err := open()
			if err != nil {
				t.Fatal(err)
			}
			var key [16]byte
			if v.MayContain(key[:]) || v.MayContainString("key") || v.MayContainUint64(1) || v.MayContainHash(1) {
				answers++
			}
			v.MayContainHashes(dst, hs)
			v.MayContainKeys(dst, keys)
			v.MayContainStrings(dst, strings)
			v.MayContainUint64s(dst, hs)
			sel = v.SelectHashes(sel[:0], hs)
			sel = v.SelectKeys(sel[:0], keys)
			sel = v.SelectStrings(sel[:0], strings)
			sel = v.SelectUint64s(sel[:0], hs)
			v.Cardinality()
			v.FalsePositiveRate()
			v.Fill()
			v.Stats()
			f.Equal(f)
		}); a != 0 {
			t.Errorf("%s and lookups: %v allocations", name, a)
		}
	}
}

// TestViewSize holds what opening is cheap by: four words, which the compiler keeps in registers.
func TestViewSize(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 8 && unsafe.Sizeof(View{}) > 4*8 {
		t.Errorf("a View has %d bytes", unsafe.Sizeof(View{}))
	}
}

// TestFilterView sees what is added later.
func TestFilterView(t *testing.T) {
	f := newFilter(Geometry{5, 9}, 3, false)
	v := f.View()
	if v.MayContainString("a") {
		t.Error("an empty filter's view has a key")
	}
	f.AddString("a")
	if !v.MayContainString("a") {
		t.Error("the view does not see an added key")
	}
	c := v.Clone()
	f.AddString("b")
	if same, err := c.Equal(f); same || err != nil {
		t.Errorf("a clone is the filter: %v, %v", same, err)
	}
}

// TestOddBuffers gives every opening function all that is too short or odd.
func TestOddBuffers(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for n := range 200 {
			for _, data := range [][]byte{nil, make([]byte, n), bytes.Repeat([]byte{0xff}, n), bytes.Repeat([]byte{1}, n)} {
				for i, open := range []func([]byte) (View, error){
					OpenView, OpenViewUnverified,
					func(data []byte) (View, error) { return OpenCompact(data, 0) },
					func(data []byte) (View, error) { return OpenCompactUnverified(data, 0) },
				} {
					v, err := open(data)
					if err == nil && !(i >= 2 && len(data)%64 == 8) || err != nil && !v.MayContainHash(1) {
						t.Fatal(fmt.Sprint("opened ", len(data), " bytes by function ", i, ": ", err))
					}
				}
			}
		}
	})
}
