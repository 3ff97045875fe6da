package peers

import (
	"errors"
	"fmt"

	"github.com/blockedbloom/blocked"
)

// batchSizes are the batches that are measured: what a database engine hands over at a time, and one so long that its first and last keys do not count.
var batchSizes = []int{1024, 1 << 16}

// ErrNoOption reports a Size that this version of the library has no option for.
var ErrNoOption = errors.New("this version has no option for that")

func ours() *Library {
	l := &Library{
		Name: OursName, Module: "github.com/blockedbloom/blocked", Hashes: "XXH3-64", Sizing: "New(n, p)", Ours: true, Tunable: true,
	}
	seedless, err := blocked.New(1, 0.5)
	if err != nil {
		panic(err)
	}
	l.HashOf = seedless.Hash
	l.Builds = []Build{
		oursBuild("AddHashes", Hash, func(f *blocked.Filter, k *Keys) { f.AddHashes(k.Hashes) }),
		oursBuild("AddHashesParallel", Hash, func(f *blocked.Filter, k *Keys) { f.AddHashesParallel(k.Hashes, 0) }),
		oursBuild("AddKeys", Key16, func(f *blocked.Filter, k *Keys) { f.AddKeys(k.Slices) }),
	}
	return l
}

func oursBuild(name string, in Input, add func(*blocked.Filter, *Keys)) Build {
	return Build{name, in, func(s Size) (func(*Keys), func() (*Filter, error), error) {
		f, err := NewOurs(s)
		if err != nil {
			return nil, nil, err
		}
		return func(k *Keys) { add(f, k) }, func() (*Filter, error) { return Ours(f), nil }, nil
	}}
}

// NewOurs returns an empty filter of this repository.
func NewOurs(s Size) (*blocked.Filter, error) {
	g, err := blocked.Plan(s.N, s.Rate)
	if s.BitsPerKey > 0 {
		g, err = blocked.PlanBits(s.N, s.BitsPerKey)
	}
	if err != nil {
		return nil, err
	}
	return OursOf(g, s.Pages)
}

// OursOf returns an empty filter of this repository with the geometry g.
func OursOf(g blocked.Geometry, pages string) (*blocked.Filter, error) {
	opts, err := pageOptions(pages)
	if err != nil {
		return nil, err
	}
	return blocked.NewGeometry(g, opts...)
}

// pageOptions returns the options for a kind of pages.
func pageOptions(pages string) ([]blocked.Option, error) {
	switch pages {
	case "":
		return nil, nil
	case "ordinary":
		return []blocked.Option{blocked.WithoutHugePages()}, nil
	default:
		return nil, fmt.Errorf("%w: %s pages", ErrNoOption, pages)
	}
}

// Ours is the table of the operations that are measured. A new method of the library is a line here.
func Ours(f *blocked.Filter) *Filter {
	r := &Filter{Bytes: f.Geometry().Bytes(), Memory: f.Bits()}
	lookup := func(name string, in Input, kind Kind, size int, do func(*Keys) int) {
		r.Lookups = append(r.Lookups, Op{name, in, kind, size, do})
	}
	add := func(name string, in Input, kind Kind, size int, do func(*Keys) int) {
		r.Adds = append(r.Adds, Op{name, in, kind, size, do})
	}

	lookup("MayContainHash", Hash, Single, 1, func(k *Keys) int {
		return count(k.Hashes, func(h uint64) bool { return f.MayContainHash(h) })
	})
	lookup("MayContainHash", Hash, Chain, 1, func(k *Keys) int {
		return chain(k.Hashes, func(h uint64) bool { return f.MayContainHash(h) })
	})
	lookup("MayContain", Key16, Single, 1, func(k *Keys) int {
		return countColumn(k.Column, func(key []byte) bool { return f.MayContain(key) })
	})
	lookup("MayContain", Key16, Chain, 1, func(k *Keys) int {
		return chainColumn(k.Column, func(key []byte) bool { return f.MayContain(key) })
	})
	lookup("MayContainString", Str16, Single, 1, func(k *Keys) int {
		return count(k.Strings, func(key string) bool { return f.MayContainString(key) })
	})
	lookup("MayContainUint64", Uint64, Single, 1, func(k *Keys) int {
		return count(k.Numbers, func(key uint64) bool { return f.MayContainUint64(key) })
	})
	for _, size := range batchSizes {
		lookup("MayContainHashes", Hash, Batch, size, func(k *Keys) int {
			return batches(k, size, func(k *Keys) int { f.MayContainHashes(k.Found, k.Hashes); return 0 })
		})
	}
	lookup("MayContainHashes", Hash, Cores, 1<<16, func(k *Keys) int {
		return onAllCores(k, func(k *Keys) { f.MayContainHashes(k.Found, k.Hashes) })
	})
	lookup("SelectHashes", Hash, Batch, 1024, func(k *Keys) int {
		return batches(k, 1024, func(k *Keys) int { return len(f.SelectHashes(k.Sel[:0], k.Hashes)) })
	})
	lookup("MayContainKeys", Key16, Batch, 1024, func(k *Keys) int {
		return batches(k, 1024, func(k *Keys) int { f.MayContainKeys(k.Found, k.Slices); return 0 })
	})
	lookup("MayContainColumn", Key16, Batch, 1024, func(k *Keys) int {
		return batches(k, 1024, func(k *Keys) int {
			if err := f.MayContainColumn(k.Found, k.Column, KeyBytes); err != nil {
				panic(err)
			}
			return 0
		})
	})
	lookup("MayContainStrings", Str16, Batch, 1024, func(k *Keys) int {
		return batches(k, 1024, func(k *Keys) int { f.MayContainStrings(k.Found, k.Strings); return 0 })
	})
	lookup("MayContainUint64s", Uint64, Batch, 1024, func(k *Keys) int {
		return batches(k, 1024, func(k *Keys) int { f.MayContainUint64s(k.Found, k.Numbers); return 0 })
	})

	add("AddHash", Hash, Single, 1, func(k *Keys) int { return each(k.Hashes, func(h uint64) { f.AddHash(h) }) })
	add("AddIfAbsentHash", Hash, Single, 1, func(k *Keys) int {
		return count(k.Hashes, func(h uint64) bool { return f.AddIfAbsentHash(h) })
	})
	add("Add", Key16, Single, 1, func(k *Keys) int { return eachColumn(k.Column, func(key []byte) { f.Add(key) }) })
	add("AddUint64", Uint64, Single, 1, func(k *Keys) int { return each(k.Numbers, func(key uint64) { f.AddUint64(key) }) })
	for _, size := range batchSizes {
		add("AddHashes", Hash, Batch, size, func(k *Keys) int {
			return batches(k, size, func(k *Keys) int { f.AddHashes(k.Hashes); return 0 })
		})
	}
	add("AddKeys", Key16, Batch, 1024, func(k *Keys) int {
		return batches(k, 1024, func(k *Keys) int { f.AddKeys(k.Slices); return 0 })
	})
	add("AddStrings", Str16, Batch, 1024, func(k *Keys) int {
		return batches(k, 1024, func(k *Keys) int { f.AddStrings(k.Strings); return 0 })
	})
	add("AddUint64s", Uint64, Batch, 1024, func(k *Keys) int {
		return batches(k, 1024, func(k *Keys) int { f.AddUint64s(k.Numbers); return 0 })
	})
	return r
}
