package blocked

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Rotating remembers the keys of the recent past: for a cache that takes an object on its second request, or for dropping duplicates within a window. It has a number of generations, each a [Concurrent]. Keys are added to
// the newest, lookups ask all of them, and when the newest has taken its n new keys, or when Rotate is called, the oldest is dropped and an empty one is the newest. [NewRotating] makes one.
//
// From some moment during its Add, a key is found until generations-1 more generations have begun; so, where Rotate is not called, until at least (generations-1)*n keys that are new to their generation have
// been added after it. It is forgotten when generations have begun and ended without it, after about generations*n such keys at most: a key that is added again in the meantime starts anew.
//
// Any number of goroutines may do everything at once. What [Concurrent] promises of adds and lookups holds here, across rotations too; of AddIfAbsent calls for one key that is in no generation exactly one reports true. Lookups never wait. The
// goroutine whose key fills a generation makes the next one, which costs what allocating it does; others whose keys are new wait for it, since a generation takes no more than its n keys and as many as there are goroutines. What is dropped
// is garbage, and stays in memory until it is collected: with the collector's default setting up to as much again as all generations have.
//
// The zero Rotating is of no use: its methods panic.
type Rotating struct {
	state    atomic.Pointer[generationList]
	capacity uint64
	rate     float64
	opts     []Option
	hasher   Filter // has the seed and no blocks

	rotating  sync.Mutex // is held by whoever makes a generation
	rotations atomic.Uint64

	// firsts serialize AddIfAbsent calls for one key: between the look at the older generations and the add to the newest no other may come, whatever is rotated.
	firsts [64]struct {
		sync.Mutex
		_ [64 - unsafe.Sizeof(sync.Mutex{})]byte
	}
}

// A generationList has those that are asked at one moment, the newest first. It is never changed.
type generationList []*generation

type generation struct {
	Concurrent
	items atomic.Uint64 // adds that were new to it
}

// maxGenerations bounds what a lookup costs.
const maxGenerations = 1024

// NewRotating returns an empty Rotating of so many generations, 2 to 1024, each for n new keys, 0 being taken as 1. The false positive rate of lookups in all of them, when all are full, is at most p, on average over
// filters: each generation has rate p/generations. The errors are those of [Plan] for that rate, wrap ErrParameter for a number of generations that is out of range, or ErrTooLarge where all of them together
// have more bytes than WithMaxBytes allows.
func NewRotating(n uint64, p float64, generations int, opts ...Option) (*Rotating, error) {
	if generations < 2 || generations > maxGenerations {
		return nil, fmt.Errorf("blocked: %w: generations = %d, must be 2 to %d", ErrParameter, generations, maxGenerations)
	}
	o := options{maxBytes: defaultMaxBytes}
	for _, opt := range opts {
		opt(&o)
	}
	if !(p > 0 && p < 1) {
		_, err := Plan(n, p)
		return nil, err
	}
	g, err := planNew(max(n, 1), p/float64(generations)) // what counts are keys that are new to a generation
	if err != nil {
		return nil, fmt.Errorf("%w (p/generations, p = %v, generations = %d)", err, p, generations)
	}
	if all := g.Bytes() * uint64(generations); all/uint64(generations) != g.Bytes() || all > o.maxBytes {
		return nil, fmt.Errorf("blocked: %w: %d generations of %d bytes, the maximum is %d (WithMaxBytes)", ErrTooLarge, generations, g.Bytes(), o.maxBytes)
	}
	opts = slices.Clone(opts) // the caller's may change
	r := &Rotating{capacity: max(n, 1), rate: p, opts: opts, hasher: Filter{seed: o.seed, flip: flipOf(o.seed)}}
	first := make(generationList, generations)
	for i := range first {
		if first[i], err = newGeneration(g, opts); err != nil {
			return nil, err
		}
	}
	r.state.Store(&first)
	return r, nil
}

func newGeneration(g Geometry, opts []Option) (*generation, error) {
	f, err := NewGeometry(g, opts...)
	if err != nil {
		return nil, err
	}
	gen := new(generation)
	gen.Concurrent.take(f)
	return gen, nil
}

// Rotate drops the oldest generation and makes an empty one the newest: by the clock, say, where a window is to be one of time.
func (r *Rotating) Rotate() {
	r.rotating.Lock()
	defer r.rotating.Unlock()
	r.rotate()
}

// rotate needs the lock.
func (r *Rotating) rotate() {
	old := *r.state.Load()
	next := make(generationList, len(old))
	gen, err := newGeneration(old[0].Geometry(), r.opts)
	if err != nil {
		panic(err) // the same was made before
	}
	next[0] = gen
	copy(next[1:], old)
	r.state.Store(&next)
	r.rotations.Add(1)
}

// filled counts a key that was new to gen, and rotates where gen then has no room for another, or waits for who does. It reports whether gen has kept the key for its whole time: it has not where others rotated before.
func (r *Rotating) filled(gen *generation) bool {
	if gen.items.Add(1) < r.capacity {
		return false
	}
	r.rotating.Lock()
	defer r.rotating.Unlock()
	if (*r.state.Load())[0] != gen {
		return false
	}
	r.rotate()
	return true
}

// Seed returns the seed of the hash.
func (r *Rotating) Seed() uint64 { return r.hasher.seed }

// Hash returns the hash of key with this filter's seed, as [Filter.Hash] does.
func (r *Rotating) Hash(key []byte) uint64 { return r.hasher.Hash(key) }

// HashString returns the hash of a string's bytes.
func (r *Rotating) HashString(key string) uint64 { return r.hasher.HashString(key) }

// HashUint64 returns the hash of a uint64's eight little-endian bytes.
func (r *Rotating) HashUint64(key uint64) uint64 { return r.hasher.HashUint64(key) }

// Add adds key to the newest generation, also where an older one has it. It costs what Concurrent's does and, where the key is new to the generation, an atomic addition to a counter that all goroutines share: about twice as much.
func (r *Rotating) Add(key []byte) { r.AddHash(r.Hash(key)) }

// AddString adds the bytes of a string, without a copy.
func (r *Rotating) AddString(key string) { r.AddHash(r.HashString(key)) }

// AddUint64 adds the eight little-endian bytes of a uint64.
func (r *Rotating) AddUint64(key uint64) { r.AddHash(r.HashUint64(key)) }

// AddHash adds the key that has hash h, with the filter's seed.
func (r *Rotating) AddHash(h uint64) {
	r.addTo((*r.state.Load())[0], h)
}

// addTo adds h to newest, which was the newest generation a moment ago, and reports whether it was new there.
func (r *Rotating) addTo(newest *generation, h uint64) (added bool) {
	added = newest.AddIfAbsentHash(h)
	if added && r.filled(newest) {
		return true
	}
	if now := (*r.state.Load())[0]; now != newest {
		r.addTo(now, h) // others have rotated before h was in: it is due a whole time from now on
	}
	return added
}

// AddIfAbsent adds key to the newest generation and reports whether no generation had it. Where an older one has it, its time starts anew. It costs a lookup where the newest has it, and otherwise a lock that calls for
// other keys take as well, one in 64.
func (r *Rotating) AddIfAbsent(key []byte) (added bool) { return r.AddIfAbsentHash(r.Hash(key)) }

// AddIfAbsentString is AddIfAbsent for the bytes of a string.
func (r *Rotating) AddIfAbsentString(key string) (added bool) {
	return r.AddIfAbsentHash(r.HashString(key))
}

// AddIfAbsentUint64 is AddIfAbsent for the eight little-endian bytes of a uint64.
func (r *Rotating) AddIfAbsentUint64(key uint64) (added bool) {
	return r.AddIfAbsentHash(r.HashUint64(key))
}

// AddIfAbsentHash is AddIfAbsent for the key that has hash h, with the filter's seed.
func (r *Rotating) AddIfAbsentHash(h uint64) (added bool) {
	if (*r.state.Load())[0].certainly(h) {
		return false
	}
	lock := &r.firsts[h>>(64-6)]
	lock.Lock()
	defer lock.Unlock()
	gens := *r.state.Load()
	for _, gen := range gens[1:] {
		if gen.certainly(h) {
			r.AddHash(h)
			return false
		}
	}
	return r.addTo(gens[0], h)
}

// MayContain reports whether key is in a generation: false is certain of every key whose Add happened before and has not been dropped. It costs the hash and, for an absent key, one cache
// line a generation.
func (r *Rotating) MayContain(key []byte) bool { return r.MayContainHash(r.Hash(key)) }

// MayContainString is MayContain for the bytes of a string, without a copy.
func (r *Rotating) MayContainString(key string) bool { return r.MayContainHash(r.HashString(key)) }

// MayContainUint64 is MayContain for the eight little-endian bytes of a uint64.
func (r *Rotating) MayContainUint64(key uint64) bool { return r.MayContainHash(r.HashUint64(key)) }

// MayContainHash is MayContain for the key that has hash h, with the filter's seed.
func (r *Rotating) MayContainHash(h uint64) bool {
	for _, gen := range *r.state.Load() {
		if gen.MayContainHash(h) {
			return true
		}
	}
	return false
}

// AddHashes adds the keys that have the hashes hs, with the filter's seed, in order. hs is only read.
func (r *Rotating) AddHashes(hs []uint64) {
	for len(hs) > 0 {
		part := hs[:min(len(hs), prefetchWindow)]
		(*r.state.Load())[0].f.prefetchFirst(part)
		for _, h := range part {
			r.AddHash(h)
		}
		hs = hs[len(part):]
	}
}

// AddIfAbsentHashes adds the keys that have the hashes hs, in order, and sets added[i] as AddIfAbsentHash does. It panics if len(added) < len(hs).
func (r *Rotating) AddIfAbsentHashes(added []bool, hs []uint64) {
	added = added[:len(hs)]
	for i, h := range hs {
		if i%prefetchWindow == 0 {
			for _, gen := range *r.state.Load() {
				gen.f.prefetchFirst(hs[i:])
			}
		}
		added[i] = r.AddIfAbsentHash(h)
	}
}

// AddKeys adds keys, in order.
func (r *Rotating) AddKeys(keys [][]byte) {
	var hs [prefetchWindow]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		r.hasher.hashKeys(hs[:n], keys)
		r.AddHashes(hs[:n])
		keys = keys[n:]
	}
}

// AddStrings adds the bytes of strings, in order.
func (r *Rotating) AddStrings(keys []string) {
	var hs [prefetchWindow]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		r.hasher.hashStrings(hs[:n], keys)
		r.AddHashes(hs[:n])
		keys = keys[n:]
	}
}

// AddUint64s adds the eight little-endian bytes of each key, in order.
func (r *Rotating) AddUint64s(keys []uint64) {
	var hs [prefetchWindow]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		r.hasher.hashUint64s(hs[:n], keys)
		r.AddHashes(hs[:n])
		keys = keys[n:]
	}
}

// MayContainHashes sets dst[i] to whether a generation has the key with hash hs[i]. It panics if len(dst) < len(hs), and leaves what dst has beyond that alone.
func (r *Rotating) MayContainHashes(dst []bool, hs []uint64) {
	dst = dst[:len(hs)]
	gens := *r.state.Load()
	gens[0].f.containsAll(dst, hs)
	askRest(dst, hs, len(gens)-1, func(i int) *header { return &gens[len(gens)-1-i].f.header })
}

// MayContainKeys sets dst[i] to whether a generation has keys[i]. It panics if len(dst) < len(keys).
func (r *Rotating) MayContainKeys(dst []bool, keys [][]byte) {
	dst = dst[:len(keys)]
	var hs [undecidedSize]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		r.hasher.hashKeys(hs[:n], keys)
		r.MayContainHashes(dst, hs[:n])
		dst, keys = dst[n:], keys[n:]
	}
}

// MayContainStrings sets dst[i] to whether a generation has the bytes of keys[i]. It panics if len(dst) < len(keys).
func (r *Rotating) MayContainStrings(dst []bool, keys []string) {
	dst = dst[:len(keys)]
	var hs [undecidedSize]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		r.hasher.hashStrings(hs[:n], keys)
		r.MayContainHashes(dst, hs[:n])
		dst, keys = dst[n:], keys[n:]
	}
}

// MayContainUint64s sets dst[i] to whether a generation has keys[i], as eight little-endian bytes. It panics if len(dst) < len(keys).
func (r *Rotating) MayContainUint64s(dst []bool, keys []uint64) {
	dst = dst[:len(keys)]
	var hs [undecidedSize]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		r.hasher.hashUint64s(hs[:n], keys)
		r.MayContainHashes(dst, hs[:n])
		dst, keys = dst[n:], keys[n:]
	}
}

// SelectHashes appends to sel the positions i, in rising order, of those hs[i] that may be in a generation, as [Filter.SelectHashes] does.
func (r *Rotating) SelectHashes(sel []uint32, hs []uint64) []uint32 {
	var may [undecidedSize]bool
	for base := 0; base < len(hs); base += len(may) {
		part := hs[base:min(len(hs), base+len(may))]
		r.MayContainHashes(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(hs)-base)
	}
	return sel
}

// SelectKeys appends to sel the positions of the keys that may be in a generation, as SelectHashes does.
func (r *Rotating) SelectKeys(sel []uint32, keys [][]byte) []uint32 {
	var may [undecidedSize]bool
	for base := 0; base < len(keys); base += len(may) {
		part := keys[base:min(len(keys), base+len(may))]
		r.MayContainKeys(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// SelectStrings appends to sel the positions of the keys that may be in a generation, as SelectHashes does.
func (r *Rotating) SelectStrings(sel []uint32, keys []string) []uint32 {
	var may [undecidedSize]bool
	for base := 0; base < len(keys); base += len(may) {
		part := keys[base:min(len(keys), base+len(may))]
		r.MayContainStrings(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// SelectUint64s appends to sel the positions of the keys that may be in a generation, as SelectHashes does.
func (r *Rotating) SelectUint64s(sel []uint32, keys []uint64) []uint32 {
	var may [undecidedSize]bool
	for base := 0; base < len(keys); base += len(may) {
		part := keys[base:min(len(keys), base+len(may))]
		r.MayContainUint64s(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// RotatingInfo is what a Rotating can tell at no cost.
type RotatingInfo struct {
	Generations int
	Capacity    uint64   // new keys that each of them takes
	Items       []uint64 // how many each has taken, the newest first
	Geometry    Geometry // of each
	Bytes       uint64   // of all
	Rate        float64  // the false positive rate p that was asked for, 0 to 1
	Rotations   uint64   // how often the oldest was dropped
}

// Info returns what the filter can tell at no cost.
func (r *Rotating) Info() RotatingInfo {
	gens := *r.state.Load()
	info := RotatingInfo{Generations: len(gens), Capacity: r.capacity, Geometry: gens[0].Geometry(), Rate: r.rate, Rotations: r.rotations.Load()}
	info.Bytes = info.Geometry.Bytes() * uint64(len(gens))
	for _, gen := range gens {
		info.Items = append(info.Items, gen.items.Load())
	}
	return info
}

// FalsePositiveRate returns the share of lookups of keys in no generation that report "may contain", of the filter as it stands, from the bits of all generations. It costs one pass over the memory.
func (r *Rotating) FalsePositiveRate() float64 {
	absent := 1.0
	for _, gen := range *r.state.Load() {
		absent *= 1 - gen.FalsePositiveRate()
	}
	return 1 - absent
}
