// Package pebblefilter makes the blocked Bloom filter of package blocked the table filter of a Pebble database:
//
//	import pebblefilter "github.com/blockedbloom/blocked/adapters/pebble"
//
//	opts := &pebble.Options{}
//	for i := range opts.Levels {
//		opts.Levels[i].FilterPolicy = pebblefilter.Policy(10) // bits a key; or PolicyForRate(0.01)
//	}
//
// A lookup costs the hash of the key (XXH3-64) and one block of 64 bytes. As bench/ENGINES.md has it, on the machine named there, that is about 0.4 of the time of Pebble's own filter for absent keys and filters that fit the
// processor's second-level cache, and 0.5 to 0.75 for present keys and larger filters. Where a lookup has to wait for the answer of the one before, it is 0.6 in the cache, and larger filters take longer than Pebble's own,
// up to twice as long. At the same size the filter is less often wrong, the more so the more bits a key has: with 6 bits hardly, with 10 by a sixth.
//
// # Tables of other policies
//
// A table's filter is used where the policy of its name is known, and passed over where it is not: then lookups read the table. A level's policy is known by itself. So after a change of policy, tables of the
// old one keep their filters' use if Options.Filters has it:
//
//	old := bloom.FilterPolicy(10)
//	opts.Filters = map[string]pebble.FilterPolicy{old.Name(): old} // from Pebble's own to this one
//	opts.Filters = pebblefilter.Filters()                          // from this one to another
//
// The number of bits a key, or the rate, is not in the name: a table says itself what its filter is, and either can be changed at any time.
//
// # What is stored
//
// The compact form, version 1: the blocks and 8 bytes (FORMAT.md of package blocked), under [Name]. Its own checksum is not looked at: Pebble has checked the block that the filter is in. A filter that
// is of no such form for all that, damaged or foreign, is taken as one that may contain every key, and counted: see [CorruptLookups].
//
// # Where Pebble asks
//
// DB.Get asks the filters of all levels but the last, where nothing below could be spared; an iterator with UseL6Filters asks there too, in SeekPrefixGE. Keys are what Comparer.Split leaves of them.
//
// Pebble's main branch divides the policy interface in three: a policy, a writer, and a decoder for a family of filters. They would be policy, writer and the body of MayContain, with Name as the family.
package pebblefilter

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/blockedbloom/blocked"
	"github.com/cockroachdb/pebble/v2"
)

// Name is the name under which filters are stored in tables. It stands for the form of the filter and its version, and never for another.
const Name = "blockedbloom.CompactFilter.v1"

// Limits of the parameters, and what is taken where a parameter is no number.
const (
	minBits, defaultBits, maxBits = 1, 10, 64
	defaultRate, maxRate          = 0.01, 0.5
)

// maxBytes bounds one table's filter, so that building one cannot fail: keys that would need more, 800 million at 10 bits, get a higher rate.
const maxBytes = 1 << 30

// Policy returns a policy whose filters have at least bitsPerKey bits for each key of the table, and at most a block of 512 bits and a trailer of 64 more in all. With many keys 10 bits give a false positive rate
// of 0.97%, 12 of 0.42%, 16 of 0.09%: [blocked.PlanBits] tells for any number.
//
// The range is 1 to 64. It does not fail: a number outside becomes the nearest inside, and what is no number 10; String of the policy says what it is. A program that would rather refuse
// a number asks blocked.PlanBits about it before. For no filter at all there is pebble.NoFilterPolicy.
//
// The policy may be used for any levels of any databases at once, from any number of goroutines. While a table is written it takes 8 bytes a key, which are kept for the tables after it.
func Policy(bitsPerKey float64) pebble.FilterPolicy {
	if math.IsNaN(bitsPerKey) {
		bitsPerKey = defaultBits
	}
	return newBits(min(max(bitsPerKey, minBits), maxBits), maxBytes)
}

// PolicyForRate returns a policy whose filters are as small as the false positive rate p allows, 0.01 for 1%, as [blocked.Plan] sizes them. It is the rate of one filter: a Get of an absent key
// asks one filter in each level, and one in each sublevel of L0.
//
// The range is [blocked.MinRate], about 1.3e-8, to 0.5. Otherwise it is as Policy; what is no number becomes 0.01, and blocked.Plan is to be asked before.
func PolicyForRate(p float64) pebble.FilterPolicy {
	if math.IsNaN(p) {
		p = defaultRate
	}
	return newRate(min(max(p, blocked.MinRate()), maxRate), maxBytes)
}

// Filters returns a new map for Options.Filters, by name, of policies that read all filters that this package has ever written. It is needed where no level has such a policy, but tables of
// one are still there, and may be added to.
func Filters() map[string]pebble.FilterPolicy {
	return map[string]pebble.FilterPolicy{Name: Policy(defaultBits)}
}

// CorruptLookups returns how many lookups of this process met a filter that is none, in any database: damaged bytes that Pebble's checksum had passed, or another program's under [Name]. They were answered "may contain".
// Damage that leaves the form of a filter is not seen. It costs a load, from any goroutine.
func CorruptLookups() uint64 { return corrupt.Load() }

var corrupt atomic.Uint64

// policy is a pebble.FilterPolicy.
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

// Name implements pebble.FilterPolicy.
func (p *policy) Name() string { return Name }

// String says what the policy is.
func (p *policy) String() string { return p.text }

// MayContain implements pebble.FilterPolicy. There is one type of filter.
func (p *policy) MayContain(_ pebble.FilterType, filter, key []byte) bool {
	may, ok := blocked.MayContainCompact(filter, 0, key)
	if !ok {
		corrupt.Add(1)
	}
	return may
}

// NewWriter implements pebble.FilterPolicy.
func (p *policy) NewWriter(pebble.FilterType) pebble.FilterWriter { return &writer{policy: p} }

// writer is a pebble.FilterWriter. It has a Builder from the first key to Finish; a table that is given up leaves its Builder to the garbage collector.
type writer struct {
	policy  *policy
	builder *blocked.Builder
}

// AddKey implements pebble.FilterWriter. A key that equals the one before, as a prefix often does, costs its hash and nothing in the filter.
func (w *writer) AddKey(key []byte) {
	if w.builder == nil {
		w.builder = w.policy.builders.Get().(*blocked.Builder)
	}
	w.builder.Add(key)
}

// Finish implements pebble.FilterWriter.
func (w *writer) Finish(dst []byte) []byte {
	b := w.builder
	if b == nil {
		b = w.policy.builders.Get().(*blocked.Builder)
	}
	w.builder = nil
	// With maxBytes it cannot fail. If it did, dst would come back without a filter, and an empty one may contain every key.
	dst, _ = b.AppendCompact(dst)
	b.Reset()
	w.policy.builders.Put(b)
	return dst
}
