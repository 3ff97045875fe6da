package peers

import (
	"github.com/cespare/xxhash/v2"
	bloomfilter "github.com/holiman/bloomfilter/v2"
)

// holiman is a classic Bloom filter that takes any 64-bit hash. It names no hash for bytes; xxHash64 is a fast one.
func holiman() *Library {
	filter := func(f *bloomfilter.Filter) (*Filter, error) {
		return &Filter{
			Bytes: (f.M() + 7) / 8,
			Lookups: []Op{
				{"ContainsHash", Hash, Single, 1, func(k *Keys) int {
					return count(k.Hashes, func(h uint64) bool { return f.ContainsHash(h) })
				}},
				{"ContainsHash", Hash, Chain, 1, func(k *Keys) int {
					return chain(k.Hashes, func(h uint64) bool { return f.ContainsHash(h) })
				}},
				{"ContainsHash", Key16, Single, 1, func(k *Keys) int {
					return countColumn(k.Column, func(key []byte) bool { return f.ContainsHash(xxhash.Sum64(key)) })
				}},
				{"ContainsHash", Key16, Chain, 1, func(k *Keys) int {
					return chainColumn(k.Column, func(key []byte) bool { return f.ContainsHash(xxhash.Sum64(key)) })
				}},
			},
			Adds: []Op{
				{"AddHash", Hash, Single, 1, func(k *Keys) int { return each(k.Hashes, func(h uint64) { f.AddHash(h) }) }},
				{"AddHash", Key16, Single, 1, func(k *Keys) int {
					return eachColumn(k.Column, func(key []byte) { f.AddHash(xxhash.Sum64(key)) })
				}},
			},
		}, nil
	}
	start := func(s Size) (*bloomfilter.Filter, error) {
		if s.BitsPerKey > 0 {
			m := uint64(float64(s.N) * s.BitsPerKey)
			return bloomfilter.New(m, bloomfilter.OptimalK(m, s.N))
		}
		return bloomfilter.NewOptimal(s.N, s.Rate)
	}
	return &Library{
		Name: "holiman", Module: "github.com/holiman/bloomfilter/v2", Hashes: "xxHash64 (the caller's choice)", Sizing: "NewOptimal(n, p)", Tunable: true,
		HashOf: xxhash.Sum64,
		Builds: []Build{
			{"AddHash", Hash, func(s Size) (func(*Keys), func() (*Filter, error), error) {
				f, err := start(s)
				return func(k *Keys) { each(k.Hashes, func(h uint64) { f.AddHash(h) }) }, func() (*Filter, error) { return filter(f) }, err
			}},
			{"AddHash", Key16, func(s Size) (func(*Keys), func() (*Filter, error), error) {
				f, err := start(s)
				add := func(k *Keys) { eachColumn(k.Column, func(key []byte) { f.AddHash(xxhash.Sum64(key)) }) }
				return add, func() (*Filter, error) { return filter(f) }, err
			}},
		},
	}
}
