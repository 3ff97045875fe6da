package peers

import "github.com/zeebo/xxh3"

// The Go maps are what one would write without a filter: exact, and large. Their memory is what the heap grows by.

// goMap holds the hashes of keys. Keys of 16 bytes are hashed with XXH3 first, and the map hashes that number again.
func goMap() *Library {
	build := func(in Input, add func(map[uint64]struct{}, *Keys)) Build {
		return Build{"m[h] = struct{}{}", in, func(s Size) (func(*Keys), func() (*Filter, error), error) {
			m := make(map[uint64]struct{}, s.N)
			return func(k *Keys) { add(m, k) }, func() (*Filter, error) {
				return &Filter{Lookups: []Op{
					{"m[h]", Hash, Single, 1, func(k *Keys) int {
						return count(k.Hashes, func(h uint64) bool { _, ok := m[h]; return ok })
					}},
					{"m[h]", Hash, Chain, 1, func(k *Keys) int {
						return chain(k.Hashes, func(h uint64) bool { _, ok := m[h]; return ok })
					}},
					{"m[h]", Key16, Single, 1, func(k *Keys) int {
						return countColumn(k.Column, func(key []byte) bool { _, ok := m[xxh3.Hash(key)]; return ok })
					}},
					{"m[h]", Key16, Chain, 1, func(k *Keys) int {
						return chainColumn(k.Column, func(key []byte) bool { _, ok := m[xxh3.Hash(key)]; return ok })
					}},
				}}, nil
			}, nil
		}}
	}
	return &Library{
		Name: "map[uint64]", Module: "Go", Hashes: "XXH3-64, then the map's", Sizing: "make(map[uint64]struct{}, n)", Exact: true,
		Rates:  []float64{0.01},
		HashOf: xxh3.Hash,
		Builds: []Build{
			build(Hash, func(m map[uint64]struct{}, k *Keys) { each(k.Hashes, func(h uint64) { m[h] = struct{}{} }) }),
			build(Key16, func(m map[uint64]struct{}, k *Keys) {
				eachColumn(k.Column, func(key []byte) { m[xxh3.Hash(key)] = struct{}{} })
			}),
		},
	}
}

// goStringMap holds the keys themselves.
func goStringMap() *Library {
	build := func(s Size) (func(*Keys), func() (*Filter, error), error) {
		m := make(map[string]struct{}, s.N)
		add := func(k *Keys) { eachColumn(k.Column, func(key []byte) { m[string(key)] = struct{}{} }) }
		return add, func() (*Filter, error) {
			return &Filter{Lookups: []Op{
				{"m[string(key)]", Key16, Single, 1, func(k *Keys) int {
					return countColumn(k.Column, func(key []byte) bool { _, ok := m[string(key)]; return ok })
				}},
				{"m[string(key)]", Key16, Chain, 1, func(k *Keys) int {
					return chainColumn(k.Column, func(key []byte) bool { _, ok := m[string(key)]; return ok })
				}},
			}}, nil
		}, nil
	}
	return &Library{
		Name: "map[string]", Module: "Go", Hashes: "the map's", Sizing: "make(map[string]struct{}, n)", Exact: true,
		Rates:   []float64{0.01},
		MaxKeys: 20_000_000, Limit: "keys on the heap: more memory than the machine is asked for",
		Builds: []Build{{"m[string(key)] = struct{}{}", Key16, build}},
	}
}
