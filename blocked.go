// Package blocked is a Bloom filter for the hot path of databases and caches: each key touches one 64-byte cache line, is hashed once with XXH3-64,
// and is tested by AVX-512, AVX2 or NEON code, one at a time or in batches. It answers "can this key be here?", so that a read that cannot
// succeed is never made.
//
//	f, err := blocked.New(1_000_000, 0.01) // a million keys, 1% false positives
//	f.Add(key)
//	if f.MayContain(key) { ... read the disk ... }
//
// # The guarantee
//
// A key that has been added is reported by every later lookup. A key that has not been added is reported with the false positive rate, which depends on how
// many keys the filter has: at most p, on average over filters, up to the n keys it was planned for, and more beyond. Nothing can be removed.
//
// # How a lookup goes
//
// A filter is N blocks of 64 bytes, N any number. A block has eight lanes of 64 bits. The high half of hash times N is the block's number; a second product of
// the hash gives each lane a bit number. With k = 8 a key has one bit, a probe, in every lane; with fewer it takes k lanes from a
// varying first one; with more (up to 16) a second product gives k-8 lanes a second bit. A lookup reads the block and is "may contain" where all probes are set. See
// block_generic.go for all of it in Go.
//
// The hash must be uniform in all its 64 bits: the high ones choose the block. XXH3-64 is; so, for keys of your own hash (AddHash), must that one be.
//
// # The model of the false positive rate
//
// n keys fall on N blocks at random, so that the number of keys in a block is binomial, or nearly Poisson with mean n/N. With j keys in it, each sets a given bit of a lane that it takes with chance 1/64, and the
// lookup of an absent key finds all its probes set with a chance that inclusion and exclusion over the probes gives exactly. The rate is the average over j (after Putze, Sanders and
// Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007, for bits bound to lanes); model.go has the sum. The textbook's (1-e^(-kn/m))^k (Bloom, 1970) is for filters without blocks and promises less than
// blocks can keep. [Geometry.FalsePositiveRate] is the model, [Filter.FalsePositiveRate] the rate of a filter's actual bits.
//
// # What blocking costs
//
// Keys fall on blocks unevenly, and crowded blocks answer wrong more often. A blocked filter so needs more memory than the textbook's for the same rate: 5% more at
// 1%, 9% at 0.1%, 15% at 0.01% and 36% at 0.0001%. [Plan] and [New] size with the true rate of blocks, not the textbook's, and choose the best
// k.
//
// # Concurrency, growth, change
//
// In a Filter, lookups may run in parallel with each other. An Add may not run in parallel with anything else on the same filter, be it another Add or a lookup. The race detector
// sees both, in assembly too. For everything else there are types of their own, of the same blocks and kernels:
//
//   - [Concurrent], for many goroutines that add and look up at once;
//   - [Growing], where the number of keys is not known beforehand;
//   - [Rotating], which remembers the recent past only;
//   - [Live], which is rebuilt from a store while it is in use.
//
// # Filters in files and tables
//
// A filter is written as a container (AppendBinary, WriteTo, Save; encoding/gob and encoding/json take it too) or, for a few blocks, in a compact form, and is read back or asked where it lies: [OpenView], [OpenCompact] and
// [OpenFile] copy nothing. FORMAT.md has the formats for other languages. A [Builder] is for writers that learn the number of keys last; Fold shrinks, Union and Intersect merge, and Stats
// tells what a filter holds. Where checksums are looked at, bytes that are no filter, or are damaged, are an error, and the View that comes with it reports every key as possibly contained.
//
// # Stability
//
// The same keys, seed and geometry give the same bits on every architecture and under every kernel, in any order of insertion, in this and every later
// version of the layout's version 1.
package blocked

import (
	"fmt"
	"unsafe"
)

// Filter is a blocked Bloom filter. [New] and [NewGeometry] make one. The zero Filter contains nothing, and adding to it panics.
//
// Lookups may run in parallel with each other; an Add, AddIfAbsent or Reset may not run in parallel with anything on the same Filter. A copy of a Filter shares its
// memory; [Filter.Clone] does not. No method that adds or looks up allocates, but for the Select methods where their slice must grow and AddHashesParallel, which starts
// goroutines.
type Filter struct {
	header
	seed       uint64
	flip       uint64 // flipOf(seed)
	room       uint64 // blocks that the memory has where these are more than the filter has, as after reading a smaller one into it
	callerHash bool   // WithCallerHash
	small      bool   // WithoutHugePages
}

// options is what the Options set.
type options struct {
	seed       uint64
	maxBytes   uint64
	budget     bool // maxBytes was asked for
	callerHash bool
	small      bool // WithoutHugePages

	expansion  int  // WithExpansion
	expands    bool // expansion was asked for
	nonScaling bool // WithNonScaling
	roundUp    bool // WithRoundUp
}

// An Option changes what New, NewBuilder, NewConcurrent, NewGrowing, NewRotating, NewLive and their like make.
type Option func(*options)

// WithSeed sets the seed of the hash: any number, 0 if not set. Filters that are to be compared or merged, or to share hashes, need the same.
//
// A secret seed makes it hard for outsiders to choose keys that collide, though XXH3 is no cryptographic hash.
func WithSeed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// WithMaxBytes sets the most bytes that the filter's blocks may have; 64 GiB if not set. A larger one is an error that wraps ErrTooLarge, before anything is allocated; but
// a [Builder] keeps to n and gives up on the rate, and a [Growing] has at most so many in all its layers.
func WithMaxBytes(n uint64) Option { return func(o *options) { o.maxBytes, o.budget = n, true } }

// WithCallerHash says that the filter's keys are known by hashes of the caller's own making, which AddHash, MayContainHash and the like take, instead of XXH3-64 with the seed.
// It changes nothing but what files say: a container names its hash, so that a reader which knows only XXH3-64 does not ask for keys with it and call them absent. Such a container
// is read into a Filter made with this option and into no other, and a [View] of it reports "may contain" for every lookup by key.
//
// The methods of the filter that take keys still hash with XXH3-64.
func WithCallerHash() Option { return func(o *options) { o.callerHash = true } }

// WithoutHugePages leaves the choice of pages to the system. Otherwise a filter of 4 MiB and more asks Linux to back it by huge pages (madvise), which makes lookups that miss the caches
// a good deal faster and can make a filter resident in steps of 2 MiB. It is ordinary memory of the Go heap all the same.
func WithoutHugePages() Option { return func(o *options) { o.small = true } }

// WithRoundUp makes a Builder of [NewBuilderBits] spend at least its bits on a key where it else spends at most so many: the number of blocks is rounded up. In filters of a few dozen keys a block
// is much of the filter: 80 keys at 10 bits are one block else, 6.4 bits a key, and two with it, 12.8. It does not change what other functions make.
func WithRoundUp() Option { return func(o *options) { o.roundUp = true } }

// defaultMaxBytes makes a slip of a zero an error instead of the end of the process.
const defaultMaxBytes = 64 << 30

// New returns an empty filter for n keys at false positive rate p, with the geometry of [Plan], whose errors it returns, or one that wraps ErrTooLarge
// where the filter would have more bytes than WithMaxBytes allows.
func New(n uint64, p float64, opts ...Option) (*Filter, error) {
	g, err := Plan(n, p)
	if err != nil {
		return nil, err
	}
	return NewGeometry(g, opts...)
}

// NewGeometry returns an empty filter of geometry g. The error wraps ErrParameter where g is out of range, and ErrTooLarge where it has more bytes
// than WithMaxBytes or the platform allows.
func NewGeometry(g Geometry, opts ...Option) (*Filter, error) {
	o := options{maxBytes: defaultMaxBytes}
	for _, opt := range opts {
		opt(&o)
	}
	if err := o.fixedSize(); err != nil {
		return nil, err
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	if g.Bytes() > o.maxBytes {
		return nil, fmt.Errorf("blocked: %w: %d blocks are %d bytes, the maximum is %d (WithMaxBytes)", ErrTooLarge, g.Blocks, g.Bytes(), o.maxBytes)
	}
	if g.Bytes() > platformBytes {
		return nil, fmt.Errorf("blocked: %w: %d blocks are %d bytes, the platform's maximum is %d", ErrTooLarge, g.Blocks, g.Bytes(), platformBytes)
	}
	f := newFilter(g, o.seed, o.small)
	f.callerHash = o.callerHash
	return f, nil
}

// newFilter makes an empty filter of a geometry that has been checked. small is WithoutHugePages.
func newFilter(g Geometry, seed uint64, small bool) *Filter {
	b := filterBytes(int(g.Bytes()), small)
	return &Filter{header: makeHeader(unsafe.Pointer(unsafe.SliceData(b)), g), seed: seed, flip: flipOf(seed), small: small}
}

// Geometry returns the filter's shape; the zero Geometry for a zero Filter.
func (f *Filter) Geometry() Geometry { return Geometry{Blocks: f.blocks, K: int(f.k)} }

// Seed returns the seed of the hash.
func (f *Filter) Seed() uint64 { return f.seed }

// Bits returns the filter's memory: the blocks, in the layout's order on every architecture, starting on a cache line. It is not a copy: it changes with every
// Add, and whoever writes to it must only set bits. Adding never reallocates it; reading another filter into this one, or a Union that folds it, may.
func (f *Filter) Bits() []byte {
	return unsafe.Slice((*byte)(f.bits), int(f.blocks)*blockBytes)
}

// Reset empties the filter. Its memory stays.
func (f *Filter) Reset() {
	f.raceAll(raceWrite)
	clear(f.Bits())
}

// Clone returns a copy with memory of its own.
func (f *Filter) Clone() *Filter {
	if f.blocks == 0 {
		return &Filter{}
	}
	c := f.empty()
	copy(c.Bits(), f.Bits())
	return c
}

// empty returns an empty filter that is as f in everything else. f has blocks.
func (f *Filter) empty() *Filter {
	c := newFilter(f.Geometry(), f.seed, f.small)
	c.kernel = f.kernel
	c.callerHash = f.callerHash
	return c
}

// Add adds key. It costs the hash and one cache line. A nil key is the empty key.
func (f *Filter) Add(key []byte) { f.AddHash(f.Hash(key)) }

// AddString adds the bytes of a string, without a copy.
func (f *Filter) AddString(key string) { f.AddHash(f.HashString(key)) }

// AddUint64 adds the eight little-endian bytes of a uint64.
func (f *Filter) AddUint64(key uint64) { f.AddHash(f.HashUint64(key)) }

// AddHash adds the key that has hash h, with the filter's seed.
func (f *Filter) AddHash(h uint64) {
	if raceEnabled {
		f.raceBlock(h, raceWrite)
	}
	add(&f.header, h)
}

// AddIfAbsent adds key and reports whether that changed the filter. If it did, the key was certainly not there before; if not, it was, or is a false positive. It costs one
// cache line, as Add does.
func (f *Filter) AddIfAbsent(key []byte) (added bool) { return f.AddIfAbsentHash(f.Hash(key)) }

// AddIfAbsentString is AddIfAbsent for the bytes of a string.
func (f *Filter) AddIfAbsentString(key string) (added bool) {
	return f.AddIfAbsentHash(f.HashString(key))
}

// AddIfAbsentUint64 is AddIfAbsent for the eight little-endian bytes of a uint64.
func (f *Filter) AddIfAbsentUint64(key uint64) (added bool) {
	return f.AddIfAbsentHash(f.HashUint64(key))
}

// AddIfAbsentHash is AddIfAbsent for the key that has hash h, with the filter's seed.
func (f *Filter) AddIfAbsentHash(h uint64) (added bool) {
	if raceEnabled {
		f.raceBlock(h, raceWrite)
	}
	return addIfAbsent(&f.header, h)
}

// MayContain reports whether key may have been added: false is certain, true is wrong with the filter's false positive rate. It costs the hash and
// one cache line.
func (f *Filter) MayContain(key []byte) bool { return f.MayContainHash(f.Hash(key)) }

// MayContainString is MayContain for the bytes of a string, without a copy.
func (f *Filter) MayContainString(key string) bool { return f.MayContainHash(f.HashString(key)) }

// MayContainUint64 is MayContain for the eight little-endian bytes of a uint64.
func (f *Filter) MayContainUint64(key uint64) bool { return f.MayContainHash(f.HashUint64(key)) }

// MayContainHash is MayContain for the key that has hash h, with the filter's seed.
func (f *Filter) MayContainHash(h uint64) bool {
	if raceEnabled {
		f.raceBlock(h, raceRead)
	}
	return contains(&f.header, h)
}

// raceAll tells the race detector of an access to all blocks.
func (f *header) raceAll(access func(unsafe.Pointer, int)) {
	if raceEnabled && !f.shared {
		access(f.bits, int(f.blocks)*blockBytes)
	}
}

// raceBlock tells the race detector of an access to h's block.
func (f *header) raceBlock(h uint64, access func(unsafe.Pointer, int)) {
	if f.blocks != 0 && !f.shared {
		access(unsafe.Pointer(f.block(h)), blockBytes)
	}
}
