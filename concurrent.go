package blocked

import (
	"fmt"
	"io"
)

// Concurrent is a blocked Bloom filter that any number of goroutines may add to and look up in, all at once and without a lock of their own. [NewConcurrent] makes one, of the same bits as a [Filter] of the
// same geometry and keys. It is not to be copied.
//
// A key whose Add has returned is found by every lookup that comes after it, "after" in the sense of the Go memory model: later in the same goroutine, or behind a channel, a lock, a WaitGroup or an atomic
// variable through which the one goroutine knows of the other's Add. No bit that was set is ever lost. Of AddIfAbsent calls for one key that was absent, in however many
// goroutines, exactly one reports true, or none where adds of other keys have made it a false positive before. A lookup never waits and writes nothing: it costs what the Filter's costs, unless another processor has just written to the same block. A lookup while its key is being added may answer either way.
//
// An add looks first, so that a key that is there costs a lookup. Another one holds its block for the time of a load and a store, by an exchange with the block's own lane 0: there is no other memory that processors would have to hand each other, and nothing
// beside the filter but a few words, unless it is filled far beyond its plan: blocks whose lane 0 is full are listed, and share a lock. While a block is held, lookups in it find lane 0 full of ones: they may take an absent key for a present one, for some nanoseconds (longer where the system interrupts the thread just then), and never the reverse.
//
// # Why this holds
//
// Bits are only ever set, and only by who holds their block, so that the writes to a block are in an order, each adds to what the one before has left, and none is lost. A block is taken and let go by
// atomic operations on lane 0: the writes of one holder happen before those of the next.
//
// Lookups read at any time, with vectors that no processor promises to read in one piece. They need not be: a block's bytes are written with what they had and more (lane 0 with all ones before), so that a lookup that meets a write halfway sees, in
// each byte, the old bits or the new ones, and those that it must see, because their Add happened before, are in both. Where the lookup is in Go, on processors without a kernel of their own, that is what the memory model says of
// reads that race with writes: each sees some write that is not older than the last that happened before it, and none that never was. Where it is in assembly, it is what processors say of
// vector loads: on amd64 loads are not done before earlier loads, and on arm64 not before an earlier load-acquire, whatever their width, and Go's synchronization is made of such; the stores before the one
// that lets a block go are seen before it; and no byte is torn.
//
// An add that finds its key there must know more, that a lane 0 which has the key's bit is not a holder's. It reads that lane by a load of 64 bits, which processors promise to do in one piece. And it writes nothing: bits that it saw may be those of
// another add that is still under way, of which the memory model does not say that it happens before what follows. That who learns of the first add finds these bits too is once more what processors say: what one has seen before
// it releases, the one sees that acquires from it.
type Concurrent struct {
	f    Filter // first, for the kernels; its header is shared
	full fullBlocks
}

// NewConcurrent returns an empty filter for n keys at false positive rate p, as [New] does, with its options and errors.
func NewConcurrent(n uint64, p float64, opts ...Option) (*Concurrent, error) {
	f, err := New(n, p, opts...)
	if err != nil {
		return nil, err
	}
	return newConcurrent(f), nil
}

// NewConcurrentGeometry returns an empty filter of geometry g, as [NewGeometry] does, with its options and errors.
func NewConcurrentGeometry(g Geometry, opts ...Option) (*Concurrent, error) {
	f, err := NewGeometry(g, opts...)
	if err != nil {
		return nil, err
	}
	return newConcurrent(f), nil
}

// ConcurrentOf makes a Concurrent of f, with f's keys and memory: of a filter that was read from a file, say. Afterwards f is a zero Filter; copies of it, and slices of its memory, must not be used any more. The error
// wraps ErrParameter for a zero Filter.
func ConcurrentOf(f *Filter) (*Concurrent, error) {
	if err := f.zeroError(); err != nil {
		return nil, err
	}
	c := newConcurrent(f)
	c.listFull()
	*f = Filter{}
	return c, nil
}

// newConcurrent takes over the memory of f, which is empty: its memory is not touched.
func newConcurrent(f *Filter) *Concurrent {
	c := new(Concurrent)
	c.take(f)
	return c
}

// take makes c a filter with f's memory. Where f is not empty, listFull is due.
func (c *Concurrent) take(f *Filter) {
	c.f = *f
	c.f.shared = true
}

// listFull lists the blocks of a filter that had keys when it was taken.
func (c *Concurrent) listFull() {
	for i := range c.f.blocks {
		if *c.f.laneZero(i) == held {
			c.full.add(i)
		}
	}
}

// Geometry returns the filter's shape.
func (c *Concurrent) Geometry() Geometry { return c.f.Geometry() }

// Seed returns the seed of the hash.
func (c *Concurrent) Seed() uint64 { return c.f.seed }

// Hash returns the hash of key with this filter's seed, as [Filter.Hash] does.
func (c *Concurrent) Hash(key []byte) uint64 { return c.f.Hash(key) }

// HashString returns the hash of a string's bytes.
func (c *Concurrent) HashString(key string) uint64 { return c.f.HashString(key) }

// HashUint64 returns the hash of a uint64's eight little-endian bytes.
func (c *Concurrent) HashUint64(key uint64) uint64 { return c.f.HashUint64(key) }

// Add adds key. It costs the hash and one cache line, and a locked instruction where the key is new.
func (c *Concurrent) Add(key []byte) { c.AddHash(c.f.Hash(key)) }

// AddString adds the bytes of a string, without a copy.
func (c *Concurrent) AddString(key string) { c.AddHash(c.f.HashString(key)) }

// AddUint64 adds the eight little-endian bytes of a uint64.
func (c *Concurrent) AddUint64(key uint64) { c.AddHash(c.f.HashUint64(key)) }

// AddHash adds the key that has hash h, with the filter's seed.
func (c *Concurrent) AddHash(h uint64) { addShared(c, h) }

// AddIfAbsent adds key and reports whether that changed the filter. If it did, the key was certainly not there before, and no other goroutine is told so of this key; if not, it was, or is
// a false positive. It costs what Add does.
func (c *Concurrent) AddIfAbsent(key []byte) (added bool) { return c.AddIfAbsentHash(c.f.Hash(key)) }

// AddIfAbsentString is AddIfAbsent for the bytes of a string.
func (c *Concurrent) AddIfAbsentString(key string) (added bool) {
	return c.AddIfAbsentHash(c.f.HashString(key))
}

// AddIfAbsentUint64 is AddIfAbsent for the eight little-endian bytes of a uint64.
func (c *Concurrent) AddIfAbsentUint64(key uint64) (added bool) {
	return c.AddIfAbsentHash(c.f.HashUint64(key))
}

// AddIfAbsentHash is AddIfAbsent for the key that has hash h, with the filter's seed.
func (c *Concurrent) AddIfAbsentHash(h uint64) (added bool) {
	return addShared(c, h)
}

// MayContain reports whether key may have been added: false is certain of every key whose Add happened before, true is wrong with the filter's false positive rate. It costs the hash
// and one cache line.
func (c *Concurrent) MayContain(key []byte) bool { return c.MayContainHash(c.f.Hash(key)) }

// MayContainString is MayContain for the bytes of a string, without a copy.
func (c *Concurrent) MayContainString(key string) bool { return c.MayContainHash(c.f.HashString(key)) }

// MayContainUint64 is MayContain for the eight little-endian bytes of a uint64.
func (c *Concurrent) MayContainUint64(key uint64) bool { return c.MayContainHash(c.f.HashUint64(key)) }

// MayContainHash is MayContain for the key that has hash h, with the filter's seed.
func (c *Concurrent) MayContainHash(h uint64) bool { return contains(&c.f.header, h) }

// AddHashes adds the keys that have the hashes hs, with the filter's seed. hs is only read. The batch is many adds, not one: others see it come key by key.
func (c *Concurrent) AddHashes(hs []uint64) {
	c.f.header.prefetchFirst(hs)
	c.addPart(hs, len(hs))
}

// addPart adds the first n of hs and fetches blocks for those that follow. n is len(hs) or a multiple of batchWidth.
func (c *Concurrent) addPart(hs []uint64, n int) {
	ahead := c.f.header.aheadOf(hs, n)
	for i, h := range hs[:n] {
		if i < ahead && i%batchWidth == 0 {
			prefetchBatch(&c.f.header, &hs[i+prefetchWindow], batchWidth)
		}
		addShared(c, h)
	}
}

// AddIfAbsentHashes adds the keys that have the hashes hs, in order, and sets added[i] where adding hs[i] changed the filter: where it stands in hs twice, at most
// its first place; where others add it too, at most in one goroutine of all. It panics if len(added) < len(hs).
func (c *Concurrent) AddIfAbsentHashes(added []bool, hs []uint64) {
	added = added[:len(hs)]
	c.f.header.prefetchFirst(hs)
	ahead := c.f.header.aheadOf(hs, len(hs))
	for i, h := range hs {
		if i < ahead && i%batchWidth == 0 {
			prefetchBatch(&c.f.header, &hs[i+prefetchWindow], batchWidth)
		}
		added[i] = addShared(c, h)
	}
}

// AddKeys adds keys.
func (c *Concurrent) AddKeys(keys [][]byte) {
	var w hashWindow
	w.f, w.shared = &c.f.header, c
	for len(keys) > 0 {
		hs := w.room(len(keys))
		c.f.hashKeys(hs, keys)
		keys = keys[len(hs):]
		w.add(len(hs))
	}
	w.addRest()
}

// AddStrings adds the bytes of strings.
func (c *Concurrent) AddStrings(keys []string) {
	var w hashWindow
	w.f, w.shared = &c.f.header, c
	for len(keys) > 0 {
		hs := w.room(len(keys))
		c.f.hashStrings(hs, keys)
		keys = keys[len(hs):]
		w.add(len(hs))
	}
	w.addRest()
}

// AddUint64s adds the eight little-endian bytes of each key.
func (c *Concurrent) AddUint64s(keys []uint64) {
	var w hashWindow
	w.f, w.shared = &c.f.header, c
	for len(keys) > 0 {
		hs := w.room(len(keys))
		c.f.hashUint64s(hs, keys)
		keys = keys[len(hs):]
		w.add(len(hs))
	}
	w.addRest()
}

// MayContainHashes sets dst[i] to whether the key with hash hs[i] may have been added. It panics if len(dst) < len(hs), and leaves what dst has beyond that alone.
func (c *Concurrent) MayContainHashes(dst []bool, hs []uint64) { c.f.MayContainHashes(dst, hs) }

// MayContainKeys sets dst[i] to whether keys[i] may have been added. It panics if len(dst) < len(keys).
func (c *Concurrent) MayContainKeys(dst []bool, keys [][]byte) { c.f.MayContainKeys(dst, keys) }

// MayContainStrings sets dst[i] to whether the bytes of keys[i] may have been added. It panics if len(dst) < len(keys).
func (c *Concurrent) MayContainStrings(dst []bool, keys []string) { c.f.MayContainStrings(dst, keys) }

// MayContainUint64s sets dst[i] to whether keys[i], as eight little-endian bytes, may have been added. It panics if len(dst) < len(keys).
func (c *Concurrent) MayContainUint64s(dst []bool, keys []uint64) { c.f.MayContainUint64s(dst, keys) }

// SelectHashes appends to sel the positions i, in rising order, of those hs[i] that may have been added, as [Filter.SelectHashes] does.
func (c *Concurrent) SelectHashes(sel []uint32, hs []uint64) []uint32 {
	return c.f.SelectHashes(sel, hs)
}

// SelectKeys appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (c *Concurrent) SelectKeys(sel []uint32, keys [][]byte) []uint32 {
	return c.f.SelectKeys(sel, keys)
}

// SelectStrings appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (c *Concurrent) SelectStrings(sel []uint32, keys []string) []uint32 {
	return c.f.SelectStrings(sel, keys)
}

// SelectUint64s appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (c *Concurrent) SelectUint64s(sel []uint32, keys []uint64) []uint32 {
	return c.f.SelectUint64s(sel, keys)
}

// Union adds the keys of g, which is only read: those that were in it when Union was called, where others add to g meanwhile. It may run in parallel with everything else on c.
//
// Both must have the same k, seed and hash, and g's number of blocks must be a multiple of c's, since c cannot be folded under the eyes of others. Otherwise c is unchanged, and the error
// wraps ErrMismatch and names all that differs. It costs one pass over both, and a lock for each block that gets new bits; it allocates nothing, but for a snapshot of g where g is a Concurrent.
func (c *Concurrent) Union(g Source) error {
	h := g.source()
	if err := c.f.matches(&h); err != nil {
		return err
	}
	if h.blocks < c.f.blocks {
		return fmt.Errorf("blocked: %w: blocks = %d and %d, the second must be a multiple of the first", ErrMismatch, c.f.blocks, h.blocks)
	}
	c.union(h.Bits(), int(h.blocks/c.f.blocks))
	return nil
}

// source makes a Concurrent a Source, of a Union into another filter for one: a snapshot, in which no block is held.
func (c *Concurrent) source() Filter { return *c.Snapshot() }

// Snapshot returns a Filter with memory of its own that has every key whose Add happened before, and of those that are added meanwhile some. It may run in parallel with everything else on c and makes nothing wait.
func (c *Concurrent) Snapshot() *Filter {
	if c.f.blocks == 0 {
		return &Filter{}
	}
	s := c.f.empty()
	c.copyTo(s.Bits())
	return s
}

// FalsePositiveRate is [Filter.FalsePositiveRate], of the filter as it stands. Where others add meanwhile it is of some moment in between, block for block, and a block that is held at that moment counts
// with a full lane 0. The same holds of Fill, Cardinality and Stats.
func (c *Concurrent) FalsePositiveRate() float64 { return c.f.FalsePositiveRate() }

// Fill is [Filter.Fill].
func (c *Concurrent) Fill() float64 { return c.f.Fill() }

// Cardinality is [Filter.Cardinality].
func (c *Concurrent) Cardinality() (n uint64, saturated bool) { return c.f.Cardinality() }

// Stats is [Filter.Stats].
func (c *Concurrent) Stats() Stats { return c.f.Stats() }

// AppendBinary appends the container of a snapshot to dst, as [Filter.AppendBinary] does: with every key whose Add happened before. It takes no memory beside dst's.
func (c *Concurrent) AppendBinary(dst []byte) ([]byte, error) {
	return c.f.appendBinary(dst, c.copyTo)
}

// MarshalBinary returns the container of a snapshot. To read it, read a Filter and make a Concurrent of it: see [ConcurrentOf].
func (c *Concurrent) MarshalBinary() ([]byte, error) { return c.AppendBinary(nil) }

// WriteTo writes the container of a snapshot to w, as [Filter.WriteTo] does. It takes as much memory as the filter has, for the snapshot.
func (c *Concurrent) WriteTo(w io.Writer) (int64, error) { return c.Snapshot().WriteTo(w) }

// Save writes the container of a snapshot to the file at path, as [Filter.Save] does. It takes as much memory as the filter has, for the snapshot.
func (c *Concurrent) Save(path string) error { return c.Snapshot().Save(path) }
