package peers

import (
	"unsafe"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"
)

// The binary fuse filters are built once of a set of different 64-bit keys and can then not be added to. Their rate is fixed by the width of a fingerprint. Keys
// of 16 bytes are hashed with XXH3 first; the filter then hashes that number with its own seed.

func binaryFuse8() *Library {
	return binaryFuse("BinaryFuse8", 0.01, "fixed: 0.39%", func(keys []uint64) (loops, uint64, error) {
		f, err := xorfilter.PopulateBinaryFuse8(keys)
		if err != nil {
			return loops{}, 0, err
		}
		return loops{
			count:       func(hs []uint64) int { return count(hs, func(h uint64) bool { return f.Contains(h) }) },
			chain:       func(hs []uint64) int { return chain(hs, func(h uint64) bool { return f.Contains(h) }) },
			countColumn: func(c []byte) int { return countColumn(c, func(key []byte) bool { return f.Contains(xxh3.Hash(key)) }) },
			chainColumn: func(c []byte) int { return chainColumn(c, func(key []byte) bool { return f.Contains(xxh3.Hash(key)) }) },
		}, uint64(len(f.Fingerprints)), nil
	})
}

func binaryFuse16() *Library {
	return binaryFuse("BinaryFuse16", 0.001, "fixed: 0.0015%", func(keys []uint64) (loops, uint64, error) {
		f, err := xorfilter.NewBinaryFuse[uint16](keys)
		if err != nil {
			return loops{}, 0, err
		}
		return loops{
			count:       func(hs []uint64) int { return count(hs, func(h uint64) bool { return f.Contains(h) }) },
			chain:       func(hs []uint64) int { return chain(hs, func(h uint64) bool { return f.Contains(h) }) },
			countColumn: func(c []byte) int { return countColumn(c, func(key []byte) bool { return f.Contains(xxh3.Hash(key)) }) },
			chainColumn: func(c []byte) int { return chainColumn(c, func(key []byte) bool { return f.Contains(xxh3.Hash(key)) }) },
		}, uint64(len(f.Fingerprints)) * uint64(unsafe.Sizeof(f.Fingerprints[0])), nil
	})
}

// loops are a binary fuse filter's lookups.
type loops struct {
	count, chain             func([]uint64) int
	countColumn, chainColumn func([]byte) int
}

func binaryFuse(name string, rate float64, sizing string, populate func([]uint64) (loops, uint64, error)) *Library {
	// The caller has the keys, or collects their hashes, before it can start: collecting is part of building.
	build := func(name string, in Input, collect func([]uint64, *Keys) []uint64) Build {
		return Build{name, in, func(s Size) (func(*Keys), func() (*Filter, error), error) {
			all := make([]uint64, 0, s.N)
			return func(k *Keys) { all = collect(all, k) }, func() (*Filter, error) {
				l, bytes, err := populate(all)
				all = nil
				return &Filter{Bytes: bytes, Lookups: []Op{
					{"Contains", Hash, Single, 1, func(k *Keys) int { return l.count(k.Hashes) }},
					{"Contains", Hash, Chain, 1, func(k *Keys) int { return l.chain(k.Hashes) }},
					{"Contains", Key16, Single, 1, func(k *Keys) int { return l.countColumn(k.Column) }},
					{"Contains", Key16, Chain, 1, func(k *Keys) int { return l.chainColumn(k.Column) }},
				}}, err
			}, nil
		}}
	}
	return &Library{
		Name: name, Module: "github.com/FastFilter/xorfilter", Hashes: "XXH3-64", Sizing: sizing, Fixed: true,
		Rates:  []float64{rate},
		HashOf: xxh3.Hash,
		Builds: []Build{
			build("Populate", Hash, func(all []uint64, k *Keys) []uint64 { return append(all, k.Hashes...) }),
			build("Populate", Key16, func(all []uint64, k *Keys) []uint64 {
				eachColumn(k.Column, func(key []byte) { all = append(all, xxh3.Hash(key)) })
				return all
			}),
		},
	}
}
