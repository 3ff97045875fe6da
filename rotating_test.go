package blocked

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func mustRotating(t testing.TB, n uint64, p float64, generations int, opts ...Option) *Rotating {
	t.Helper()
	r, err := NewRotating(n, p, generations, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rotatingModel is an exact Rotating.
type rotatingModel struct {
	n    int
	gens []map[uint64]bool // the newest first
}

func newRotatingModel(n, generations int) *rotatingModel {
	m := &rotatingModel{n: n, gens: make([]map[uint64]bool, generations)}
	for i := range m.gens {
		m.gens[i] = map[uint64]bool{}
	}
	return m
}

func (m *rotatingModel) rotate() {
	m.gens = append([]map[uint64]bool{{}}, m.gens[:len(m.gens)-1]...)
}

func (m *rotatingModel) contains(x uint64) bool {
	return slices.ContainsFunc(m.gens, func(gen map[uint64]bool) bool { return gen[x] })
}

func (m *rotatingModel) add(x uint64) (added bool) {
	added = !m.contains(x)
	if !m.gens[0][x] {
		m.gens[0][x] = true
		if len(m.gens[0]) == m.n {
			m.rotate()
		}
	}
	return added
}

// rotatingAdds are the ways to add.
var rotatingAdds = map[string]func(r *Rotating, ints []uint64){
	"AddUint64":         func(r *Rotating, ints []uint64) { each(ints, r.AddUint64) },
	"Add":               func(r *Rotating, ints []uint64) { each(keysOf(ints), r.Add) },
	"AddString":         func(r *Rotating, ints []uint64) { each(stringsOf(ints), r.AddString) },
	"AddHash":           func(r *Rotating, ints []uint64) { each(hashesOf(r, ints), r.AddHash) },
	"AddIfAbsent":       func(r *Rotating, ints []uint64) { each(keysOf(ints), func(k []byte) { r.AddIfAbsent(k) }) },
	"AddIfAbsentString": func(r *Rotating, ints []uint64) { each(stringsOf(ints), func(k string) { r.AddIfAbsentString(k) }) },
	"AddIfAbsentUint64": func(r *Rotating, ints []uint64) { each(ints, func(k uint64) { r.AddIfAbsentUint64(k) }) },
	"AddIfAbsentHash":   func(r *Rotating, ints []uint64) { each(hashesOf(r, ints), func(h uint64) { r.AddIfAbsentHash(h) }) },
	"AddKeys":           func(r *Rotating, ints []uint64) { r.AddKeys(keysOf(ints)) },
	"AddStrings":        func(r *Rotating, ints []uint64) { r.AddStrings(stringsOf(ints)) },
	"AddUint64s":        func(r *Rotating, ints []uint64) { r.AddUint64s(ints) },
	"AddHashes":         func(r *Rotating, ints []uint64) { r.AddHashes(hashesOf(r, ints)) },
	"AddIfAbsentHashes": func(r *Rotating, ints []uint64) { r.AddIfAbsentHashes(make([]bool, len(ints)), hashesOf(r, ints)) },
}

// TestRotatingModel compares a Rotating, in all forms of adds and lookups, with exact sets. Its rate is so low that none of these lookups is a false positive.
func TestRotatingModel(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, c := range []struct{ n, generations int }{{1, 2}, {50, 2}, {50, 3}, {333, 7}, {2000, 4}} {
			for name, add := range rotatingAdds {
				r := mustRotating(t, uint64(c.n), 1e-6, c.generations, WithSeed(4))
				m := newRotatingModel(c.n, c.generations)
				rnd := rand.New(rand.NewPCG(uint64(c.n), 2))
				rounds := 12
				if testing.Short() {
					rounds = 3
				}
				space := uint64(2 * c.n * c.generations)
				for range rounds {
					ints := make([]uint64, rnd.IntN(2*c.n)+1)
					for i := range ints {
						ints[i] = rnd.Uint64N(space)
						m.add(ints[i])
					}
					add(r, ints)
					if rnd.IntN(8) == 0 {
						m.rotate()
						r.Rotate()
					}
					asked := make([]uint64, 700)
					want := make([]bool, len(asked))
					var sel []uint32
					for i := range asked {
						asked[i] = rnd.Uint64N(space)
						if want[i] = m.contains(asked[i]); want[i] {
							sel = append(sel, uint32(i))
						}
					}
					keys, strs, hs := keysOf(asked), stringsOf(asked), hashesOf(r, asked)
					for i, x := range asked {
						if r.MayContainUint64(x) != want[i] || r.MayContain(keys[i]) != want[i] || r.MayContainString(strs[i]) != want[i] || r.MayContainHash(hs[i]) != want[i] {
							t.Fatalf("%v, %s: key %d: want %v", c, name, x, want[i])
						}
					}
					for form, ask := range map[string]func(dst []bool){
						"MayContainUint64s": func(dst []bool) { r.MayContainUint64s(dst, asked) },
						"MayContainKeys":    func(dst []bool) { r.MayContainKeys(dst, keys) },
						"MayContainStrings": func(dst []bool) { r.MayContainStrings(dst, strs) },
						"MayContainHashes":  func(dst []bool) { r.MayContainHashes(dst, hs) },
					} {
						got := make([]bool, len(asked)+1)
						if ask(got); !slices.Equal(got[:len(asked)], want) || got[len(asked)] {
							t.Fatalf("%v, %s: %s differs", c, name, form)
						}
					}
					for form, got := range map[string][]uint32{
						"SelectUint64s": r.SelectUint64s(nil, asked), "SelectKeys": r.SelectKeys(nil, keys), "SelectStrings": r.SelectStrings(nil, strs), "SelectHashes": r.SelectHashes(nil, hs),
					} {
						if !slices.Equal(got, sel) {
							t.Fatalf("%v, %s: %s differs", c, name, form)
						}
					}
				}
				info := r.Info()
				for i, gen := range m.gens {
					if info.Items[i] != uint64(len(gen)) {
						t.Fatalf("%v, %s: generation %d has %d items, want %d", c, name, i, info.Items[i], len(gen))
					}
				}
			}
			// The answers of AddIfAbsent.
			r, r2 := mustRotating(t, uint64(c.n), 1e-6, c.generations), mustRotating(t, uint64(c.n), 1e-6, c.generations)
			m := newRotatingModel(c.n, c.generations)
			rnd := rand.New(rand.NewPCG(uint64(c.n), 3))
			for range 20 {
				hs, want, got := make([]uint64, c.n+7), make([]bool, c.n+7), make([]bool, c.n+8)
				for i := range hs {
					hs[i] = r.HashUint64(rnd.Uint64N(uint64(2 * c.n * c.generations)))
					want[i] = m.add(hs[i])
					if added := r.AddIfAbsentHash(hs[i]); added != want[i] {
						t.Fatalf("%v: AddIfAbsent = %v, want %v", c, added, want[i])
					}
				}
				if r2.AddIfAbsentHashes(got, hs); !slices.Equal(got[:len(hs)], want) || got[len(hs)] {
					t.Fatalf("%v: AddIfAbsentHashes differs", c)
				}
			}
		}
	})
}

// TestRotatingNew: errors, options, and what Info tells.
func TestRotatingNew(t *testing.T) {
	for _, generations := range []int{-1, 0, 1, 1025, math.MaxInt} {
		if _, err := NewRotating(10, 0.01, generations); !errors.Is(err, ErrParameter) {
			t.Errorf("generations = %d: %v", generations, err)
		}
	}
	for _, p := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1), 5e-324} {
		if _, err := NewRotating(10, p, 4); !errors.Is(err, ErrParameter) {
			t.Errorf("p = %v: %v", p, err)
		}
	}
	if _, err := NewRotating(10, 2*MinRate(), 4); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
	if _, err := NewRotating(1<<62, 0.01, 4); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	g := mustRotating(t, 1000, 0.01, 4).Info().Geometry
	if least, _ := Plan(1000, 0.01/4); g.Blocks < least.Blocks {
		t.Errorf("a generation has %v", g)
	}
	if _, err := NewRotating(1000, 0.01, 4, WithMaxBytes(4*g.Bytes()-1)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := NewRotating(1000, 0.01, 4, WithExpansion(2)); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	opts := []Option{WithMaxBytes(4 * g.Bytes()), WithSeed(6)}
	r := mustRotating(t, 1000, 0.01, 4, opts...)
	opts[0], opts[1] = WithMaxBytes(1), WithSeed(7) // of no account any more
	r.Rotate()
	info := r.Info()
	if info.Generations != 4 || info.Capacity != 1000 || info.Geometry != g || info.Bytes != 4*g.Bytes() || info.Rate != 0.01 || info.Rotations != 1 || r.Seed() != 6 {
		t.Errorf("%+v", info)
	}
	if r := mustRotating(t, 0, 0.01, 2); r.Info().Capacity != 1 {
		t.Error("n = 0 is not planned as 1")
	}
}

// TestRotatingRate: with all generations full the compound rate is at most p, and what FalsePositiveRate says.
func TestRotatingRate(t *testing.T) {
	for _, generations := range []int{2, 5, 10} {
		const n, p, probes = 20000, 0.02, 400_000
		r := mustRotating(t, n, p, generations)
		rnd := rand.New(rand.NewPCG(uint64(generations), 9))
		for r.Info().Rotations < uint64(generations)-1 || r.Info().Items[0] < n-1 {
			r.AddHash(rnd.Uint64())
		}
		false_ := 0
		for range probes {
			if r.MayContainHash(rnd.Uint64()) {
				false_++
			}
		}
		rate := float64(false_) / probes
		sigma := math.Sqrt(p / probes)
		if rate > p+4*sigma {
			t.Errorf("%d generations: rate %.5f, at most %v was asked for", generations, rate, p)
		}
		if actual := r.FalsePositiveRate(); math.Abs(rate-actual) > 4*sigma {
			t.Errorf("%d generations: rate %.5f, FalsePositiveRate() = %.5f", generations, rate, actual)
		}
	}
}

// TestRotatingAddedOnce: of goroutines that add the same keys at once, one is told of each, while generations are filled and rotated.
func TestRotatingAddedOnce(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		const goroutines, keys = 4, 20000
		r := mustRotating(t, 997, 1e-6, 64)
		hs := make([]uint64, keys)
		rnd := rand.New(rand.NewPCG(5, 1))
		for i := range hs {
			hs[i] = rnd.Uint64()
		}
		told := make([]atomic.Int32, keys)
		var wg sync.WaitGroup
		start := make(chan bool)
		for g := range goroutines {
			wg.Go(func() {
				<-start
				if g == 0 {
					added := make([]bool, keys)
					r.AddIfAbsentHashes(added, hs)
					for i, is := range added {
						if is {
							told[i].Add(1)
						}
					}
					return
				}
				for i, h := range hs {
					if r.AddIfAbsentHash(h) {
						told[i].Add(1)
					}
					if g == 1 && i%2000 == 1000 {
						r.Rotate()
					}
				}
			})
		}
		close(start)
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
		if none > 2 { // one false positive is to be expected in fifty runs
			t.Errorf("nobody was told of %d keys", none)
		}
	})
}

// TestRotatingLate: an add that was on its way while others rotated is due its whole time, and does not rotate once more.
func TestRotatingLate(t *testing.T) {
	for rotations := range 5 {
		r := mustRotating(t, 100, 1e-6, 3)
		gen := (*r.state.Load())[0]
		for range rotations {
			r.Rotate()
		}
		r.addTo(gen, 12345)
		if !(*r.state.Load())[0].MayContainHash(12345) {
			t.Errorf("after %d rotations the key is not in the newest generation", rotations)
		}
		gen.items.Store(99)
		r.addTo(gen, 67890) // which it is full with
		if n := r.Info().Rotations; n != uint64(max(rotations, 1)) {
			t.Errorf("after %d rotations a generation that was full late made %d", rotations, n)
		}
		if at := slices.IndexFunc(*r.state.Load(), func(gen *generation) bool { return gen.MayContainHash(67890) }); at != 0 && (at != 1 || rotations > 0) {
			t.Errorf("after %d rotations the key that filled a generation late is in generation %d", rotations, at)
		}
	}
}

// TestRotatingOlderBlocks: a key that an older generation has is not new, whatever the state of its block there: held by an add that was under way at the rotation, or with a lane 0 that is full.
func TestRotatingOlderBlocks(t *testing.T) {
	r := mustRotating(t, 1000, 1e-6, 3)
	r.AddUint64(5)
	r.Rotate()
	old := (*r.state.Load())[1]
	i := blockIndex(r.HashUint64(5), old.f.blocks)
	was := old.hold(i)
	added := make(chan bool)
	go func() { added <- r.AddIfAbsentUint64(5) }()
	select {
	case <-added:
		t.Error("AddIfAbsent did not wait for a block that is held")
	case <-time.After(20 * time.Millisecond):
	}
	old.letGo(i, was, 0)
	if <-added {
		t.Error("a key is new that an older generation has in a block that was held")
	}
	r = mustRotating(t, 1000, 1e-6, 3)
	old = (*r.state.Load())[0]
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		old.AddHash(rnd.Uint64())
	}
	r.AddUint64(5)
	r.Rotate()
	if r.AddIfAbsentUint64(5) || !old.full.any.Load() {
		t.Error("a key is new that an older generation has in a full block, or there is none")
	}
}

// TestRotatingRateOfMany: goroutines that add at once do not fill a generation beyond its plan while the next one is made.
func TestRotatingRateOfMany(t *testing.T) {
	needsPreemption(t)
	for _, adders := range []int{2, 16} {
		const n, p, generations = 2000, 0.01, 4
		r := mustRotating(t, n, p, generations)
		var wg sync.WaitGroup
		var stop atomic.Bool
		for g := range adders {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(g), 77))
				for !stop.Load() {
					r.AddHash(rnd.Uint64())
				}
			})
		}
		rnd := rand.New(rand.NewPCG(3, 3))
		found, asked := 0, 0
		for end := time.Now().Add(150 * time.Millisecond); time.Now().Before(end); {
			for range 1000 {
				asked++
				if r.MayContainHash(rnd.Uint64()) {
					found++
				}
			}
			for i, items := range r.Info().Items {
				if items > n+uint64(adders) {
					t.Fatalf("%d adders: generation %d has %d keys of %d", adders, i, items, n)
				}
			}
		}
		stop.Store(true)
		wg.Wait()
		if rate := float64(found) / float64(asked); rate > 1.2*p {
			t.Errorf("%d adders: rate %.4f over %d lookups", adders, rate, asked)
		}
	}
}

// TestStressRotating adds and looks up while generations are filled and rotated, and asks for keys as long as they must be found.
func TestStressRotating(t *testing.T) {
	needsPreemption(t)
	until := time.Now().Add(stressTime(t))
	for round := 0; round == 0 || time.Now().Before(until); round++ {
		eachKernel(t, func(t *testing.T) {
			const goroutines, keys = 4, 20000
			n, generations := []uint64{100, 1000, 3000}[round%3], []int{3, 8, 2}[round/3%3]
			r := mustRotating(t, n, 0.001, generations)
			var started atomic.Uint64 // adds
			lasts := uint64(generations-1)*n - goroutines
			if generations > 2 {
				lasts -= n // a Rotate that is counted, and has not come yet when a key does
			}
			var wg sync.WaitGroup
			for g := range uint64(goroutines) {
				wg.Go(func() {
					type added struct{ key, at uint64 }
					var ring [512]added
					rnd := rand.New(rand.NewPCG(uint64(round), g))
					batch, may := make([]uint64, 50), make([]bool, 50)
					for i := uint64(0); i < keys; i++ {
						key := g<<40 | i
						at := started.Add(1)
						if generations > 2 && g == 3 && i%n == n/2 {
							started.Add(n) // a generation may begin with one key in the last
							r.Rotate()
						}
						switch g {
						case 0:
							r.AddUint64(key)
						case 1:
							r.AddUint64s([]uint64{key})
						default:
							r.AddIfAbsentUint64(key)
						}
						ring[i%uint64(len(ring))] = added{key, at}
						old := ring[rnd.Uint64N(min(i+1, uint64(len(ring))))]
						found := r.MayContainUint64(old.key)
						if now := started.Load(); !found && now-old.at < lasts {
							t.Errorf("n = %d, %d generations: a key is absent after %d others at most", n, generations, now-old.at)
							return
						}
						if i > 100 && i%10 == 0 {
							for j := range batch {
								batch[j] = key - uint64(j)
							}
							r.MayContainUint64s(may, batch)
							now := started.Load()
							for j := range batch {
								if a := ring[batch[j]%(1<<40)%uint64(len(ring))]; !may[j] && now-a.at < lasts {
									t.Errorf("n = %d, %d generations: a key is absent, in a batch, after %d others at most", n, generations, now-a.at)
									return
								}
							}
						}
					}
				})
			}
			wg.Wait()
			if info := r.Info(); info.Rotations < keys/n {
				t.Errorf("%+v: hardly any rotation: the test tests nothing", info)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// A cache that takes an object on its second request, within a window, keeps the objects out that are asked for only once: most of them, in the streams that caches see.
func ExampleRotating() {
	seen, err := NewRotating(10_000, 0.01, 4)
	if err != nil {
		panic(err)
	}
	requests := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.01, 1, 1_000_000)
	cached, asked := map[uint64]bool{}, map[uint64]bool{} // without end, for the example
	for range 200_000 {
		object := requests.Uint64()
		asked[object] = true
		if !cached[object] && !seen.AddIfAbsentUint64(object) { // seen before: admit it
			cached[object] = true
		}
	}
	fmt.Printf("%.0f%% of the objects never enter the cache\n", 100*(1-float64(len(cached))/float64(len(asked))))
	// Output: 81% of the objects never enter the cache
}
