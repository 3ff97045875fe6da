package blocked

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Live is a filter for a store that changes: lookups and adds go on while Rebuild makes its successor from what the store has, so that deleted keys leave it, and a filter that was
// planned too small gets the size that it needs. [NewLive] makes one.
//
// Until the first Rebuild has succeeded, or [Live.Restore], it knows nothing of the store, and every lookup reports "may contain". From before a Rebuild reads the store until it ends, adds go to the filter in use and to the
// successor. The swap is one atomic step, and a key whose Add has returned is found before it and after it. Any number of goroutines may look up and add at once, also during a Rebuild, with the guarantees of [Concurrent].
//
// # In which order to write store and filter
//
// A service writes a key to its store and to the filter, and each order has its gap:
//
//   - Store first, then Add, and the write is acknowledged when both are done: a Rebuild loses nothing. A lookup that comes between the two reports the key absent, which is true of what has been acknowledged, but
//     not of what the store has.
//   - Add first, then the store: no lookup reports absent what the store has, but a Rebuild that begins after the Add and reads the store before the write misses the key: lost, from the swap on.
//   - Add, then the store, then Add again: no Rebuild loses the key for good. Lookups report absent what the store has only where a Rebuild has ended between the store's write and the second Add, until that has returned. The second Add
//     costs a lookup where no Rebuild has begun in between. Where the store's write fails, the key stays in the filter until the next Rebuild, as a false positive.
//
// What Rebuild reads must have every write that had been done when its fill function was called: a snapshot taken before that, or a replica that lags behind, misses keys that were added in the meantime. A delete needs no
// step at the filter: the key stays, as a false positive, until the next Rebuild.
//
// The zero Live is of no use: its methods panic.
type Live struct {
	state      atomic.Pointer[liveState]
	opts       []Option
	hasher     Filter // has the seed and no blocks
	rebuilding atomic.Bool
	rebuilds   atomic.Uint64
	failures   atomic.Uint64
	failedAdds atomic.Uint64
	lastError  atomic.Pointer[error]
}

// liveState is what is in use at one moment. It is never changed.
type liveState struct {
	now, next *liveFilter // or nil
}

type liveFilter struct {
	Concurrent
	n     uint64
	p     float64
	began time.Time
	since time.Time      // in use; set before it is
	adds  shardedCounter // since it is in use
	only  shardedCounter // before, where there was no other
}

// shardedCounter counts without passing one cache line among all processors.
type shardedCounter [16]struct {
	n atomic.Uint64
	_ [56]byte
}

func (c *shardedCounter) count(h uint64) { c[h>>(64-4)].n.Add(1) }

func (c *shardedCounter) sum() (n uint64) {
	for i := range c {
		n += c[i].n.Load()
	}
	return n
}

// NewLive returns a Live that knows nothing yet. The options are for all the filters that it will have; those of one size only, WithExpansion and WithNonScaling, are an error that wraps ErrParameter.
func NewLive(opts ...Option) (*Live, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if err := o.fixedSize(); err != nil {
		return nil, err
	}
	l := &Live{opts: slices.Clone(opts), // the caller's may change
		hasher: Filter{seed: o.seed, flip: flipOf(o.seed), callerHash: o.callerHash}}
	l.state.Store(&liveState{})
	return l, nil
}

// Rebuild makes a filter for n keys at false positive rate p, has fill add all keys of the store to it, and puts it in the place of the one in use. add may be called by several goroutines at once, and not after fill has returned. Choose n with
// room for the keys that will be added until the next Rebuild; Health tells when it is due.
//
// Where fill returns an error or panics, or ctx is done when it returns, the filter in use stays, with all that was added meanwhile, and what Rebuild returns wraps the error or the context's cause. fill should look at ctx itself if it takes
// long. The error wraps ErrBusy where another Rebuild or Restore is under way, and otherwise is that of [New].
//
// While it runs there is memory for both filters, and adds cost twice as much.
//
// For a Live WithCallerHash it is an error that wraps ErrMismatch: see [Live.RebuildHashes].
func (l *Live) Rebuild(ctx context.Context, n uint64, p float64, fill func(add func(key []byte)) error) error {
	if l.hasher.callerHash {
		return fmt.Errorf("blocked: %w: the hash is the caller's own (WithCallerHash), and Rebuild hashes keys with XXH3-64; RebuildHashes takes hashes", ErrMismatch)
	}
	return l.RebuildHashes(ctx, n, p, func(add func(h uint64)) error {
		return fill(func(key []byte) { add(l.Hash(key)) })
	})
}

// RebuildHashes is Rebuild for keys that are known by their hashes, with the seed of l or of the caller's own making.
func (l *Live) RebuildHashes(ctx context.Context, n uint64, p float64, fill func(add func(h uint64)) error) error {
	if err := l.begin(); err != nil {
		return err
	}
	defer l.rebuilding.Store(false)
	next, err := l.rebuild(ctx, n, p, fill)
	if err != nil {
		l.failed(err)
		return err
	}
	l.use(next)
	return nil
}

// begin makes the caller the only one who may change the state.
func (l *Live) begin() error {
	if !l.rebuilding.CompareAndSwap(false, true) {
		return fmt.Errorf("blocked: %w: a Rebuild or Restore of this Live has not ended yet", ErrBusy)
	}
	return nil
}

func (l *Live) failed(err error) {
	l.failures.Add(1)
	l.lastError.Store(&err)
}

// use makes f the filter in use, in one step.
func (l *Live) use(f *liveFilter) {
	f.since = time.Now()
	l.state.Store(&liveState{now: f})
	l.rebuilds.Add(1)
}

// rebuild returns a filled successor, to which adds go until the state changes. Where there is none the state is as before.
func (l *Live) rebuild(ctx context.Context, n uint64, p float64, fill func(add func(h uint64)) error) (_ *liveFilter, err error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("blocked: rebuilding a filter: %w", context.Cause(ctx))
	}
	f, err := New(n, p, l.opts...)
	if err != nil {
		return nil, err
	}
	next := &liveFilter{n: n, p: p, began: time.Now()}
	next.take(f)
	now := l.state.Load().now
	l.state.Store(&liveState{now: now, next: next}) // before fill reads the store: an add that has not seen this has ended before, and its key is in the store
	var ended atomic.Bool
	filled := false
	defer func() {
		ended.Store(true)
		if !filled { // after a panic as well
			l.state.Store(&liveState{now: now})
			l.failedAdds.Add(next.only.sum())
			if err == nil {
				l.failed(fmt.Errorf("blocked: rebuilding a filter: the fill function did not return"))
			}
		}
	}()
	err = fill(func(h uint64) {
		if ended.Load() {
			l.failedAdds.Add(1)
			return
		}
		next.AddHash(h)
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("blocked: rebuilding a filter: %w", err)
	}
	filled = true
	return next, nil
}

// Restore makes f, which was planned for n keys at rate p, the filter in use: what Save wrote when the service ended, say, where nothing has been added to the store since. It takes f's memory over; f is a zero Filter afterwards. Keys that were
// added to l before are in it only if f has them.
//
// The error wraps ErrParameter for a zero Filter or a p that is not above 0 and below 1, ErrMismatch where the seed or the hash is not that of l, and ErrBusy where a Rebuild is under way. f and l are as before then.
func (l *Live) Restore(f *Filter, n uint64, p float64) error {
	if err := f.zeroError(); err != nil {
		return err
	}
	if !(p > 0 && p < 1) {
		return fmt.Errorf("blocked: %w: p = %v, must be above 0 and below 1", ErrParameter, p)
	}
	if f.seed != l.hasher.seed {
		return fmt.Errorf("blocked: %w: seed = %#x, must be %#x", ErrMismatch, f.seed, l.hasher.seed)
	}
	if err := l.hasher.checkHash(f.hashCode()); err != nil {
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	defer l.rebuilding.Store(false)
	next := &liveFilter{n: n, p: p, began: time.Now()}
	next.take(f)
	next.listFull()
	*f = Filter{}
	l.use(next)
	return nil
}

// Seed returns the seed of the hash.
func (l *Live) Seed() uint64 { return l.hasher.seed }

// Hash returns the hash of key with this filter's seed, as [Filter.Hash] does.
func (l *Live) Hash(key []byte) uint64 { return l.hasher.Hash(key) }

// HashString returns the hash of a string's bytes.
func (l *Live) HashString(key string) uint64 { return l.hasher.HashString(key) }

// HashUint64 returns the hash of a uint64's eight little-endian bytes.
func (l *Live) HashUint64(key uint64) uint64 { return l.hasher.HashUint64(key) }

// Add adds key to the filter in use and, during a Rebuild, to its successor. It costs what Concurrent's does for each, and a count of the keys that are new: together about twice as much. Where there is neither it does nothing and counts as failed: the first Rebuild
// finds the key in the store.
func (l *Live) Add(key []byte) { l.AddIfAbsentHash(l.Hash(key)) }

// AddString adds the bytes of a string, without a copy.
func (l *Live) AddString(key string) { l.AddIfAbsentHash(l.HashString(key)) }

// AddUint64 adds the eight little-endian bytes of a uint64.
func (l *Live) AddUint64(key uint64) { l.AddIfAbsentHash(l.HashUint64(key)) }

// AddHash adds the key that has hash h, with the filter's seed.
func (l *Live) AddHash(h uint64) { l.AddIfAbsentHash(h) }

// AddIfAbsent adds key as Add does and reports whether it was new to the filter in use: certainly not there before, and no other goroutine is told so of this key, where the store had it before the call, so that a Rebuild does not make it new once
// more. Where the filter is swapped during the calls for one key, it can be that none is told. Where there is no filter yet it reports false.
func (l *Live) AddIfAbsent(key []byte) (added bool) { return l.AddIfAbsentHash(l.Hash(key)) }

// AddIfAbsentString is AddIfAbsent for the bytes of a string.
func (l *Live) AddIfAbsentString(key string) (added bool) {
	return l.AddIfAbsentHash(l.HashString(key))
}

// AddIfAbsentUint64 is AddIfAbsent for the eight little-endian bytes of a uint64.
func (l *Live) AddIfAbsentUint64(key uint64) (added bool) {
	return l.AddIfAbsentHash(l.HashUint64(key))
}

// AddIfAbsentHash is AddIfAbsent for the key that has hash h, with the filter's seed.
func (l *Live) AddIfAbsentHash(h uint64) (added bool) {
	s := l.state.Load()
	// The successor comes first: whoever is told by the filter in use that a key is new has put it into the successor, so that nobody is told again after the swap.
	toNext := s.next != nil && s.next.AddIfAbsentHash(h)
	added = s.now != nil && s.now.AddIfAbsentHash(h)
	if now := l.state.Load(); now != s {
		added = l.addAgain(s, now, h, toNext, added)
	} else if s.now == nil {
		if s.next == nil {
			l.failedAdds.Add(1)
		} else {
			s.next.only.count(h)
		}
	}
	if added {
		l.state.Load().now.adds.count(h)
	}
	return added
}

// addAgain goes on with an add that saw the state s, which had become now when it was done: what is in use then must have the key, and has the say whether it was new. inNext and inNow are
// the answers of s.
func (l *Live) addAgain(s, now *liveState, h uint64, inNext, inNow bool) (added bool) {
	for now != s {
		was, wasNext, wasNow := s, inNext, inNow
		s = now
		switch {
		case s.next == nil:
			inNext = false
		case s.next == was.next:
			inNext = wasNext
		default:
			inNext = s.next.AddIfAbsentHash(h)
		}
		switch {
		case s.now == nil:
			inNow = false
		case s.now == was.now:
			inNow = wasNow
		case s.now == was.next:
			inNow = wasNext && wasNow // who was first in one of them only may not be the only one
		default:
			inNow = s.now.AddIfAbsentHash(h)
		}
		now = l.state.Load()
	}
	return inNow
}

// MayContain reports whether key may be in the store: false is certain of every key whose Add happened before, true is wrong with the filter's false positive rate, and before the first Rebuild it says nothing. It costs what
// Concurrent's does.
func (l *Live) MayContain(key []byte) bool { return l.MayContainHash(l.Hash(key)) }

// MayContainString is MayContain for the bytes of a string, without a copy.
func (l *Live) MayContainString(key string) bool { return l.MayContainHash(l.HashString(key)) }

// MayContainUint64 is MayContain for the eight little-endian bytes of a uint64.
func (l *Live) MayContainUint64(key uint64) bool { return l.MayContainHash(l.HashUint64(key)) }

// MayContainHash is MayContain for the key that has hash h, with the filter's seed.
func (l *Live) MayContainHash(h uint64) bool {
	f := l.state.Load().now
	return f == nil || f.MayContainHash(h)
}

// AddHashes adds the keys that have the hashes hs, with the filter's seed, in order. hs is only read.
func (l *Live) AddHashes(hs []uint64) {
	for i, h := range hs {
		if i%prefetchWindow == 0 {
			l.prefetch(hs[i:])
		}
		l.AddIfAbsentHash(h)
	}
}

// prefetch fetches the blocks of the first hashes.
func (l *Live) prefetch(hs []uint64) {
	s := l.state.Load()
	if s.now != nil {
		s.now.f.prefetchFirst(hs)
	}
	if s.next != nil {
		s.next.f.prefetchFirst(hs)
	}
}

// AddIfAbsentHashes adds the keys that have the hashes hs, in order, and sets added[i] as AddIfAbsentHash does. It panics if len(added) < len(hs).
func (l *Live) AddIfAbsentHashes(added []bool, hs []uint64) {
	added = added[:len(hs)]
	for i, h := range hs {
		if i%prefetchWindow == 0 {
			l.prefetch(hs[i:])
		}
		added[i] = l.AddIfAbsentHash(h)
	}
}

// AddKeys adds keys, in order.
func (l *Live) AddKeys(keys [][]byte) {
	var hs [prefetchWindow]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		l.hasher.hashKeys(hs[:n], keys)
		l.AddHashes(hs[:n])
		keys = keys[n:]
	}
}

// AddStrings adds the bytes of strings, in order.
func (l *Live) AddStrings(keys []string) {
	var hs [prefetchWindow]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		l.hasher.hashStrings(hs[:n], keys)
		l.AddHashes(hs[:n])
		keys = keys[n:]
	}
}

// AddUint64s adds the eight little-endian bytes of each key, in order.
func (l *Live) AddUint64s(keys []uint64) {
	var hs [prefetchWindow]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hs))
		l.hasher.hashUint64s(hs[:n], keys)
		l.AddHashes(hs[:n])
		keys = keys[n:]
	}
}

// MayContainHashes sets dst[i] to whether the key with hash hs[i] may be in the store: all of them asked of one filter. It panics if len(dst) < len(hs), and leaves what dst has beyond that alone.
func (l *Live) MayContainHashes(dst []bool, hs []uint64) {
	f := l.state.Load().now
	if f == nil {
		setAll(dst[:len(hs)])
		return
	}
	f.MayContainHashes(dst, hs)
}

// MayContainKeys sets dst[i] to whether keys[i] may be in the store. It panics if len(dst) < len(keys).
func (l *Live) MayContainKeys(dst []bool, keys [][]byte) {
	f := l.state.Load().now
	if f == nil {
		setAll(dst[:len(keys)])
		return
	}
	f.MayContainKeys(dst, keys)
}

// MayContainStrings sets dst[i] to whether the bytes of keys[i] may be in the store. It panics if len(dst) < len(keys).
func (l *Live) MayContainStrings(dst []bool, keys []string) {
	f := l.state.Load().now
	if f == nil {
		setAll(dst[:len(keys)])
		return
	}
	f.MayContainStrings(dst, keys)
}

// MayContainUint64s sets dst[i] to whether keys[i], as eight little-endian bytes, may be in the store. It panics if len(dst) < len(keys).
func (l *Live) MayContainUint64s(dst []bool, keys []uint64) {
	f := l.state.Load().now
	if f == nil {
		setAll(dst[:len(keys)])
		return
	}
	f.MayContainUint64s(dst, keys)
}

// SelectHashes appends to sel the positions i, in rising order, of those hs[i] that may be in the store, as [Filter.SelectHashes] does.
func (l *Live) SelectHashes(sel []uint32, hs []uint64) []uint32 {
	f := l.state.Load().now
	if f == nil {
		return selectAll(sel, len(hs))
	}
	return f.SelectHashes(sel, hs)
}

// SelectKeys appends to sel the positions of the keys that may be in the store, as SelectHashes does.
func (l *Live) SelectKeys(sel []uint32, keys [][]byte) []uint32 {
	f := l.state.Load().now
	if f == nil {
		return selectAll(sel, len(keys))
	}
	return f.SelectKeys(sel, keys)
}

// SelectStrings appends to sel the positions of the keys that may be in the store, as SelectHashes does.
func (l *Live) SelectStrings(sel []uint32, keys []string) []uint32 {
	f := l.state.Load().now
	if f == nil {
		return selectAll(sel, len(keys))
	}
	return f.SelectStrings(sel, keys)
}

// SelectUint64s appends to sel the positions of the keys that may be in the store, as SelectHashes does.
func (l *Live) SelectUint64s(sel []uint32, keys []uint64) []uint32 {
	f := l.state.Load().now
	if f == nil {
		return selectAll(sel, len(keys))
	}
	return f.SelectUint64s(sel, keys)
}

// Snapshot returns a copy of the filter in use with every key whose Add happened before, or a zero Filter where there is none yet. [Live.Restore] takes it.
func (l *Live) Snapshot() *Filter {
	f := l.state.Load().now
	if f == nil {
		return &Filter{}
	}
	return f.Snapshot()
}

// Save writes a snapshot of the filter in use to the file at path, as [Filter.Save] does. Where there is none yet the error wraps ErrParameter.
func (l *Live) Save(path string) error { return l.Snapshot().Save(path) }

// Health is how a Live does.
type Health struct {
	Built      bool          // a filter is in use: before, every lookup reports "may contain"
	Age        time.Duration // since the last Rebuild that succeeded, or Restore
	BuildTime  time.Duration // how long that took
	Rebuilding bool          // one is under way

	Rebuilds       uint64 // that succeeded, and Restores
	FailedRebuilds uint64 // that left the filter in use as it was
	LastError      error  // of the last failed one, or nil

	Planned    uint64 // keys that the filter in use was planned for
	Adds       uint64 // since the last Rebuild, of keys that were new to it
	FailedAdds uint64 // that no filter in use took: before the first Rebuild that succeeded, but for those during it, and by a Rebuild's add after its end

	Geometry    Geometry // of the filter in use
	Cardinality uint64   // its estimated number of different keys
	Fill        float64  // share of its bits that are set, 0 to 1
	PlannedFill float64  // what is to be expected with the keys that it was planned for
	Rate        float64  // its false positive rate as it stands, 0 to 1
	PlannedRate float64  // the p that it was planned for
}

// Health tells how the filter in use does, and whether a Rebuild is due: when Rate has passed PlannedRate, Cardinality and Planned say how much larger the next filter must be. It costs one pass over the memory of the filter in use; a
// Rebuild that ends meanwhile does not mix into it.
func (l *Live) Health() Health {
	f := l.state.Load().now
	h := Health{
		Built: f != nil, Rebuilding: l.rebuilding.Load(), Rebuilds: l.rebuilds.Load(), FailedRebuilds: l.failures.Load(), FailedAdds: l.failedAdds.Load(),
	}
	if err := l.lastError.Load(); err != nil {
		h.LastError = *err
	}
	if f == nil {
		return h
	}
	h.Age, h.BuildTime = time.Since(f.since), f.since.Sub(f.began)
	h.Planned, h.PlannedRate, h.PlannedFill = f.n, f.p, f.f.fillFor(f.n)
	h.Adds = f.adds.sum()
	s := f.Stats()
	h.Geometry, h.Cardinality, h.Fill, h.Rate = s.Geometry, s.Cardinality, s.Fill, s.FalsePositiveRate
	return h
}

// fillFor returns the share of bits that n keys are expected to set: the inverse of cardinality.
func (f *header) fillFor(n uint64) float64 {
	return -math.Expm1(float64(n) * math.Log1p(-f.bitChance()/float64(f.blocks)))
}
