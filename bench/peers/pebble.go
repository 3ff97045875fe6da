package peers

import "github.com/cockroachdb/pebble/v2/bloom"

// pebble is the filter of Pebble's tables: blocks of 512 bits, a hash of 32 bits. It is written once: the writer keeps the hashes and makes the filter of them when it
// is finished. However many bits it gets, its rate does not go below some 0.27%: at the target 0.1% it is measured with 16 bits and not compared.
func pebble() *Library {
	const tableFilter = 0 // pebble.TableFilter, without the whole of Pebble
	build := func(s Size) (func(*Keys), func() (*Filter, error), error) {
		policy := bloom.FilterPolicy(wholeBits(s.Rate, 10, 16))
		if s.BitsPerKey > 0 {
			policy = bloom.FilterPolicy(s.BitsPerKey + 0.5)
		}
		w := policy.NewWriter(tableFilter)
		add := func(k *Keys) { eachColumn(k.Column, func(key []byte) { w.AddKey(key) }) }
		return add, func() (*Filter, error) {
			f := w.Finish(nil)
			return &Filter{Bytes: uint64(len(f)), Lookups: []Op{
				{"MayContain", Key16, Single, 1, func(k *Keys) int {
					return countColumn(k.Column, func(key []byte) bool { return policy.MayContain(tableFilter, f, key) })
				}},
				{"MayContain", Key16, Chain, 1, func(k *Keys) int {
					return chainColumn(k.Column, func(key []byte) bool { return policy.MayContain(tableFilter, f, key) })
				}},
			}}, nil
		}, nil
	}
	return &Library{
		Name: "pebble", Module: "github.com/cockroachdb/pebble/v2", Hashes: "its own, 32 bits", Sizing: "FilterPolicy(10 or 16 bits); does not reach 0.1%", Fixed: true,
		Builds: []Build{{"AddKey, Finish", Key16, build}},
	}
}
