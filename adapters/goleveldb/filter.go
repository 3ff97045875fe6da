// Package leveldbfilter makes the blocked Bloom filter of package blocked the table filter of a goleveldb database:
//
//	import leveldbfilter "github.com/blockedbloom/blocked/adapters/goleveldb"
//
//	db, err := leveldb.OpenFile(path, &opt.Options{Filter: leveldbfilter.Filter(10)})
//
// A lookup costs the hash of the key (XXH3-64) and one block of 64 bytes.
//
// # Small filters
//
// goleveldb makes a filter for each 2 KiB of a table's file, of the keys of all blocks that begin there. A block has 4 KiB before compression, if opt.Options.BlockSize does not say otherwise. So with small values a filter has
// some 80 keys, those of one block, where nothing is compressed, and with Snappy, which is the default, often 200 and more. This filter is a number of whole blocks of 64 bytes, and a trailer of 8: 80 keys at 10 bits are two of
// them, 136 bytes, 13.6 bits a key, where goleveldb's own filter takes 101 bytes; in return its rate is lower. README.md beside this file has a table. [FilterForRate] takes no more blocks than a rate needs. Larger blocks of the
// table make larger filters, and the rounding small.
//
// # Tables of other filters
//
// A table's filter is used where one of its name is in the options, and passed over where it is not: then lookups read the table.
//
//	opt.Options{Filter: leveldbfilter.Filter(10), AltFilters: []filter.Filter{filter.NewBloomFilter(10)}} // from goleveldb's own to this one
//	opt.Options{Filter: filter.NewBloomFilter(10), AltFilters: leveldbfilter.Filters()}                   // and back
//
// The number of bits a key, or the rate, is not in the name: a filter says itself what it is, and either can be changed at any time.
//
// # What is stored
//
// The compact form, version 1: the blocks and 8 bytes (FORMAT.md of package blocked), under [Name]. Its own checksum is not looked at: goleveldb has checked the block that the filters are in. A filter that
// is of no such form for all that, damaged or foreign, is taken as one that may contain every key, and counted: see [CorruptLookups].
package leveldbfilter

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/blockedbloom/blocked"
	"github.com/syndtr/goleveldb/leveldb/filter"
)

// Name is the name under which filters are stored in tables. It stands for the form of the filter and its version, and never for another.
const Name = "blockedbloom.CompactFilter.v1"

// Limits of the parameters, and what is taken where a parameter is no number.
const (
	minBits, defaultBits, maxBits = 1, 10, 64
	defaultRate, maxRate          = 0.01, 0.5
)

// maxBytes bounds one filter, so that building one cannot fail: keys that would need more, 800 million at 10 bits, get a higher rate.
const maxBytes = 1 << 30

// Filter returns a filter with at least bitsPerKey bits for each of its keys: the number of blocks of 512 bits is rounded up, and a trailer of 64 bits comes to it. With many keys 10 bits
// give a false positive rate of 0.97%, 12 of 0.42%, 16 of 0.09%; with few a lower one: [blocked.PlanBits] tells for any number.
//
// The range is 1 to 64. It does not fail: a number outside becomes the nearest inside, and what is no number 10; String of the filter says what it is. A program that would rather refuse a number asks
// blocked.PlanBits about it before.
//
// The filter may be used for any databases at once, from any number of goroutines. While a table is written it takes 8 bytes for each key of a filter.
func Filter(bitsPerKey float64) filter.Filter {
	if math.IsNaN(bitsPerKey) {
		bitsPerKey = defaultBits
	}
	return newBits(min(max(bitsPerKey, minBits), maxBits), maxBytes)
}

// FilterForRate returns a filter that is as small as the false positive rate p allows, 0.01 for 1%, as [blocked.Plan] sizes it. Since it is of whole blocks, its rate is often a good deal lower.
//
// The range is [blocked.MinRate], about 1.3e-8, to 0.5. Otherwise it is as Filter; what is no number becomes 0.01, and blocked.Plan is to be asked before.
func FilterForRate(p float64) filter.Filter {
	if math.IsNaN(p) {
		p = defaultRate
	}
	return newRate(min(max(p, blocked.MinRate()), maxRate), maxBytes)
}

// Filters returns a new slice for opt.Options.AltFilters, of filters that read all that this package has ever written. It is needed where opt.Options.Filter is another, but tables of this one are
// still there.
func Filters() []filter.Filter { return []filter.Filter{Filter(defaultBits)} }

// CorruptLookups returns how many lookups of this process met a filter that is none, in any database: damaged bytes that goleveldb's checksum had passed, or another program's under [Name]. They were answered "may contain".
// Damage that leaves the form of a filter is not seen. It costs a load, from any goroutine.
func CorruptLookups() uint64 { return corrupt.Load() }

var corrupt atomic.Uint64

// policy is a filter.Filter.
type policy struct {
	text     string
	builders sync.Pool // of *blocked.Builder
}

func newPolicy(text string, builder func() (*blocked.Builder, error)) *policy {
	return &policy{text: text, builders: sync.Pool{New: func() any {
		b, err := builder()
		if err != nil {
			panic(err) // the parameters are in range
		}
		return b
	}}}
}

// newBits is for filters of at most so many bytes.
func newBits(bitsPerKey float64, most uint64) *policy {
	return newPolicy(fmt.Sprintf("%s, %g bits a key", Name, bitsPerKey), func() (*blocked.Builder, error) {
		return blocked.NewBuilderBits(bitsPerKey, blocked.WithRoundUp(), blocked.WithMaxBytes(most))
	})
}

// newRate is for filters of at most so many bytes.
func newRate(p float64, most uint64) *policy {
	return newPolicy(fmt.Sprintf("%s, rate %g", Name, p), func() (*blocked.Builder, error) {
		return blocked.NewBuilder(p, blocked.WithMaxBytes(most))
	})
}

// Name implements filter.Filter.
func (p *policy) Name() string { return Name }

// String says what the filter is.
func (p *policy) String() string { return p.text }

// Contains implements filter.Filter.
func (p *policy) Contains(filter, key []byte) bool {
	may, ok := blocked.MayContainCompact(filter, 0, key)
	if !ok {
		corrupt.Add(1)
	}
	return may
}

// NewGenerator implements filter.Filter.
func (p *policy) NewGenerator() filter.FilterGenerator { return &generator{policy: p} }

// generator is a filter.FilterGenerator. It has a Builder from a filter's first key to Generate.
type generator struct {
	policy  *policy
	builder *blocked.Builder
}

// Add implements filter.FilterGenerator. A key that equals the one before, an older version of it, costs its hash and nothing in the filter.
func (g *generator) Add(key []byte) {
	if g.builder == nil {
		g.builder = g.policy.builders.Get().(*blocked.Builder)
	}
	g.builder.Add(key)
}

// Generate implements filter.FilterGenerator.
func (g *generator) Generate(dst filter.Buffer) {
	b := g.builder
	if b == nil {
		b = g.policy.builders.Get().(*blocked.Builder)
	}
	g.builder = nil
	if size := b.Bytes(); size == 0 {
		// With maxBytes it does not come to this. goleveldb would take an empty filter as one that contains nothing; a byte alone may contain every key.
		_ = dst.WriteByte(0)
	} else {
		const shorter = 56 // the compact form, than what Bytes tells of
		room := dst.Alloc(int(size) - shorter)
		if _, err := b.AppendCompact(room[:0:len(room)]); err != nil {
			clear(room) // a filter of version 0, which is none
		}
	}
	b.Reset()
	g.policy.builders.Put(b)
}
