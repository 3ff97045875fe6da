package peers

import (
	"fmt"

	cuckoo "github.com/seiflotfy/cuckoofilter"
)

// cuckooFilter is a cuckoo filter with fingerprints of 8 bits: its rate is fixed at about 3% when full, and its size is a power of two.
func cuckooFilter() *Library {
	build := func(s Size) (func(*Keys), func() (*Filter, error), error) {
		slots := cuckooSlots(s.N)
		f := cuckoo.NewFilter(uint(slots))
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
				return nil, fmt.Errorf("NewFilter(%d) had no room for %d of %d keys", slots, failed, s.N)
			}
			return &Filter{
				Bytes: slots, // a byte each
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
		Name: "cuckoofilter", Module: "github.com/seiflotfy/cuckoofilter", Hashes: "MetroHash64", Sizing: "NewFilter(n), a power of two, at most 96% used; rate fixed: about 3%",
		Rates:  []float64{0.01},
		Builds: []Build{{"Insert", Key16, build}},
	}
}

// cuckooSlots returns how many slots to ask for: a power of two, as NewFilter makes it, of which at most 96% are used. Beyond that keys find no place.
func cuckooSlots(n uint64) uint64 {
	slots := uint64(4)
	for float64(slots)*0.96 < float64(n) {
		slots *= 2
	}
	return slots
}
