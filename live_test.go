package blocked

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func mustLive(t testing.TB, opts ...Option) *Live {
	t.Helper()
	l, err := NewLive(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fillWith returns a fill function that adds ints.
func fillWith(ints ...uint64) func(add func(key []byte)) error {
	return func(add func(key []byte)) error {
		each(keysOf(ints), add)
		return nil
	}
}

func mustRebuild(t testing.TB, l *Live, n uint64, p float64, ints ...uint64) {
	t.Helper()
	if err := l.Rebuild(context.Background(), n, p, fillWith(ints...)); err != nil {
		t.Fatal(err)
	}
}

var liveAdds = map[string]func(l *Live, ints []uint64){
	"AddUint64":         func(l *Live, ints []uint64) { each(ints, l.AddUint64) },
	"Add":               func(l *Live, ints []uint64) { each(keysOf(ints), l.Add) },
	"AddString":         func(l *Live, ints []uint64) { each(stringsOf(ints), l.AddString) },
	"AddHash":           func(l *Live, ints []uint64) { each(hashesOf(l, ints), l.AddHash) },
	"AddIfAbsent":       func(l *Live, ints []uint64) { each(keysOf(ints), func(k []byte) { l.AddIfAbsent(k) }) },
	"AddIfAbsentString": func(l *Live, ints []uint64) { each(stringsOf(ints), func(k string) { l.AddIfAbsentString(k) }) },
	"AddIfAbsentUint64": func(l *Live, ints []uint64) { each(ints, func(k uint64) { l.AddIfAbsentUint64(k) }) },
	"AddIfAbsentHash":   func(l *Live, ints []uint64) { each(hashesOf(l, ints), func(h uint64) { l.AddIfAbsentHash(h) }) },
	"AddKeys":           func(l *Live, ints []uint64) { l.AddKeys(keysOf(ints)) },
	"AddStrings":        func(l *Live, ints []uint64) { l.AddStrings(stringsOf(ints)) },
	"AddUint64s":        func(l *Live, ints []uint64) { l.AddUint64s(ints) },
	"AddHashes":         func(l *Live, ints []uint64) { l.AddHashes(hashesOf(l, ints)) },
	"AddIfAbsentHashes": func(l *Live, ints []uint64) { l.AddIfAbsentHashes(make([]bool, len(ints)), hashesOf(l, ints)) },
}

// checkLive compares all forms of lookup with want.
func checkLive(t *testing.T, l *Live, asked []uint64, want []bool) {
	t.Helper()
	keys, strs, hs := keysOf(asked), stringsOf(asked), hashesOf(l, asked)
	var sel []uint32
	for i, x := range asked {
		if want[i] {
			sel = append(sel, uint32(i))
		}
		if l.MayContainUint64(x) != want[i] || l.MayContain(keys[i]) != want[i] || l.MayContainString(strs[i]) != want[i] || l.MayContainHash(hs[i]) != want[i] {
			t.Fatalf("key %#x: want %v", x, want[i])
		}
		if l.Hash(keys[i]) != hs[i] || l.HashString(strs[i]) != hs[i] {
			t.Fatal("hashes differ")
		}
	}
	for form, ask := range map[string]func(dst []bool){
		"MayContainUint64s": func(dst []bool) { l.MayContainUint64s(dst, asked) },
		"MayContainKeys":    func(dst []bool) { l.MayContainKeys(dst, keys) },
		"MayContainStrings": func(dst []bool) { l.MayContainStrings(dst, strs) },
		"MayContainHashes":  func(dst []bool) { l.MayContainHashes(dst, hs) },
	} {
		got := make([]bool, len(asked)+1)
		if ask(got); !slices.Equal(got[:len(asked)], want) || got[len(asked)] {
			t.Fatalf("%s differs", form)
		}
	}
	for form, got := range map[string][]uint32{
		"SelectUint64s": l.SelectUint64s(nil, asked), "SelectKeys": l.SelectKeys(nil, keys), "SelectStrings": l.SelectStrings(nil, strs), "SelectHashes": l.SelectHashes(nil, hs),
	} {
		if !slices.Equal(got, sel) {
			t.Fatalf("%s differs", form)
		}
	}
}

// TestLiveForms goes through a life in all forms of adds and lookups: nothing known, a first filter, a second one, adds before, during and after.
func TestLiveForms(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, add := range liveAdds {
			l := mustLive(t, WithSeed(8))
			all := make([]uint64, 400)
			for i := range all {
				all[i] = uint64(i) << 20
			}
			mays := func(ranges ...int) []bool {
				want := make([]bool, len(all))
				for ; len(ranges) > 0; ranges = ranges[2:] {
					setAll(want[ranges[0]:ranges[1]])
				}
				return want
			}
			add(l, all[:10])
			checkLive(t, l, all, mays(0, 400))
			// The first: what was added before is lost but for what the store has.
			if err := l.Rebuild(context.Background(), 1000, 1e-6, func(insert func(key []byte)) error {
				add(l, all[20:40])
				checkLive(t, l, all, mays(0, 400))
				each(keysOf(all[5:15]), insert)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			checkLive(t, l, all, mays(5, 15, 20, 40))
			add(l, all[100:200])
			checkLive(t, l, all, mays(5, 15, 20, 40, 100, 200))
			// The second: the old one answers until the swap, and both get what is added.
			if err := l.Rebuild(context.Background(), 1000, 1e-6, func(insert func(key []byte)) error {
				add(l, all[200:250])
				each(keysOf(all[300:350]), insert)
				checkLive(t, l, all, mays(5, 15, 20, 40, 100, 250))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			checkLive(t, l, all, mays(200, 250, 300, 350))
			// Three that fail.
			ctx, cancel := context.WithCancelCause(context.Background())
			errFill := errors.New("the store is gone")
			for i, fill := range []func(){
				func() {
					if err := l.Rebuild(ctx, 1000, 1e-6, func(func(key []byte)) error { add(l, all[0:1]); return errFill }); !errors.Is(err, errFill) {
						t.Fatal(err)
					}
				},
				func() {
					defer func() { recover() }()
					l.Rebuild(ctx, 1000, 1e-6, func(func(key []byte)) error { add(l, all[1:2]); panic("!") })
				},
				func() {
					if err := l.Rebuild(ctx, 1000, 1e-6, func(func(key []byte)) error { add(l, all[2:3]); cancel(errFill); return nil }); !errors.Is(err, errFill) {
						t.Fatal(err)
					}
				},
				func() {
					if err := l.Rebuild(ctx, 1000, 1e-6, fillWith()); !errors.Is(err, errFill) {
						t.Fatal(err)
					}
				},
			} {
				fill()
				checkLive(t, l, all, mays(0, min(i+1, 3), 200, 250, 300, 350))
				if h := l.Health(); h.FailedRebuilds != uint64(i+1) || h.Rebuilds != 2 || h.Rebuilding || h.LastError == nil || l.state.Load().next != nil {
					t.Fatalf("%+v", h)
				}
			}
			add(l, all[3:4])
			checkLive(t, l, all, mays(0, 4, 200, 250, 300, 350))
		}
	})
}

// TestLiveHealth: every field.
func TestLiveHealth(t *testing.T) {
	l := mustLive(t)
	if h := l.Health(); h != (Health{}) {
		t.Errorf("%+v", h)
	}
	l.AddUint64(1)
	var late func(key []byte)
	ints := make([]uint64, 10000)
	for i := range ints {
		ints[i] = uint64(i)
	}
	if err := l.Rebuild(context.Background(), 10000, 0.01, func(add func(key []byte)) error {
		late = add
		time.Sleep(3 * time.Millisecond)
		if !l.Health().Rebuilding {
			t.Error("Health says that nothing is being rebuilt")
		}
		return fillWith(ints...)(add)
	}); err != nil {
		t.Fatal(err)
	}
	late([]byte("late"))
	if l.MayContainString("late") {
		t.Error("an add after the end of the rebuild was taken")
	}
	for i := range uint64(100) {
		l.AddUint64(1<<50 + i)
		l.AddUint64(1<<50 + i)
	}
	h := l.Health()
	g, _ := Plan(10000, 0.01)
	if !h.Built || h.Age <= 0 || h.Age > time.Minute || h.BuildTime < 3*time.Millisecond || h.BuildTime > time.Minute || h.Rebuilding || h.Rebuilds != 1 || h.FailedRebuilds != 0 || h.LastError != nil ||
		h.Planned != 10000 || h.FailedAdds != 2 || h.Geometry != g || h.PlannedRate != 0.01 {
		t.Errorf("%+v", h)
	}
	if h.Adds < 95 || h.Adds > 100 { // a few are false positives
		t.Errorf("Adds = %d", h.Adds)
	}
	if math.Abs(h.Fill-h.PlannedFill) > 0.02 || math.Abs(h.Rate-h.PlannedRate) > 0.002 || h.Cardinality < 9900 || h.Cardinality > 10300 {
		t.Errorf("%+v", h)
	}
	if f := l.Snapshot(); f.Fill() != h.Fill {
		t.Error("Fill is not the snapshot's")
	}
}

// TestLiveBusy: one Rebuild at a time.
func TestLiveBusy(t *testing.T) {
	l := mustLive(t)
	if err := l.Rebuild(context.Background(), 10, 0.01, func(func(key []byte)) error {
		if err := l.Rebuild(context.Background(), 10, 0.01, fillWith()); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		if err := l.Restore(mustNew(t, 10, 0.01), 10, 0.01); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	mustRebuild(t, l, 10, 0.01)
}

// TestLiveErrors: parameters, and what Restore refuses.
func TestLiveErrors(t *testing.T) {
	if _, err := NewLive(WithNonScaling()); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	l := mustLive(t, WithSeed(3), WithMaxBytes(1<<20))
	if err := l.Rebuild(context.Background(), 10, 2, fillWith()); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if err := l.Rebuild(context.Background(), 10_000_000, 0.01, fillWith()); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if err := l.Save(filepath.Join(t.TempDir(), "f")); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	for _, f := range []*Filter{mustNew(t, 10, 0.01), mustNew(t, 10, 0.01, WithSeed(3), WithCallerHash())} {
		if err := l.Restore(f, 10, 0.01); !errors.Is(err, ErrMismatch) || f.Geometry().Blocks == 0 {
			t.Error(err)
		}
	}
	if err := l.Restore(&Filter{}, 10, 0.01); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	for _, p := range []float64{0, 1, math.NaN()} {
		if err := l.Restore(mustNew(t, 10, 0.01, WithSeed(3)), 10, p); !errors.Is(err, ErrParameter) {
			t.Errorf("p = %v: %v", p, err)
		}
	}
	if l.Health().Built || !l.MayContainString("anything") {
		t.Error("a filter is in use after errors")
	}
}

// TestLiveHashes: hashes of the caller's own making, from the first Rebuild to a file.
func TestLiveHashes(t *testing.T) {
	l := mustLive(t, WithCallerHash())
	if err := l.Rebuild(context.Background(), 100, 1e-6, fillWith(1)); !errors.Is(err, ErrMismatch) || !l.MayContainHash(77) {
		t.Fatal(err)
	}
	if err := l.RebuildHashes(context.Background(), 100, 1e-6, func(add func(h uint64)) error {
		for h := range uint64(50) {
			add(mul1 * h)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for h := range uint64(50) {
		if !l.MayContainHash(mul1 * h) {
			t.Fatalf("hash %d is absent", h)
		}
	}
	if h := uint64(51); l.MayContainHash(mul1*h) || !l.Snapshot().callerHash {
		t.Error("a hash that was not added is found, or the snapshot's hash is XXH3-64")
	}
}

// TestLiveOptions: what the caller does with its options later is of no account.
func TestLiveOptions(t *testing.T) {
	opts := []Option{WithSeed(1)}
	l := mustLive(t, opts...)
	opts[0] = WithSeed(2)
	mustRebuild(t, l, 100, 1e-6, 5)
	if !l.MayContainUint64(5) {
		t.Error("the filter has another seed than the lookups")
	}
}

// TestLiveFailedFirst: keys that only a first Rebuild which failed had taken count as failed.
func TestLiveFailedFirst(t *testing.T) {
	l := mustLive(t)
	errFill := errors.New("store")
	if err := l.Rebuild(context.Background(), 100, 1e-6, func(func(key []byte)) error {
		l.AddUint64(1)
		return errFill
	}); !errors.Is(err, errFill) {
		t.Fatal(err)
	}
	if h := l.Health(); h.FailedAdds != 1 || h.Adds != 0 {
		t.Errorf("%+v", h)
	}
	if err := l.Rebuild(context.Background(), 100, 1e-6, func(func(key []byte)) error {
		l.AddUint64(2)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if h := l.Health(); h.FailedAdds != 1 || !l.MayContainUint64(2) || l.MayContainUint64(1) {
		t.Errorf("%+v", h)
	}
}

// TestLiveRestore: what was saved is found again.
func TestLiveRestore(t *testing.T) {
	l := mustLive(t, WithSeed(3))
	mustRebuild(t, l, 100, 1e-6, 1, 2, 3)
	l.AddUint64(4)
	path := filepath.Join(t.TempDir(), "filter")
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	f := l.Snapshot()
	f.Reset()
	if err := f.Union(m); err != nil {
		t.Fatal(err)
	}
	full := f.Clone() // with a lane 0 that is full
	fill(full.Bits()[:8], 0xff)
	full.Bits()[8] = 0
	l2 := mustLive(t, WithSeed(3))
	if err := l2.Restore(full, 100, 1e-6); err != nil {
		t.Fatal(err)
	}
	for x := range uint64(1000) { // some of them into that block
		l2.AddUint64(x)
	}
	again := mustLive(t, WithSeed(3))
	if err := again.Restore(f, 100, 1e-6); err != nil {
		t.Fatal(err)
	}
	again.AddUint64(5)
	checkLive(t, again, []uint64{1, 2, 3, 4, 5, 6}, []bool{true, true, true, true, true, false})
	if h := again.Health(); h.Rebuilds != 1 || h.Adds != 1 || h.Planned != 100 || f.Geometry().Blocks != 0 {
		t.Errorf("%+v", h)
	}
}

// TestLiveOrders shows what the documentation says of the order in which store and filter are written.
func TestLiveOrders(t *testing.T) {
	// Add first: a Rebuild between the two misses the key.
	l := mustLive(t)
	mustRebuild(t, l, 100, 1e-6)
	store := []uint64{}
	l.AddUint64(7)
	mustRebuild(t, l, 100, 1e-6, store...)
	store = append(store, 7)
	if l.MayContainUint64(7) {
		t.Error("the key was not lost")
	}
	l.AddUint64(7) // the second Add
	if !l.MayContainUint64(7) {
		t.Error("the key is absent after the second Add")
	}
	// Add, store, Add: a Rebuild that ends between the last two, and has read the store before, leaves a gap until the second Add.
	l.AddUint64(9)
	if err := l.Rebuild(context.Background(), 100, 1e-6, func(add func(key []byte)) error {
		err := fillWith(store...)(add)
		store = append(store, 9)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if l.MayContainUint64(9) {
		t.Error("the key was found in the gap")
	}
	if l.AddUint64(9); !l.MayContainUint64(9) {
		t.Error("the key is absent after the second Add")
	}
	// Store first: a lookup between the two misses it, a Rebuild does not.
	store = append(store, 8)
	if l.MayContainUint64(8) {
		t.Error("the key was found before it was added")
	}
	mustRebuild(t, l, 100, 1e-6, store...)
	if !l.MayContainUint64(8) {
		t.Error("the key is absent after the Rebuild that read it")
	}
}

// TestLiveAddedOnce: of goroutines that add the same keys at once, never two are told of one, while filters are swapped.
func TestLiveAddedOnce(t *testing.T) {
	needsPreemption(t)
	eachKernel(t, func(t *testing.T) {
		const goroutines, keys = 4, 20000
		l := mustLive(t)
		mustRebuild(t, l, 10*keys, 1e-6)
		told := make([]atomic.Int32, keys)
		var done atomic.Uint64 // keys that all have added
		var each [goroutines]atomic.Uint64
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for i := range uint64(keys) {
					each[g].Store(i + 1) // the store first
					if l.AddIfAbsentUint64(i) {
						told[i].Add(1)
					}
				}
			})
		}
		rebuilds := 0
		for done.Load() < keys {
			least := uint64(keys)
			for g := range each {
				least = min(least, each[g].Load())
			}
			if err := l.Rebuild(context.Background(), 10*keys, 1e-6, func(add func(key []byte)) error {
				most := uint64(0)
				for g := range each {
					most = max(most, each[g].Load())
				}
				for i := range most { // what anybody has stored; what comes now is added to both filters
					add(binary.LittleEndian.AppendUint64(nil, i))
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			rebuilds++
			done.Store(least)
		}
		wg.Wait()
		none := 0
		for i := range told {
			switch n := told[i].Load(); n {
			case 0:
				none++
			case 1:
			default:
				t.Fatalf("%d goroutines were told that key %d is new", n, i)
			}
		}
		if none > keys/10 {
			t.Errorf("of %d keys nobody was told", none)
		}
	})
}

// TestLiveSwappedDuringAdd: of an add that saw the swap, the answer is yes only where it was first in both filters: who was first in one of them, another may have been told by the other.
func TestLiveSwappedDuringAdd(t *testing.T) {
	for _, c := range []struct{ inNext, inNow, want bool }{{true, true, true}, {true, false, false}, {false, true, false}, {false, false, false}} {
		l := mustLive(t)
		mustRebuild(t, l, 100, 1e-6)
		var s, now *liveState
		if err := l.Rebuild(context.Background(), 100, 1e-6, func(func(key []byte)) error {
			s = l.state.Load()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		now = l.state.Load()
		if got := l.addAgain(s, now, 99, c.inNext, c.inNow); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
		// From before the Rebuild to after it: the new filter has not been asked.
		if !l.addAgain(&liveState{now: s.now}, now, 99, false, c.inNow) || !l.MayContainHash(99) {
			t.Error("the filter in use was not asked, or has not got the key")
		}
	}
}

// TestStressLive hammers adds, lookups and rebuilds, some of which fail, and checks every answer against an exact set.
func TestStressLive(t *testing.T) {
	needsPreemption(t)
	until := time.Now().Add(stressTime(t))
	for round := 0; round == 0 || time.Now().Before(until); round++ {
		eachKernel(t, func(t *testing.T) {
			l := mustLive(t)
			mustRebuild(t, l, 1000, 0.01)
			const writers, keys = 3, 10000
			var mu sync.Mutex
			store := map[uint64]bool{}
			var acknowledged [writers]atomic.Uint64
			var writing, others sync.WaitGroup
			var stop atomic.Bool
			var rebuilds atomic.Uint64
			key := func(w, i uint64) uint64 { return w<<40 | i }
			for w := range uint64(writers) {
				writing.Go(func() {
					for i := uint64(0); i < keys || rebuilds.Load() < 4 && i < 20*keys; i++ {
						k := key(w, i)
						switch w { // each of the orders that lose nothing
						case 0:
							mu.Lock()
							store[k] = true
							mu.Unlock()
							l.AddUint64(k)
						case 1:
							l.AddUint64(k)
							mu.Lock()
							store[k] = true
							mu.Unlock()
							l.AddUint64s([]uint64{k})
						default:
							mu.Lock()
							store[k] = true
							mu.Unlock()
							l.AddIfAbsentUint64(k)
						}
						acknowledged[w].Store(i + 1)
						if !l.MayContainUint64(k) {
							t.Errorf("key %#x is absent after its add", k)
							return
						}
					}
				})
				others.Go(func() {
					r := rand.New(rand.NewPCG(uint64(round), w))
					batch, may := make([]uint64, 64), make([]bool, 64)
					for !stop.Load() {
						n := acknowledged[w].Load()
						if n == 0 {
							continue
						}
						if k := key(w, r.Uint64N(n)); !l.MayContainUint64(k) {
							t.Errorf("key %#x is absent", k)
							return
						}
						for i := range batch {
							batch[i] = key(w, n-1-min(n-1, uint64(i)))
						}
						if l.MayContainUint64s(may, batch); slices.Contains(may, false) {
							t.Error("a key is absent, in a batch")
							return
						}
					}
				})
			}
			failed := uint64(0)
			errFill := errors.New("store")
			others.Go(func() {
				for i := 0; !stop.Load(); i++ {
					ctx, cancel := context.WithCancel(context.Background())
					n := uint64(100)
					if i%2 == 0 {
						n = 2 * writers * keys
					}
					err := l.Rebuild(ctx, n, 0.01, func(add func(key []byte)) error {
						mu.Lock()
						snapshot := make([]uint64, 0, len(store))
						for k := range store {
							snapshot = append(snapshot, k)
						}
						mu.Unlock()
						half := len(snapshot) / 2
						var wg sync.WaitGroup
						wg.Go(func() { each(keysOf(snapshot[:half]), add) })
						each(keysOf(snapshot[half:]), add)
						wg.Wait()
						switch i % 5 {
						case 3:
							cancel()
						case 4:
							return errFill
						}
						return nil
					})
					cancel()
					if err != nil {
						if !errors.Is(err, errFill) && !errors.Is(err, context.Canceled) {
							t.Error(err)
						}
						failed++
					} else {
						rebuilds.Add(1)
					}
					l.Health()
				}
			})
			writing.Wait()
			stop.Store(true)
			others.Wait()
			for k := range store {
				if !l.MayContainUint64(k) {
					t.Fatalf("key %#x is absent in the end", k)
				}
			}
			if h := l.Health(); h.Rebuilds != rebuilds.Load()+1 || h.FailedRebuilds != failed || h.Rebuilds < 3 {
				t.Errorf("%d rebuilds, %d failed: %+v", rebuilds.Load(), failed, h)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// A service that deletes keys, and does not know how many will come, has a fresh filter made from its store from time to time.
func ExampleLive() {
	live, err := NewLive()
	if err != nil {
		panic(err)
	}
	store := map[string]string{"apple": "red", "banana": "yellow"}
	fmt.Println(live.MayContainString("cherry")) // nothing is known yet

	rebuild := func() error {
		n := uint64(2*len(store) + 1000) // room for what comes until the next one
		return live.Rebuild(context.Background(), n, 0.001, func(add func(key []byte)) error {
			for key := range store {
				add([]byte(key))
			}
			return nil
		})
	}
	if err := rebuild(); err != nil {
		panic(err)
	}
	store["date"] = "brown" // the store first,
	live.AddString("date")  // then the filter
	delete(store, "apple")
	fmt.Println(live.MayContainString("apple"), live.MayContainString("date"), live.MayContainString("cherry"))

	if h := live.Health(); h.Adds > 0 { // or when h.Rate has passed h.PlannedRate, or by the clock
		if err := rebuild(); err != nil {
			panic(err)
		}
	}
	fmt.Println(live.MayContainString("apple"), live.MayContainString("date"))
	// Output:
	// true
	// true true false
	// false true
}
