package peers

import "github.com/dgraph-io/ristretto/v2/z"

// ristretto is z.Bloom: a classic Bloom filter on a hash of 64 bits, its size a power of two. Keys are hashed with z.MemHash, the Go runtime's own hash, as Ristretto does.
func ristretto() *Library {
	filter := func(f *z.Bloom) (*Filter, error) {
		return &Filter{
			Bytes: uint64(f.TotalSize()),
			Lookups: []Op{
				{"Has", Hash, Single, 1, func(k *Keys) int { return count(k.Hashes, func(h uint64) bool { return f.Has(h) }) }},
				{"Has", Hash, Chain, 1, func(k *Keys) int { return chain(k.Hashes, func(h uint64) bool { return f.Has(h) }) }},
				{"Has", Key16, Single, 1, func(k *Keys) int {
					return countColumn(k.Column, func(key []byte) bool { return f.Has(z.MemHash(key)) })
				}},
				{"Has", Key16, Chain, 1, func(k *Keys) int {
					return chainColumn(k.Column, func(key []byte) bool { return f.Has(z.MemHash(key)) })
				}},
			},
			Adds: []Op{
				{"Add", Hash, Single, 1, func(k *Keys) int { return each(k.Hashes, func(h uint64) { f.Add(h) }) }},
				{"Add", Key16, Single, 1, func(k *Keys) int { return eachColumn(k.Column, func(key []byte) { f.Add(z.MemHash(key)) }) }},
			},
		}, nil
	}
	start := func(s Size) *z.Bloom { return z.NewBloomFilter(float64(s.N), s.Rate) }
	return &Library{
		Name: "ristretto", Module: "github.com/dgraph-io/ristretto/v2", Hashes: "z.MemHash", Sizing: "NewBloomFilter(n, p), a power of two",
		HashOf: z.MemHash,
		Builds: []Build{
			{"Add", Hash, func(s Size) (func(*Keys), func() (*Filter, error), error) {
				f := start(s)
				return func(k *Keys) { each(k.Hashes, func(h uint64) { f.Add(h) }) }, func() (*Filter, error) { return filter(f) }, nil
			}},
			{"Add", Key16, func(s Size) (func(*Keys), func() (*Filter, error), error) {
				f := start(s)
				add := func(k *Keys) { eachColumn(k.Column, func(key []byte) { f.Add(z.MemHash(key)) }) }
				return add, func() (*Filter, error) { return filter(f) }, nil
			}},
		},
	}
}
