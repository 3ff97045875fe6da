package peers

import (
	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/bloom/xxhash"
)

// parquetGo is parquet-go's split block filter: blocks of 256 bits, assembly for AVX2. It has bulk forms of adding and of hashing, none of looking up.
func parquetGo() *Library {
	const many = 1024 // keys a call of the bulk forms
	filter := func(f bloom.SplitBlockFilter) *Filter {
		var hashes [many]uint64
		insertKeys := func(k *Keys) int {
			hs := hashes[:xxhash.MultiSum64Uint128(hashes[:], uint128s(k.Column))]
			f.InsertBulk(hs)
			return 0
		}
		return &Filter{
			Bytes: uint64(len(f)) * bloom.BlockSize,
			Lookups: []Op{
				{"Check", Hash, Single, 1, func(k *Keys) int {
					return count(k.Hashes, func(h uint64) bool { return f.Check(h) })
				}},
				{"Check", Hash, Chain, 1, func(k *Keys) int {
					return chain(k.Hashes, func(h uint64) bool { return f.Check(h) })
				}},
				{"Check", Key16, Single, 1, func(k *Keys) int {
					return countColumn(k.Column, func(key []byte) bool { return f.Check(xxhash.Sum64(key)) })
				}},
				{"Check of Sum64Uint128", Key16, Single, 1, func(k *Keys) int {
					return countColumn(k.Column, func(key []byte) bool { return f.Check(xxhash.Sum64Uint128([16]byte(key))) })
				}},
				{"Check", Key16, Chain, 1, func(k *Keys) int {
					return chainColumn(k.Column, func(key []byte) bool { return f.Check(xxhash.Sum64(key)) })
				}},
				{"Check of MultiSum64Uint128", Key16, Batch, many, func(k *Keys) int {
					return batches(k, many, func(k *Keys) int {
						hs := hashes[:xxhash.MultiSum64Uint128(hashes[:], uint128s(k.Column))]
						for i, h := range hs {
							k.Found[i] = f.Check(h)
						}
						return 0
					})
				}},
			},
			Adds: []Op{
				{"Insert", Hash, Single, 1, func(k *Keys) int { return each(k.Hashes, func(h uint64) { f.Insert(h) }) }},
				{"InsertBulk", Hash, Batch, many, func(k *Keys) int {
					return batches(k, many, func(k *Keys) int { f.InsertBulk(k.Hashes); return 0 })
				}},
				{"Insert", Key16, Single, 1, func(k *Keys) int {
					return eachColumn(k.Column, func(key []byte) { f.Insert(xxhash.Sum64(key)) })
				}},
				{"InsertBulk of MultiSum64Uint128", Key16, Batch, many, func(k *Keys) int { return batches(k, many, insertKeys) }},
			},
		}
	}
	start := func(s Size) bloom.SplitBlockFilter {
		if s.BitsPerKey > 0 {
			return make(bloom.SplitBlockFilter, blocksOf(s, 8*bloom.BlockSize))
		}
		return make(bloom.SplitBlockFilter, bloom.NumSplitBlocksOf(int64(s.N), uint(wholeBits(s.Rate, 11, 17))))
	}
	return &Library{
		Name: "parquet-go", Module: "github.com/parquet-go/parquet-go", Hashes: "xxHash64", Tunable: true,
		Sizing: "NumSplitBlocksOf(n, 11 or 17 bits)",
		HashOf: xxhash.Sum64,
		Builds: []Build{
			{"InsertBulk", Hash, func(s Size) (func(*Keys), func() (*Filter, error), error) {
				f := start(s)
				return func(k *Keys) { f.InsertBulk(k.Hashes) }, func() (*Filter, error) { return filter(f), nil }, nil
			}},
			{"InsertBulk of MultiSum64Uint128", Key16, func(s Size) (func(*Keys), func() (*Filter, error), error) {
				f := start(s)
				full := filter(f)
				bulk := full.Adds[len(full.Adds)-1]
				return func(k *Keys) { bulk.Do(k) }, func() (*Filter, error) { return full, nil }, nil
			}},
		},
	}
}

// wholeBits returns the bits a key for libraries that take a whole number of them: the fewest that hold 1.25 times the rate, measured at a million keys.
func wholeBits(rate float64, onePercent, tenth int) int {
	if rate < 0.005 {
		return tenth
	}
	return onePercent
}

// blocksOf returns how many blocks of so many bits make s.BitsPerKey.
func blocksOf(s Size, bits float64) int { return max(1, int(float64(s.N)*s.BitsPerKey/bits+0.5)) }
