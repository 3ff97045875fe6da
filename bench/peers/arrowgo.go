package peers

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// arrowGo is arrow-go's Parquet filter: blocks of 256 bits, their number a power of two, at most 128 MiB.
func arrowGo() *Library {
	const many = 1024 // keys a call of the bulk forms
	type both interface {
		metadata.BloomFilterBuilder
		metadata.BloomFilter
		CheckBulk([]uint64) []bool // in no interface of the package, but exported
	}
	start := func(s Size) (both, error) {
		b := metadata.NewBloomFilterFromNDVAndFPP(uint32(s.N), s.Rate, 128<<20, memory.DefaultAllocator)
		f, ok := b.(both)
		if !ok {
			return nil, fmt.Errorf("the builder %T cannot be asked", b)
		}
		return f, nil
	}
	filter := func(f both) (*Filter, error) {
		hasher := f.Hasher()
		return &Filter{
			Bytes: uint64(f.Size()),
			Lookups: []Op{
				{"CheckHash", Hash, Single, 1, func(k *Keys) int {
					return count(k.Hashes, func(h uint64) bool { return f.CheckHash(h) })
				}},
				{"CheckHash", Hash, Chain, 1, func(k *Keys) int {
					return chain(k.Hashes, func(h uint64) bool { return f.CheckHash(h) })
				}},
				{"CheckBulk", Hash, Batch, many, func(k *Keys) int {
					return batches(k, many, func(k *Keys) int { copy(k.Found, f.CheckBulk(k.Hashes)); return 0 })
				}},
				{"CheckHash", Key16, Single, 1, func(k *Keys) int {
					return countColumn(k.Column, func(key []byte) bool { return f.CheckHash(hasher.Sum64(key)) })
				}},
				{"CheckHash", Key16, Chain, 1, func(k *Keys) int {
					return chainColumn(k.Column, func(key []byte) bool { return f.CheckHash(hasher.Sum64(key)) })
				}},
				{"CheckBulk of Sum64s", Key16, Batch, many, func(k *Keys) int {
					return batches(k, many, func(k *Keys) int { copy(k.Found, f.CheckBulk(hasher.Sum64s(k.Slices))); return 0 })
				}},
			},
			Adds: []Op{
				{"InsertHash", Hash, Single, 1, func(k *Keys) int { return each(k.Hashes, func(h uint64) { f.InsertHash(h) }) }},
				{"InsertBulk", Hash, Batch, many, func(k *Keys) int {
					return batches(k, many, func(k *Keys) int { f.InsertBulk(k.Hashes); return 0 })
				}},
				{"InsertHash", Key16, Single, 1, func(k *Keys) int {
					return eachColumn(k.Column, func(key []byte) { f.InsertHash(hasher.Sum64(key)) })
				}},
			},
		}, nil
	}
	return &Library{
		Name: "arrow-go", Module: "github.com/apache/arrow-go/v18", Hashes: "xxHash64", Sizing: "NewBloomFilterFromNDVAndFPP(n, p), a power of two, at most 128 MiB",
		HashOf: metadata.NewBloomFilter(32, 32, memory.DefaultAllocator).Hasher().Sum64,
		Builds: []Build{
			{"InsertBulk", Hash, func(s Size) (func(*Keys), func() (*Filter, error), error) {
				f, err := start(s)
				return func(k *Keys) { f.InsertBulk(k.Hashes) }, func() (*Filter, error) { return filter(f) }, err
			}},
			{"InsertHash", Key16, func(s Size) (func(*Keys), func() (*Filter, error), error) {
				f, err := start(s)
				if err != nil {
					return nil, nil, err
				}
				hasher := f.Hasher()
				add := func(k *Keys) { eachColumn(k.Column, func(key []byte) { f.InsertHash(hasher.Sum64(key)) }) }
				return add, func() (*Filter, error) { return filter(f) }, nil
			}},
		},
	}
}
