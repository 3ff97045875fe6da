package peers

import (
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// goleveldb is the filter of LevelDB's tables: a classic Bloom filter, double hashing from 32 bits. The generator keeps the hashes and makes the filter in the end.
func goleveldb() *Library {
	build := func(s Size) (func(*Keys), func() (*Filter, error), error) {
		bits := wholeBits(s.Rate, 11, 16)
		if s.BitsPerKey > 0 {
			bits = int(s.BitsPerKey + 0.5)
		}
		policy := filter.NewBloomFilter(bits)
		g := policy.NewGenerator()
		add := func(k *Keys) { eachColumn(k.Column, func(key []byte) { g.Add(key) }) }
		return add, func() (*Filter, error) {
			var buf util.Buffer
			g.Generate(&buf)
			f := buf.Bytes()
			return &Filter{Bytes: uint64(len(f)), Lookups: []Op{
				{"Contains", Key16, Single, 1, func(k *Keys) int {
					return countColumn(k.Column, func(key []byte) bool { return policy.Contains(f, key) })
				}},
				{"Contains", Key16, Chain, 1, func(k *Keys) int {
					return chainColumn(k.Column, func(key []byte) bool { return policy.Contains(f, key) })
				}},
			}}, nil
		}, nil
	}
	return &Library{
		Name: "goleveldb", Module: "github.com/syndtr/goleveldb", Hashes: "its own, 32 bits", Sizing: "NewBloomFilter(11 or 16 bits)", Fixed: true,
		Builds: []Build{{"Add, Generate", Key16, build}},
	}
}
