package peers

import "github.com/bits-and-blooms/bloom/v3"

// bitsAndBlooms is a classic Bloom filter on keys of bytes, hashed with Murmur3 to 256 bits.
func bitsAndBlooms() *Library {
	build := func(s Size) (func(*Keys), func() (*Filter, error), error) {
		f := bloom.NewWithEstimates(uint(s.N), s.Rate)
		if s.BitsPerKey > 0 {
			m := uint(float64(s.N) * s.BitsPerKey)
			f = bloom.New(m, uint(s.BitsPerKey*0.693147+0.999))
		}
		add := func(k *Keys) { eachColumn(k.Column, func(key []byte) { f.Add(key) }) }
		return add, func() (*Filter, error) {
			return &Filter{
				Bytes: uint64(f.Cap()+7) / 8,
				Lookups: []Op{
					{"Test", Key16, Single, 1, func(k *Keys) int { return countColumn(k.Column, func(key []byte) bool { return f.Test(key) }) }},
					{"Test", Key16, Chain, 1, func(k *Keys) int { return chainColumn(k.Column, func(key []byte) bool { return f.Test(key) }) }},
					{"TestString", Str16, Single, 1, func(k *Keys) int { return count(k.Strings, func(key string) bool { return f.TestString(key) }) }},
				},
				Adds: []Op{
					{"Add", Key16, Single, 1, func(k *Keys) int { return eachColumn(k.Column, func(key []byte) { f.Add(key) }) }},
				},
			}, nil
		}, nil
	}
	return &Library{
		Name: "bits-and-blooms", Module: "github.com/bits-and-blooms/bloom/v3", Hashes: "Murmur3, 256 bits", Sizing: "NewWithEstimates(n, p)", Tunable: true,
		Builds: []Build{{"Add", Key16, build}},
	}
}
