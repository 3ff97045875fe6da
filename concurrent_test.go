package blocked

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func mustConcurrent(t testing.TB, g Geometry, opts ...Option) *Concurrent {
	t.Helper()
	c, err := NewConcurrentGeometry(g, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// concurrentAdds are the ways to add the hashes or keys with the numbers ints.
var concurrentAdds = map[string]func(c *Concurrent, ints []uint64){
	"AddUint64":         func(c *Concurrent, ints []uint64) { each(ints, c.AddUint64) },
	"Add":               func(c *Concurrent, ints []uint64) { each(keysOf(ints), c.Add) },
	"AddString":         func(c *Concurrent, ints []uint64) { each(stringsOf(ints), c.AddString) },
	"AddHash":           func(c *Concurrent, ints []uint64) { each(hashesOf(c, ints), c.AddHash) },
	"AddIfAbsent":       func(c *Concurrent, ints []uint64) { each(keysOf(ints), func(k []byte) { c.AddIfAbsent(k) }) },
	"AddIfAbsentString": func(c *Concurrent, ints []uint64) { each(stringsOf(ints), func(k string) { c.AddIfAbsentString(k) }) },
	"AddIfAbsentUint64": func(c *Concurrent, ints []uint64) { each(ints, func(k uint64) { c.AddIfAbsentUint64(k) }) },
	"AddIfAbsentHash":   func(c *Concurrent, ints []uint64) { each(hashesOf(c, ints), func(h uint64) { c.AddIfAbsentHash(h) }) },
	"AddKeys":           func(c *Concurrent, ints []uint64) { c.AddKeys(keysOf(ints)) },
	"AddStrings":        func(c *Concurrent, ints []uint64) { c.AddStrings(stringsOf(ints)) },
	"AddUint64s":        func(c *Concurrent, ints []uint64) { c.AddUint64s(ints) },
	"AddHashes":         func(c *Concurrent, ints []uint64) { c.AddHashes(hashesOf(c, ints)) },
	"AddIfAbsentHashes": func(c *Concurrent, ints []uint64) { c.AddIfAbsentHashes(make([]bool, len(ints)), hashesOf(c, ints)) },
}

func keysOf(ints []uint64) (keys [][]byte) {
	for _, x := range ints {
		keys = append(keys, []byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24), byte(x >> 32), byte(x >> 40), byte(x >> 48), byte(x >> 56)})
	}
	return keys
}

func stringsOf(ints []uint64) (keys []string) {
	for _, key := range keysOf(ints) {
		keys = append(keys, string(key))
	}
	return keys
}

func hashesOf(c interface{ HashUint64(uint64) uint64 }, ints []uint64) (hs []uint64) {
	for _, x := range ints {
		hs = append(hs, c.HashUint64(x))
	}
	return hs
}

// TestConcurrentBits: one goroutine that adds gets the bits and the answers of a Filter, in filters that are far too full as well, where whole lanes are.
func TestConcurrentBits(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 5))
		for k := 1; k <= 16; k++ {
			for _, blocks := range []uint64{1, 3, 97, prefetchBytes/blockBytes + 3} {
				if blocks > 97 && (testing.Short() || k%4 != 0) {
					continue
				}
				g := Geometry{blocks, k}
				ints := make([]uint64, 1500)
				for i := range ints {
					ints[i] = r.Uint64() >> (i % 3 * 20)
					if i%7 == 3 {
						ints[i] = ints[r.IntN(i)]
					}
				}
				f, err := NewGeometry(g, WithSeed(9))
				if err != nil {
					t.Fatal(err)
				}
				added := make([]bool, len(ints))
				f.AddIfAbsentHashes(added, hashesOf(f, ints))
				for name, do := range concurrentAdds {
					c := mustConcurrent(t, g, WithSeed(9))
					do(c, ints)
					if !bytes.Equal(c.Snapshot().Bits(), f.Bits()) {
						t.Fatalf("%v: %s sets other bits than a Filter", g, name)
					}
				}
				c := mustConcurrent(t, g, WithSeed(9))
				for i, x := range ints {
					if got := c.AddIfAbsentUint64(x); got != added[i] {
						t.Fatalf("%v: AddIfAbsent of key %d = %v", g, i, got)
					}
				}
				c = mustConcurrent(t, g, WithSeed(9))
				got := make([]bool, len(ints)+1)
				c.AddIfAbsentHashes(got, hashesOf(c, ints))
				if !slices.Equal(got[:len(ints)], added) || got[len(ints)] {
					t.Fatalf("%v: AddIfAbsentHashes has other answers than a Filter", g)
				}
				checkConcurrentLookups(t, c, f, ints)
			}
		}
	})
}

// checkConcurrentLookups compares all forms of lookup with a Filter's.
func checkConcurrentLookups(t *testing.T, c *Concurrent, f *Filter, ints []uint64) {
	t.Helper()
	asked := slices.Clone(ints)
	for i := range uint64(500) {
		asked = append(asked, i<<32|5)
	}
	keys, strs, hs := keysOf(asked), stringsOf(asked), hashesOf(c, asked)
	want := make([]bool, len(asked))
	f.MayContainUint64s(want, asked)
	sel := f.SelectUint64s(nil, asked)
	for i, x := range asked {
		if c.MayContainUint64(x) != want[i] || c.MayContain(keys[i]) != want[i] || c.MayContainString(strs[i]) != want[i] || c.MayContainHash(hs[i]) != want[i] {
			t.Fatalf("%v: key %d: a lookup is not the Filter's", c.Geometry(), i)
		}
		if c.Hash(keys[i]) != hs[i] || c.HashString(strs[i]) != hs[i] {
			t.Fatal("hashes differ")
		}
	}
	for name, do := range map[string]func(dst []bool){
		"MayContainUint64s": func(dst []bool) { c.MayContainUint64s(dst, asked) },
		"MayContainKeys":    func(dst []bool) { c.MayContainKeys(dst, keys) },
		"MayContainStrings": func(dst []bool) { c.MayContainStrings(dst, strs) },
		"MayContainHashes":  func(dst []bool) { c.MayContainHashes(dst, hs) },
	} {
		got := make([]bool, len(asked))
		if do(got); !slices.Equal(got, want) {
			t.Fatalf("%v: %s is not the Filter's", c.Geometry(), name)
		}
	}
	for name, got := range map[string][]uint32{
		"SelectUint64s": c.SelectUint64s(nil, asked), "SelectKeys": c.SelectKeys(nil, keys), "SelectStrings": c.SelectStrings(nil, strs), "SelectHashes": c.SelectHashes(nil, hs),
	} {
		if !slices.Equal(got, sel) {
			t.Fatalf("%v: %s is not the Filter's", c.Geometry(), name)
		}
	}
	if c.Fill() != f.Fill() || c.FalsePositiveRate() != f.FalsePositiveRate() || c.Stats() != f.Stats() || c.Seed() != f.Seed() {
		t.Fatal("the statistics are not the Filter's")
	}
	n, s := c.Cardinality()
	if fn, fs := f.Cardinality(); n != fn || s != fs {
		t.Fatal("Cardinality is not the Filter's")
	}
}

// TestConcurrentDisjoint: goroutines that add different keys, in every form, to few blocks or many, set together the bits that one would: no update is lost.
func TestConcurrentDisjoint(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, g := range []Geometry{{1, 8}, {1, 3}, {2, 13}, {16, 8}, {500, 8}, {500, 4}, {500, 11}, {40000, 8}} {
			const goroutines, keys = 8, 600
			f, err := NewGeometry(g)
			if err != nil {
				t.Fatal(err)
			}
			c := mustConcurrent(t, g)
			rounds := 30
			if testing.Short() {
				rounds = 3
			}
			var wg sync.WaitGroup
			i := uint64(0)
			for range rounds {
				for _, do := range concurrentAdds {
					ints := make([]uint64, keys/20)
					for j := range ints {
						ints[j] = i
						i++
					}
					f.AddUint64s(ints)
					wg.Go(func() {
						do(c, ints)
						for _, x := range ints {
							if !c.MayContainUint64(x) {
								t.Errorf("%v: key %d is absent after its add", g, x)
							}
						}
					})
				}
			}
			wg.Wait()
			if !bytes.Equal(c.Snapshot().Bits(), f.Bits()) {
				t.Fatalf("%v: the bits are not those that one goroutine sets", g)
			}
		}
	})
}

// TestConcurrentInStep: goroutines that go through the blocks in step, so that they meet in each one, at times while one of them holds it. Where they add different keys both are there, at once and in the end; where they add the
// same key, one is told.
func TestConcurrentInStep(t *testing.T) {
	needsPreemption(t)
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 3))
		until := time.Now().Add(stressTime(t) / 2)
		for round := 0; round < 6 || time.Now().Before(until); round++ {
			const goroutines, blocks = 2, 500
			g := Geometry{blocks, []int{8, 5, 12}[round%3]}
			c := mustConcurrent(t, g)
			f := c.Snapshot()
			var hs [goroutines][blocks]uint64
			for i := range uint64(blocks) {
				for j := range hs {
					hs[j][i] = firstHash(i, blocks) + r.Uint64N(1<<54)
				}
				if i%4 == 0 {
					hs[1][i] = hs[0][i]
				}
				for j := range hs {
					f.AddHash(hs[j][i])
				}
			}
			var told [goroutines][blocks]bool
			var arrived [blocks]atomic.Int32
			var wg sync.WaitGroup
			for j := range hs {
				wg.Go(func() {
					for i, h := range hs[j] {
						arrived[i].Add(1)
						for try := 0; arrived[i].Load() < goroutines; try++ {
							if try > 1000 {
								runtime.Gosched()
							}
						}
						told[j][i] = c.AddIfAbsentHash(h)
						if !c.MayContainHash(h) {
							t.Errorf("%v: the key of block %d is absent after its add", g, i)
						}
					}
				})
			}
			wg.Wait()
			if t.Failed() {
				return
			}
			if !bytes.Equal(c.f.Bits(), f.Bits()) {
				t.Fatalf("%v: the bits are not those that one goroutine sets", g)
			}
			for i := range uint64(blocks) {
				if i%4 == 0 && told[0][i] == told[1][i] {
					t.Fatalf("%v: told that the key of block %d was added: %v, %v", g, i, told[0][i], told[1][i])
				}
			}
		}
	})
}

// TestConcurrentAddedOnce: of many goroutines that add the same keys at once, one is told of each.
func TestConcurrentAddedOnce(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, k := range []int{2, 8, 12} {
			const goroutines, keys = 8, 2000
			c := mustConcurrent(t, Geometry{100 * keys, k})
			hs := make([]uint64, keys)
			r := rand.New(rand.NewPCG(uint64(k), 1))
			for i := range hs {
				hs[i] = r.Uint64()
			}
			var told [keys]atomic.Int32
			var wg sync.WaitGroup
			start := make(chan bool)
			for g := range goroutines {
				wg.Go(func() {
					<-start
					if g%2 == 0 {
						added := make([]bool, keys)
						for i := 0; i < keys; i += 100 {
							c.AddIfAbsentHashes(added[i:i+100], hs[i:i+100])
						}
						for i, is := range added {
							if is {
								told[i].Add(1)
							}
						}
						return
					}
					for i, h := range hs {
						if c.AddIfAbsentHash(h) {
							told[i].Add(1)
						}
					}
				})
			}
			close(start)
			wg.Wait()
			for i := range told {
				if n := told[i].Load(); n != 1 {
					t.Fatalf("k = %d: %d goroutines were told that key %d is new", k, n, i)
				}
			}
		}
	})
}

// TestConcurrentHeld: while a block is held its lane 0 proves nothing. An add of a key all of whose other bits are there must wait, and set its bit in lane 0.
func TestConcurrentHeld(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, k := range []int{5, 8, 13} {
			for name, add := range concurrentAdds {
				c := mustConcurrent(t, Geometry{1, k})
				c.full.add(1) // some other block's lane 0 is full: this one's is not
				bits := c.f.Bits()
				fill(bits[8:], 0xff)
				key := uint64(0)
				for c.MayContainUint64(key) { // one that needs lane 0
					key++
				}
				was := c.hold(0)
				if !c.MayContainUint64(key) {
					t.Fatalf("k = %d: a lookup in a held block found lane 0 not full", k)
				}
				done := make(chan bool)
				go func() {
					add(c, []uint64{key})
					close(done)
				}()
				select {
				case <-done:
					t.Fatalf("k = %d: %s did not wait for the block", k, name)
				case <-time.After(5 * time.Millisecond):
				}
				c.letGo(0, was, 0)
				<-done
				if !c.MayContainUint64(key) {
					t.Fatalf("k = %d: %s has lost a key", k, name)
				}
			}
		}
	})
}

// TestConcurrentFullLanes: a lane 0 that is full, from the start or after an add, is no block that is held for ever.
func TestConcurrentFullLanes(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, k := range []int{1, 7, 8, 9, 16} {
			f, err := NewGeometry(Geometry{3, k})
			if err != nil {
				t.Fatal(err)
			}
			fill(f.Bits()[64:72], 0xff)
			fill(f.Bits()[128:136], 0xff)
			f.Bits()[128] = 0x7f // all but one bit
			want := f.Clone()
			c, err := ConcurrentOf(f)
			if err != nil || f.Geometry().Blocks != 0 {
				t.Fatal(err, f.Geometry())
			}
			var wg sync.WaitGroup
			for g := range uint64(4) {
				for i := range uint64(500) {
					want.AddUint64(g<<40 | i)
				}
				wg.Go(func() {
					for i := range uint64(500) {
						c.AddUint64(g<<40 | i)
						if !c.MayContainUint64(g<<40 | i) {
							t.Errorf("k = %d: a key is absent after its add", k)
						}
						if i%100 == 0 {
							c.Snapshot()
						}
					}
				})
			}
			wg.Wait()
			if !bytes.Equal(c.Snapshot().Bits(), want.Bits()) {
				t.Fatalf("k = %d: other bits than a Filter's", k)
			}
			if !c.full.any.Load() {
				t.Fatalf("k = %d: no full lane: the test tests nothing", k)
			}
		}
	})
}

// TestConcurrentSnapshot: a snapshot, in memory, in bytes or in a file, waits for a block that is held, and has none of the ones that hold it.
func TestConcurrentSnapshot(t *testing.T) {
	c := mustConcurrent(t, Geometry{20, 8}, WithSeed(3))
	c.full.add(20)
	c.AddUint64s([]uint64{1, 2, 3})
	want := c.Snapshot()
	path := filepath.Join(t.TempDir(), "filter")
	union := want.Clone()
	for name, take := range map[string]func() *Filter{
		"Snapshot": c.Snapshot,
		"MarshalBinary": func() *Filter {
			data, err := c.MarshalBinary()
			f := new(Filter)
			if err := errors.Join(err, f.UnmarshalBinary(data)); err != nil {
				t.Error(err)
			}
			return f
		},
		"WriteTo": func() *Filter {
			var b bytes.Buffer
			f := new(Filter)
			_, err := c.WriteTo(&b)
			_, err2 := f.ReadFrom(&b)
			if err := errors.Join(err, err2); err != nil {
				t.Error(err)
			}
			return f
		},
		"Save": func() *Filter {
			if err := c.Save(path); err != nil {
				t.Error(err)
			}
			m, err := OpenFile(path)
			if err != nil {
				t.Error(err)
				return new(Filter)
			}
			defer m.Close()
			f := want.Clone()
			f.Reset()
			if err := f.Union(m); err != nil {
				t.Error(err)
			}
			return f
		},
		"Union from it": func() *Filter {
			if err := union.Union(c); err != nil {
				t.Error(err)
			}
			return union
		},
	} {
		i := blockIndex(c.HashUint64(2), 20)
		was := c.hold(i)
		got := make(chan *Filter)
		go func() { got <- take() }()
		select {
		case <-got:
			t.Errorf("%s did not wait for a block that is held", name)
		case <-time.After(20 * time.Millisecond):
			c.letGo(i, was, 0)
			if f := <-got; !bytes.Equal(f.Bits(), want.Bits()) || f.Seed() != 3 {
				t.Errorf("%s has other bits", name)
			}
			continue
		}
		c.letGo(i, was, 0)
	}
}

// TestConcurrentSnapshotMeetsHolders: a copy of a block whose lane 0 was copied while it was being taken or let go, in pieces of which some are all ones and some are not, has no bit that no key set.
func TestConcurrentSnapshotMeetsHolders(t *testing.T) {
	needsPreemption(t)
	c := mustConcurrent(t, Geometry{40, 8})
	for i := range uint64(200) {
		c.AddUint64(i)
	}
	want := c.Snapshot().Bits()
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			for i := range uint64(40) {
				c.letGo(i, c.hold(i), 0)
			}
		}
	})
	until := time.Now().Add(stressTime(t))
	buffer := make([]byte, 0, 64*43)
	for round := 0; time.Now().Before(until); round++ {
		at := round % 64 // the containers' blocks lie anywhere
		data, err := c.AppendBinary(buffer[:at])
		if err != nil {
			t.Fatal(err)
		}
		if got := data[at+headerBytes:]; !bytes.Equal(got, want) {
			t.Errorf("AppendBinary at %d, round %d: other bits than the keys'", at, round)
			break
		}
		if got := c.Snapshot().Bits(); !bytes.Equal(got, want) {
			t.Errorf("Snapshot, round %d: other bits than the keys'", round)
			break
		}
	}
	stop.Store(true)
	wg.Wait()
}

// TestConcurrentUnion: a union into a filter to which others add loses nothing of either.
func TestConcurrentUnion(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, a := range []uint64{1, 3} {
			c := mustConcurrent(t, Geometry{50, 8})
			var wg sync.WaitGroup
			all := mustConcurrent(t, Geometry{50, 8}).Snapshot()
			for g := range uint64(4) {
				other := mustConcurrent(t, Geometry{50 * a, 8})
				for i := range uint64(200) {
					other.AddUint64(g<<40 | 1<<39 | i)
					all.AddUint64(g<<40 | 1<<39 | i)
					all.AddUint64(g<<40 | i)
				}
				wg.Go(func() {
					for i := range uint64(200) {
						c.AddUint64(g<<40 | i)
					}
				})
				var source Source = other
				if g%2 == 0 {
					source = other.Snapshot()
				}
				wg.Go(func() {
					if err := c.Union(source); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if !bytes.Equal(c.Snapshot().Bits(), all.Bits()) {
				t.Fatal("the union has other bits than the keys")
			}
		}
	})
	c := mustConcurrent(t, Geometry{50, 8})
	for _, g := range []Geometry{{25, 8}, {51, 8}, {50, 7}} {
		if err := c.Union(mustConcurrent(t, g)); !errors.Is(err, ErrMismatch) {
			t.Errorf("union with %v: %v", g, err)
		}
	}
	if err := c.Union(mustConcurrent(t, Geometry{50, 8}, WithSeed(1))); !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "seed") {
		t.Error(err)
	}
	if err := c.Union(&Filter{}); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if same, err := c.Snapshot().Equal(c); err != nil || !same {
		t.Error(same, err)
	}
}

// TestConcurrentNew: errors, options, and the zero value.
func TestConcurrentNew(t *testing.T) {
	if _, err := NewConcurrent(10, 2); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if _, err := NewConcurrent(1e6, 0.01, WithMaxBytes(1000)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := NewConcurrentGeometry(Geometry{1, 17}); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if _, err := ConcurrentOf(&Filter{}); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	c, err := NewConcurrent(1000, 0.01, WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	if g, _ := Plan(1000, 0.01); c.Geometry() != g || c.Seed() != 7 {
		t.Error(c.Geometry(), c.Seed())
	}
	var zero Concurrent
	if zero.MayContainString("x") || zero.Fill() != 0 || zero.Snapshot().Geometry().Blocks != 0 {
		t.Error("the zero Concurrent contains something")
	}
	if _, err := zero.MarshalBinary(); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	for name, add := range concurrentAdds {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: an add to the zero Concurrent did not panic", name)
				}
			}()
			add(&zero, []uint64{1})
		}()
	}
}

// TestStressConcurrent adds, looks up, takes snapshots and unions at once, and checks every answer.
func TestStressConcurrent(t *testing.T) {
	needsPreemption(t)
	until := time.Now().Add(stressTime(t))
	for round := uint64(0); round == 0 || time.Now().Before(until); round++ {
		eachKernel(t, func(t *testing.T) {
			g := []Geometry{{3, 8}, {200, 8}, {200, 5}, {200, 12}, {20000, 8}}[round%5]
			c := mustConcurrent(t, g)
			const writers, keys = 4, 20000
			var done [writers]atomic.Uint64 // of each writer's keys, how many have been added
			key := func(w, i uint64) uint64 { return round<<50 | w<<40 | i }
			var writing, reading sync.WaitGroup
			var stop atomic.Bool
			for w := range uint64(writers) {
				writing.Go(func() {
					var batch []uint64
					for i := uint64(0); i < keys; i++ {
						switch w {
						case 0:
							c.AddUint64(key(w, i))
						case 1:
							c.AddIfAbsentString(stringsOf([]uint64{key(w, i)})[0])
						default:
							if batch = append(batch, key(w, i)); len(batch) < 100 {
								continue
							}
							c.AddUint64s(batch)
							batch = batch[:0]
						}
						done[w].Store(i + 1)
					}
				})
				reading.Go(func() {
					r := rand.New(rand.NewPCG(round, w))
					ks, may := make([]uint64, 100), make([]bool, 100)
					for !stop.Load() {
						n := done[w].Load()
						if n == 0 {
							continue
						}
						if k := key(w, r.Uint64N(n)); !c.MayContainUint64(k) {
							t.Errorf("%v: key %#x is absent", g, k)
						}
						if k := key(w, n-1); !c.MayContainUint64(k) {
							t.Errorf("%v: key %#x, the newest, is absent", g, k)
						}
						for i := range ks {
							ks[i] = key(w, n-1-min(n-1, uint64(i)))
						}
						c.MayContainUint64s(may, ks)
						if i := slices.Index(may, false); i >= 0 {
							t.Errorf("%v: key %#x is absent, in a batch", g, ks[i])
						}
					}
				})
			}
			reading.Go(func() { // snapshots
				for !stop.Load() {
					var n [writers]uint64
					for w := range n {
						n[w] = done[w].Load()
					}
					s := c.Snapshot()
					if round%2 == 0 {
						data, err := c.MarshalBinary()
						if err := errors.Join(err, s.UnmarshalBinary(data)); err != nil {
							t.Error(err)
						}
					}
					for w := range n {
						for i := range min(n[w], 1000) {
							if !s.MayContainUint64(key(uint64(w), n[w]-1-i)) {
								t.Errorf("%v: a key is absent in a snapshot", g)
							}
						}
					}
					c.Stats()
				}
			})
			writing.Wait()
			stop.Store(true)
			reading.Wait()
			f, err := NewGeometry(g)
			if err != nil {
				t.Fatal(err)
			}
			for w := range uint64(writers) {
				for i := range uint64(keys) {
					f.AddUint64(key(w, i))
				}
			}
			if !bytes.Equal(f.Bits(), c.Snapshot().Bits()) {
				t.Fatalf("%v: other bits than a Filter's", g)
			}
		})
		if t.Failed() {
			return
		}
	}
}

func ExampleConcurrent() {
	c, err := NewConcurrent(1_000_000, 0.01)
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	var first atomic.Int32
	for range 8 {
		wg.Go(func() {
			if c.AddIfAbsentString("apple") { // one of them is told
				first.Add(1)
			}
		})
	}
	wg.Wait()
	fmt.Println(first.Load(), c.MayContainString("apple"), c.MayContainString("banana"))
	// Output: 1 true false
}
