package blocked

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestUnion(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(51, 52))
		for _, k := range []int{1, 5, 8, 11, 16} {
			for _, size := range [][2]uint64{{1, 1}, {60, 60}, {60, 20}, {20, 60}, {1, 77}, {77, 1}, {1000, 500}} {
				both, one, two := hashesFor(r, 40), hashesFor(r, 100), hashesFor(r, 100)
				make := func(blocks uint64, parts ...[]uint64) *Filter {
					f := newFilter(Geometry{blocks, k}, 9, false)
					for _, hs := range parts {
						f.AddHashes(hs)
					}
					return f
				}
				small := min(size[0], size[1])
				f, g := make(size[0], one, both), make(size[1], two, both)
				was := g.Clone()
				data, _ := g.MarshalBinary()
				v, err := OpenView(data)
				if err != nil {
					t.Fatal(err)
				}
				for name, source := range map[string]Source{"filter": g, "view": v} {
					u := f.Clone()
					at := &u.Bits()[0]
					if err := u.Union(source); err != nil {
						t.Fatal(err)
					}
					if want := make(small, one, two, both); !sameFilter(u.View(), want) {
						t.Fatalf("%s: union of %v, k = %d, is not the filter of all keys", name, size, k)
					}
					if moved := &u.Bits()[0] != at; moved != (u.Geometry() != f.Geometry()) {
						t.Fatalf("a union moved the filter: %v; it does so where it folds it, and only there", moved)
					}
					x := f.Clone()
					if err := x.Intersect(source); err != nil {
						t.Fatal(err)
					}
					a, b := make(small, one, both), make(small, two, both)
					for i, c := range x.Bits() {
						if c != a.Bits()[i]&b.Bits()[i] {
							t.Fatalf("%s: intersection of %v, k = %d: byte %d", name, size, k, i)
						}
					}
					for _, h := range both {
						if !x.MayContainHash(h) {
							t.Fatalf("%s: a common key is absent", name)
						}
					}
					if rate := x.FalsePositiveRate(); rate > min(a.FalsePositiveRate(), b.FalsePositiveRate()) {
						t.Fatalf("%s: an intersection has rate %v", name, rate)
					}
					if same, err := f.Equal(source); err != nil || same != sameFilter(a.View(), b) {
						t.Fatalf("%s: equal %v, %v", name, same, err)
					}
					if same, err := make(size[0], two, both).Equal(source); err != nil || !same {
						t.Fatalf("%s: filters of the same keys, %v blocks, are not equal: %v", name, size, err)
					}
					if same, err := v.Equal(make(size[0], both, two)); err != nil || !same {
						t.Fatalf("%s: a view, %v blocks, is not equal: %v", name, size, err)
					}
				}
				if !bytes.Equal(g.Bits(), was.Bits()) {
					t.Fatal("a union changed its argument")
				}
				// With itself, and twice.
				was = f.Clone()
				if f.Union(f) != nil || f.Intersect(f) != nil || !sameFilter(f.View(), was) {
					t.Fatal("a filter with itself is another")
				}
				if same, err := f.Equal(f); !same || err != nil {
					t.Fatal("a filter is not equal to itself")
				}
				f.Union(g)
				once := f.Clone()
				if f.Union(g) != nil || !sameFilter(f.View(), once) {
					t.Fatal("a second union changed something")
				}
				// A larger filter is read into one that was folded, and a smaller one into its memory again.
				if size[0] > size[1] {
					data, _ := make(size[0], one).MarshalBinary()
					if err := f.UnmarshalBinary(data); err != nil || !sameFilter(f.View(), make(size[0], one)) {
						t.Fatalf("reading into a folded filter: %v", err)
					}
					at := &f.Bits()[0]
					data, _ = make(size[1], two).MarshalBinary()
					if err := f.UnmarshalBinary(data); err != nil || &f.Bits()[0] != at || !sameFilter(f.View(), make(size[1], two)) {
						t.Fatalf("reading a smaller filter into a larger one: %v", err)
					}
				}
			}
		}
	})
}

// TestMismatch names all that differs, and changes nothing.
func TestMismatch(t *testing.T) {
	make := func(g Geometry, opts ...Option) *Filter {
		f, err := NewGeometry(g, opts...)
		if err != nil {
			t.Fatal(err)
		}
		f.AddHash(123)
		return f
	}
	f := make(Geometry{6, 8}, WithSeed(1))
	for _, c := range []struct {
		g     *Filter
		names []string
	}{
		{make(Geometry{6, 9}, WithSeed(1)), []string{"k = 8 and 9"}},
		{make(Geometry{6, 8}, WithSeed(1<<32)), []string{"seed = 0x1 and 0x100000000"}},
		{make(Geometry{6, 8}, WithSeed(1), WithCallerHash()), []string{"hash = 1", "0, the caller's"}},
		{make(Geometry{4, 8}, WithSeed(1)), []string{"blocks = 6 and 4"}},
		{make(Geometry{13, 2}), []string{"k = 8 and 2", "seed = 0x1 and 0x0", "blocks = 6 and 13"}},
		{new(Filter), []string{"zero"}},
	} {
		before := f.Clone()
		_, equalErr := f.Equal(c.g)
		_, turned := c.g.Equal(f)
		for _, err := range []error{f.Union(c.g), f.Intersect(c.g), equalErr, turned, c.g.Clone().Union(f)} {
			if !errors.Is(err, ErrMismatch) {
				t.Errorf("%v: %v", c.names, err)
			}
		}
		for _, name := range c.names {
			if !strings.Contains(equalErr.Error(), name) {
				t.Errorf("%q is not in %v", name, equalErr)
			}
		}
		if strings.Count(equalErr.Error(), ";") != len(c.names)-1 && c.g.blocks != 0 && !c.g.callerHash {
			t.Errorf("more differs than should: %v", equalErr)
		}
		if !sameFilter(f.View(), before) {
			t.Error("a refused union changed the filter")
		}
	}
	if err := f.Union(View{}); !errors.Is(err, ErrMismatch) {
		t.Errorf("a zero View: %v", err)
	}
}

// TestUnionLeavesViews: a filter that is folded for a union is not folded under the eyes of its views and copies.
func TestUnionLeavesViews(t *testing.T) {
	large, small := newFilter(Geometry{4, 8}, 0, false), newFilter(Geometry{2, 8}, 0, false)
	hs := []uint64{1 << 62, 1<<62 + 5, 3 << 62, 7}
	large.AddHashes(hs)
	v, c := large.View(), *large
	if err := large.Union(small); err != nil {
		t.Fatal(err)
	}
	for _, h := range hs {
		if !large.MayContainHash(h) || !v.MayContainHash(h) || !c.MayContainHash(h) {
			t.Errorf("%#x: filter %v, view %v, copy %v", h, large.MayContainHash(h), v.MayContainHash(h), c.MayContainHash(h))
		}
	}
}
