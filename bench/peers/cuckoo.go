package peers

import (
	"fmt"

	cuckoo "github.com/seiflotfy/cuckoofilter"
)

// cuckooFilter is a cuckoo filter with fingerprints of 8 bits: its rate is fixed at about 3% when full, and its size is a power of two.
func cuckooFilter() *Library {
	build := func(s Size) (func(*Keys), func() (*Filter, error), error) {
		f := cuckoo.NewFilter(uint(s.N))
		failed := 0
		add := func(k *Keys) {
			eachColumn(k.Column, func(key []byte) {
				if !f.Insert(key) {
					failed++
				}
			})
		}
		return add, func() (*Filter, error) {
			if failed > 0 {
				return nil, fmt.Errorf("NewFilter(%d) had no room for %d of the keys", s.N, failed)
			}
			return &Filter{
				Bytes: cuckooBytes(s.N),
				Lookups: []Op{
					{"Lookup", Key16, Single, 1, func(k *Keys) int {
						return countColumn(k.Column, func(key []byte) bool { return f.Lookup(key) })
					}},
					{"Lookup", Key16, Chain, 1, func(k *Keys) int {
						return chainColumn(k.Column, func(key []byte) bool { return f.Lookup(key) })
					}},
				},
			}, nil
		}, nil
	}
	return &Library{
		Name: "cuckoofilter", Module: "github.com/seiflotfy/cuckoofilter", Hashes: "MetroHash64", Sizing: "NewFilter(n), a power of two; rate fixed: about 3%",
		Rates:  []float64{0.01},
		Builds: []Build{{"Insert", Key16, build}},
	}
}

// cuckooBytes returns the size of a filter for n keys: a byte a slot, four slots a bucket, a power of two of them.
func cuckooBytes(n uint64) uint64 {
	size := uint64(4)
	for size < n {
		size *= 2
	}
	return size
}
