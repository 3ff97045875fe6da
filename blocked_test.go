package blocked

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func mustNew(t testing.TB, n uint64, p float64, opts ...Option) *Filter {
	t.Helper()
	f, err := New(n, p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestKeyForms adds by each form and looks up by each: all are the same key.
func TestKeyForms(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, k := range []int{1, 5, 8, 9, 16} {
			var bits []byte
			keys, strs, ints, hs := [][]byte{}, []string{}, []uint64{}, []uint64{}
			one, err := NewGeometry(Geometry{1000, k}, WithSeed(5))
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint64(3001) {
				x := i*i*i + 7
				key := binary.LittleEndian.AppendUint64(nil, x)
				keys, strs, ints, hs = append(keys, key), append(strs, string(key)), append(ints, x), append(hs, one.Hash(key))
			}
			adds := map[string]func(f *Filter){
				"Add":                func(f *Filter) { each(keys, f.Add) },
				"AddString":          func(f *Filter) { each(strs, f.AddString) },
				"AddUint64":          func(f *Filter) { each(ints, f.AddUint64) },
				"AddHash":            func(f *Filter) { each(hs, f.AddHash) },
				"AddIfAbsent":        func(f *Filter) { each(keys, func(k []byte) { f.AddIfAbsent(k) }) },
				"AddIfAbsentString":  func(f *Filter) { each(strs, func(k string) { f.AddIfAbsentString(k) }) },
				"AddIfAbsentUint64":  func(f *Filter) { each(ints, func(k uint64) { f.AddIfAbsentUint64(k) }) },
				"AddIfAbsentHash":    func(f *Filter) { each(hs, func(k uint64) { f.AddIfAbsentHash(k) }) },
				"AddKeys":            func(f *Filter) { f.AddKeys(keys) },
				"AddStrings":         func(f *Filter) { f.AddStrings(strs) },
				"AddUint64s":         func(f *Filter) { f.AddUint64s(ints) },
				"AddHashes":          func(f *Filter) { f.AddHashes(hs) },
				"AddIfAbsentHashes":  func(f *Filter) { f.AddIfAbsentHashes(make([]bool, len(hs)), hs) },
				"AddKeys in pieces":  func(f *Filter) { f.AddKeys(keys[:1]); f.AddKeys(keys[1:100]); f.AddKeys(keys[100:]); f.AddKeys(nil) },
				"AddHashes, reverse": func(f *Filter) { r := slices.Clone(hs); slices.Reverse(r); f.AddHashes(r) },
			}
			for name, do := range adds {
				f := one.Clone()
				do(f)
				if bits == nil {
					bits = f.Bits()
				}
				if !bytes.Equal(bits, f.Bits()) {
					t.Fatalf("k = %d: %s sets other bits", k, name)
				}
			}
			one.AddHashes(hs[:2000])
			want := make([]bool, len(hs))
			var selected []uint32
			for i, h := range hs {
				if want[i] = one.MayContainHash(h); want[i] {
					selected = append(selected, uint32(i))
				}
				if i < 2000 && !want[i] {
					t.Fatalf("k = %d: key %d was added and is reported absent", k, i)
				}
				if one.MayContain(keys[i]) != want[i] || one.MayContainString(strs[i]) != want[i] || one.MayContainUint64(ints[i]) != want[i] {
					t.Fatalf("k = %d: the forms of key %d differ", k, i)
				}
			}
			for _, n := range []int{0, 1, 7, 31, 32, 33, 255, 256, 257, 1000, 3001} {
				for name, do := range map[string]func(dst []bool){
					"MayContainKeys":    func(dst []bool) { one.MayContainKeys(dst, keys[:n]) },
					"MayContainStrings": func(dst []bool) { one.MayContainStrings(dst, strs[:n]) },
					"MayContainUint64s": func(dst []bool) { one.MayContainUint64s(dst, ints[:n]) },
					"MayContainHashes":  func(dst []bool) { one.MayContainHashes(dst, hs[:n]) },
				} {
					dst := make([]bool, n+2)
					dst[n] = true
					do(dst)
					if !slices.Equal(dst[:n], want[:n]) || !dst[n] || dst[n+1] {
						t.Fatalf("k = %d: %s of %d keys is wrong", k, name, n)
					}
				}
				m, _ := slices.BinarySearch(selected, uint32(n))
				for name, sel := range map[string][]uint32{
					"SelectKeys":    one.SelectKeys([]uint32{9}, keys[:n]),
					"SelectStrings": one.SelectStrings([]uint32{9}, strs[:n]),
					"SelectUint64s": one.SelectUint64s([]uint32{9}, ints[:n]),
					"SelectHashes":  one.SelectHashes([]uint32{9}, hs[:n]),
				} {
					if sel[0] != 9 || !slices.Equal(sel[1:], selected[:m]) {
						t.Fatalf("k = %d: %s of %d keys is %v", k, name, n, sel)
					}
				}
			}
		}
	})
}

func each[K any](keys []K, do func(K)) {
	for _, k := range keys {
		do(k)
	}
}

// TestLargeKeyBatches does so in a filter that batches prefetch for.
func TestLargeKeyBatches(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		f, err := NewGeometry(Geometry{prefetchBytes/blockBytes + 3, 8})
		if err != nil {
			t.Fatal(err)
		}
		strs, ints := make([]string, 5000), make([]uint64, 5000)
		for i := range strs {
			strs[i], ints[i] = fmt.Sprint("key-", i), uint64(i)
		}
		for n := range 400 {
			f.AddStrings(strs[:n])
			f.AddUint64s(ints[:n])
		}
		f.AddStrings(strs[:2500])
		f.AddUint64s(ints[:2500])
		for _, n := range []int{1, 31, 32, 100, 128, 129, 160, 161, 192, 333, 5000} {
			a, b := make([]bool, n), make([]bool, n)
			f.MayContainStrings(a, strs[:n])
			f.MayContainUint64s(b, ints[:n])
			for i := range n {
				if a[i] != f.MayContainString(strs[i]) || b[i] != f.MayContainUint64(ints[i]) || i < 2500 && !(a[i] && b[i]) {
					t.Fatalf("%d keys: key %d is %v, %v", n, i, a[i], b[i])
				}
			}
		}
	})
}

func TestZeroFilter(t *testing.T) {
	var f Filter
	var dst = []bool{true, true, true}
	if f.MayContain([]byte("x")) || f.MayContainString("") || f.MayContainUint64(1) || f.MayContainHash(0) {
		t.Error("a zero Filter contains something")
	}
	f.MayContainHashes(dst, []uint64{1, 2, 3})
	if dst[0] || dst[1] || dst[2] {
		t.Error("a zero Filter contains something in a batch")
	}
	f.MayContainKeys(dst, [][]byte{nil})
	if sel := f.SelectHashes(nil, []uint64{1, 2, 3}); len(sel) != 0 {
		t.Errorf("a zero Filter selects %v", sel)
	}
	if of, want := f.HashUint64(1), f.Hash([]byte{1, 0, 0, 0, 0, 0, 0, 0}); of != want || (View{}).HashUint64(1) != want {
		t.Errorf("a zero Filter's HashUint64 is %#x, the bytes' hash %#x", of, want)
	}
	f.Reset()
	f.AddHashes(nil)
	f.AddKeys(nil)
	if c := f.Clone(); c.MayContainHash(1) || len(c.Bits()) != 0 || f.Geometry() != (Geometry{}) || f.Seed() != 0 || len(f.Bits()) != 0 {
		t.Error("a zero Filter is not empty")
	}
	for name, do := range map[string]func(){
		"Add":               func() { f.Add(nil) },
		"AddString":         func() { f.AddString("x") },
		"AddUint64":         func() { f.AddUint64(1) },
		"AddHash":           func() { f.AddHash(1) },
		"AddIfAbsent":       func() { f.AddIfAbsent(nil) },
		"AddHashes":         func() { f.AddHashes([]uint64{1}) },
		"AddKeys":           func() { f.AddKeys([][]byte{nil}) },
		"AddStrings":        func() { f.AddStrings([]string{""}) },
		"AddUint64s":        func() { f.AddUint64s(make([]uint64, 100)) },
		"AddIfAbsentHashes": func() { f.AddIfAbsentHashes(make([]bool, 9), make([]uint64, 9)) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "blocked.New") {
					t.Errorf("%s on a zero Filter: panic is %v, want one that says what to call", name, r)
				}
			}()
			do()
		}()
	}
}

// TestEmptyPlan: a filter for no keys works like any other.
func TestEmptyPlan(t *testing.T) {
	for _, p := range []float64{0.9999999999999999, 0.5, 0.01, 1e-6} {
		f := mustNew(t, 0, p)
		if f.MayContainString("a") {
			t.Error("an empty filter contains a key")
		}
		f.AddString("a")
		if !f.MayContainString("a") {
			t.Error("an added key is reported absent")
		}
	}
}

func TestMemory(t *testing.T) {
	for _, blocks := range []uint64{1, 2, 3, 5, 7, 9, 11, 13, 100, 1000, 16384, 16385, 100000} {
		f, err := NewGeometry(Geometry{blocks, 8})
		if err != nil {
			t.Fatal(err)
		}
		b := f.Bits()
		if at := uintptr(unsafe.Pointer(&b[0])); at%64 != 0 {
			t.Errorf("%d blocks start %d bytes after a cache line", blocks, at%64)
		}
		if len(b) != int(blocks)*64 || cap(b) != len(b) {
			t.Errorf("%d blocks: %d bytes, capacity %d", blocks, len(b), cap(b))
		}
		f.AddHash(1 << 63)
		c := f.Clone()
		if !bytes.Equal(c.Bits(), b) || &c.Bits()[0] == &b[0] || c.Geometry() != f.Geometry() {
			t.Error("a clone is not a copy")
		}
		c.AddHash(3)
		if f.MayContainHash(3) || !c.MayContainHash(1<<63) {
			t.Error("a clone shares memory")
		}
		f.Reset()
		if f.MayContainHash(1<<63) || &f.Bits()[0] != &b[0] {
			t.Error("Reset leaves keys or takes other memory")
		}
	}
}

func TestShortDestination(t *testing.T) {
	f := mustNew(t, 100, 0.01)
	for name, do := range map[string]func(){
		"MayContainHashes":  func() { f.MayContainHashes(make([]bool, 8), make([]uint64, 9)) },
		"MayContainKeys":    func() { f.MayContainKeys(make([]bool, 8), make([][]byte, 9)) },
		"AddIfAbsentHashes": func() { f.AddIfAbsentHashes(nil, make([]uint64, 1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s takes a destination that is too short", name)
				}
			}()
			do()
		}()
	}
}

// TestParallelLookups is for the race detector: a lookup changes nothing.
func TestParallelLookups(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, k := range []int{3, 8, 12} {
			f, err := NewGeometry(Geometry{100, k})
			if err != nil {
				t.Fatal(err)
			}
			hs := make([]uint64, 1000)
			for i := range hs {
				hs[i] = f.HashUint64(uint64(i))
			}
			f.AddHashes(hs)
			v := f.View()
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					dst, inView := make([]bool, len(hs)), make([]bool, len(hs))
					f.MayContainHashes(dst, hs)
					v.MayContainHashes(inView, hs)
					for i, h := range hs {
						if !dst[i] || !inView[i] || !f.MayContainHash(h) || !v.MayContainHash(h) {
							t.Error("an added key is reported absent")
							return
						}
					}
					_ = f.Stats()
				})
			}
			wg.Wait()
		}
	})
}
