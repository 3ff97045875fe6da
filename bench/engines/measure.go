package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/blockedbloom/blocked"
	"github.com/blockedbloom/blocked/adapters/goleveldb"
	"github.com/blockedbloom/blocked/adapters/pebble"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/klauspost/cpuid/v2"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// results is what a run found.
type results struct {
	Machine, System, Go, Kernel, Date string

	Pebble, Goleveldb string // versions

	Pairs  []pair
	Rates  []rates
	Small  []small
	Inside []inside
}

// pair has the figures of two things that were measured back to back, in ns a key.
type pair struct {
	Group, What, A, B string
	Keys              int

	Rounds        int
	OfA, OfB      spread
	Ratio, Q1, Q3 float64 // of A's median to B's; the quartiles of the ratio over the rounds
	RatioOfLeast  float64
}

// spread sums samples up.
type spread struct{ Least, Q1, Median, Q3 float64 }

// rates has measured false positive rates of filters of the same size.
type rates struct {
	Bits                 int
	OursBytes, OwnBytes  int
	Ours, Own, Plan      float64 // random keys
	OursText, OwnText    float64 // keys of a text and a number
	OursLookups, OwnKeys int     // lookups for each rate, keys of the filter
}

// small is a filter of a few keys, as goleveldb has for each 2 KiB of a table.
type small struct {
	Keys                           int
	OwnBytes, OursBytes, RateBytes int     // of Filter(10), of FilterForRate(0.01)
	Own, Ours, Rate                float64 // measured rates
}

// inside is what a database counted.
type inside struct {
	Filter       string
	Where        string
	Keys         int
	Hits, Misses int64
	Planned      float64
}

const keySize = 20

// keys20 is keys one after the other.
type keys20 []byte

func (k keys20) len() int         { return len(k) / keySize }
func (k keys20) key(i int) []byte { return k[i*keySize : (i+1)*keySize : (i+1)*keySize] }

// putKey writes the key with number x: 20 bytes that look random.
func putKey(b []byte, x uint64) {
	for i := 0; i < keySize; i += 8 {
		x += 0x9E3779B97F4A7C15
		y := x
		y = (y ^ y>>30) * 0xBF58476D1CE4E5B9
		y = (y ^ y>>27) * 0x94D049BB133111EB
		y ^= y >> 31
		if i+8 <= keySize {
			binary.LittleEndian.PutUint64(b[i:], y)
		} else {
			binary.LittleEndian.PutUint32(b[i:], uint32(y))
		}
	}
}

// keysOf returns the keys with the numbers that f gives.
func keysOf(n int, f func(i int) uint64) keys20 {
	k := make(keys20, n*keySize)
	for i := range n {
		putKey(k.key(i), f(i))
	}
	return k
}

const absent = 1 << 40 // from here on keys are in no filter

// nothing is a policy that does nothing: what the loop and the call cost.
type nothing struct{ pebble.FilterPolicy }

func (nothing) MayContain(pebble.FilterType, []byte, []byte) bool { return true }

func measureAll(smoke bool) (r results, err error) {
	r.Machine = fmt.Sprintf("%s, family %d model %d, %d processors (L1 %dK, L2 %dK, L3 %dK)", strings.TrimSpace(cpuid.CPU.BrandName), cpuid.CPU.Family, cpuid.CPU.Model, runtime.NumCPU(),
		cpuid.CPU.Cache.L1D>>10, cpuid.CPU.Cache.L2>>10, cpuid.CPU.Cache.L3>>10)
	r.System, r.Go, r.Kernel, r.Date = system(), runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH, blocked.Kernel(), time.Now().UTC().Format("2006-01-02 15:04 UTC")
	r.Pebble, r.Goleveldb = version("github.com/cockroachdb/pebble/v2"), version("github.com/syndtr/goleveldb")
	rounds, sizes := 150, []int{10_000, 1_000_000, 20_000_000}
	if smoke {
		rounds, sizes = 2, []int{1000}
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"lookups", func() error { r.lookups(rounds, sizes); return nil }},
		{"building", func() error { r.building(rounds, smoke); return nil }},
		{"goleveldb's filters", func() error { r.small(rounds, smoke); return nil }},
		{"rates", func() error { r.rates(smoke); return nil }},
		{"in databases", func() error { return r.inside(smoke) }},
	} {
		fmt.Fprintln(os.Stderr, step.what, "...")
		if err := step.do(); err != nil {
			return r, err
		}
	}
	return r, nil
}

// version says which version of a module is in this program.
func version(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "of an unknown version"
}

// timed is one thing to measure: do returns how many keys it took.
type timed struct {
	name string
	do   func() int
}

// sample returns the ns a key of about half a millisecond.
func (t timed) sample() float64 {
	keys, start := 0, time.Now()
	for {
		keys += t.do()
		if took := time.Since(start); took >= 500*time.Microsecond {
			return float64(took.Nanoseconds()) / float64(keys)
		}
	}
}

// compare measures two things back to back, in each round as A B B A: what disturbs a round is in both, and what grows or falls evenly adds as much to one as to the other.
func (r *results) compare(rounds int, group, what string, keys int, a, b timed) {
	a.do()
	b.do()
	var as, bs, ratios []float64
	for range rounds {
		a1, b1, b2, a2 := a.sample(), b.sample(), b.sample(), a.sample()
		as, bs, ratios = append(as, a1, a2), append(bs, b1, b2), append(ratios, (a1+a2)/(b1+b2))
	}
	p := pair{Group: group, What: what, A: a.name, B: b.name, Keys: keys, Rounds: rounds, OfA: spreadOf(as), OfB: spreadOf(bs)}
	p.Ratio, p.RatioOfLeast = rounded(quantile(as, 0.5)/quantile(bs, 0.5)), rounded(quantile(as, 0)/quantile(bs, 0))
	p.Q1, p.Q3 = rounded(quantile(ratios, 0.25)), rounded(quantile(ratios, 0.75))
	r.Pairs = append(r.Pairs, p)
}

func rounded(x float64) float64 { return math.Round(10000*x) / 10000 }

func spreadOf(x []float64) spread {
	return spread{rounded(quantile(x, 0)), rounded(quantile(x, 0.25)), rounded(quantile(x, 0.5)), rounded(quantile(x, 0.75))}
}

// asking returns a loop of lookups, through the interface, as the engine does.
func asking(p pebble.FilterPolicy, f []byte, keys keys20) func() int {
	at := 0
	return func() int {
		if at == keys.len() {
			at = 0
		}
		n, found := min(4096, keys.len()-at), 0
		for i := range n {
			if p.MayContain(pebble.TableFilter, f, keys.key(at+i)) {
				found++
			}
		}
		at += n
		runtime.KeepAlive(found)
		return n
	}
}

// chain is asking where each key is found by the answer to the one before, so that lookups do not overlap but for what the processor guesses.
func chain(p pebble.FilterPolicy, f []byte, keys keys20) func() int {
	at := 0
	steps := [2]int{1, 1}
	return func() int {
		const n = 4096
		for range n {
			if at >= keys.len() {
				at = 0
			}
			found := 0
			if p.MayContain(pebble.TableFilter, f, keys.key(at)) {
				found = 1
			}
			at += steps[found]
		}
		return n
	}
}

func build(p pebble.FilterPolicy, n int) []byte {
	w := p.NewWriter(pebble.TableFilter)
	var key [keySize]byte
	for i := range n {
		putKey(key[:], uint64(i))
		w.AddKey(key[:])
	}
	return w.Finish(nil)
}

// aligned returns a copy of b that starts offset bytes behind a cache line, in plain memory of the Go heap.
func aligned(b []byte, offset int) []byte {
	c := make([]byte, len(b)+2*64)
	at := int(-uintptr(unsafe.Pointer(unsafe.SliceData(c)))&63) + offset
	c = c[at : at+len(b) : at+len(b)]
	copy(c, b)
	return c
}

// huge returns a copy of b in memory that asks for huge pages.
func huge(b []byte) []byte {
	f, err := blocked.NewGeometry(blocked.Geometry{Blocks: uint64(len(b))/64 + 1, K: 1})
	if err != nil {
		panic(err)
	}
	c := f.Bits()[:len(b):len(b)]
	copy(c, b)
	return c
}

func (r *results) lookups(rounds int, sizes []int) {
	ours, own := pebblefilter.Policy(10), bloom.FilterPolicy(10)
	for _, n := range sizes {
		asks := 1 << 16
		if n > 1_000_000 { // so that the blocks asked for are more than a cache holds
			asks = 1 << 20
		}
		rnd := rand.New(rand.NewPCG(uint64(n), 1))
		hits := keysOf(asks, func(int) uint64 { return rnd.Uint64N(uint64(n)) })
		misses := keysOf(asks, func(i int) uint64 { return absent + uint64(i) })
		mixed := keysOf(asks, func(i int) uint64 { return rnd.Uint64N(uint64(n)) + absent*rnd.Uint64N(2) })
		oursBytes, ownBytes := build(ours, n), build(own, n)
		line, behind := aligned(oursBytes, 0), aligned(oursBytes, 16)
		ownLine, ownBehind := aligned(ownBytes, 0), aligned(ownBytes, 16)
		oursHuge, ownHuge := huge(oursBytes), huge(ownBytes)
		for _, k := range []struct {
			what string
			keys keys20
		}{{"absent", misses}, {"present", hits}, {"unpredictable mix", mixed}} {
			ask := func(name string, p pebble.FilterPolicy, f []byte) timed { return timed{name, asking(p, f, k.keys)} }
			a, b := ask("blocked", ours, line), ask("Pebble's own", own, ownLine)
			r.compare(rounds, "lookup", k.what, n, a, b)
			r.compare(rounds/5+1, "loop", k.what, n, ask("the loop and the call", nothing{}, nil), a)
			r.compare(rounds/2, "behind", k.what, n, ask("blocked, 16 behind a cache line", ours, behind), a)
			r.compare(rounds/2, "behind", k.what, n, ask("Pebble's own, 16 behind a cache line", own, ownBehind), b)
			r.compare(rounds, "chain", k.what, n, timed{"blocked", chain(ours, line, k.keys)}, timed{"Pebble's own", chain(own, ownLine, k.keys)})
			if n > 1_000_000 {
				r.compare(rounds, "huge", k.what, n, ask("blocked", ours, oursHuge), ask("Pebble's own", own, ownHuge))
			}
		}
	}
}

func (r *results) building(rounds int, smoke bool) {
	sizes := []int{100, 1000, 10_000, 100_000, 1_000_000}
	if smoke {
		sizes = sizes[:2]
	}
	for _, n := range sizes {
		keys := keysOf(n, func(i int) uint64 { return uint64(i) })
		adding := func(name string, p pebble.FilterPolicy) timed {
			return timed{name, func() int {
				w := p.NewWriter(pebble.TableFilter)
				for i := range n {
					w.AddKey(keys.key(i))
				}
				runtime.KeepAlive(w.Finish(nil))
				return n
			}}
		}
		r.compare(rounds, "build", "AddKey and Finish", n, adding("blocked", pebblefilter.Policy(10)), adding("Pebble's own", bloom.FilterPolicy(10)))
	}
}

func generate(f filter.Filter, from, n int) []byte {
	var key [keySize]byte
	var b util.Buffer
	g := f.NewGenerator()
	for i := range n {
		putKey(key[:], uint64(from+i))
		g.Add(key[:])
	}
	g.Generate(&b)
	return b.Bytes()
}

// small measures filters of few keys: many of them, each asked in turn, as lookups all over a table do.
func (r *results) small(rounds int, smoke bool) {
	const filters = 512
	own, ours, byRate := filter.NewBloomFilter(10), leveldbfilter.Filter(10), leveldbfilter.FilterForRate(0.01)
	for _, n := range []int{20, 40, 80, 160, 320} {
		s := small{Keys: n}
		for _, f := range []struct {
			f     filter.Filter
			bytes *int
			rate  *float64
		}{{own, &s.OwnBytes, &s.Own}, {ours, &s.OursBytes, &s.Ours}, {byRate, &s.RateBytes, &s.Rate}} {
			wrong, asked := 0, 0
			var key [keySize]byte
			many := filters * 4
			if smoke {
				many = 8
			}
			for i := range many {
				b := generate(f.f, i*n, n)
				*f.bytes = len(b)
				for j := range 500 {
					putKey(key[:], absent+uint64(i*500+j))
					asked++
					if f.f.Contains(b, key[:]) {
						wrong++
					}
				}
			}
			*f.rate = float64(wrong) / float64(asked)
		}
		r.Small = append(r.Small, s)
	}
	const n, building = 80, "building, a key"
	rnd := rand.New(rand.NewPCG(3, 4))
	const asks = 1 << 16
	which := make([]uint16, asks)
	for i := range which {
		which[i] = uint16(rnd.IntN(filters))
	}
	things := map[string][]timed{} // by what is done; goleveldb's own last
	for _, f := range []struct {
		name string
		f    filter.Filter
	}{{"blocked, Filter(10)", ours}, {"blocked, FilterForRate(0.01)", byRate}, {"goleveldb's own, 10 bits", own}} {
		all := make([][]byte, filters)
		for i := range all {
			all[i] = generate(f.f, i*n, n)
		}
		hits := keysOf(asks, func(i int) uint64 { return uint64(which[i])*n + rnd.Uint64N(n) })
		misses := keysOf(asks, func(i int) uint64 { return absent + uint64(i) })
		for _, k := range []struct {
			what string
			keys keys20
		}{{"lookup, absent", misses}, {"lookup, present", hits}} {
			at := 0
			things[k.what] = append(things[k.what], timed{f.name, func() int {
				found := 0
				for range 4096 {
					if f.f.Contains(all[which[at]], k.keys.key(at)) {
						found++
					}
					at = (at + 1) % asks
				}
				runtime.KeepAlive(found)
				return 4096
			}})
		}
		keys := keysOf(n*filters, func(i int) uint64 { return uint64(i) })
		at := 0
		var b util.Buffer
		g := f.f.NewGenerator()
		things[building] = append(things[building], timed{f.name, func() int {
			b.Reset()
			// A block of the table has some keys more or less.
			total := 0
			for range 16 {
				n := 60 + rnd.IntN(41)
				for range n {
					g.Add(keys.key(at))
					at = (at + 1) % keys.len()
				}
				g.Generate(&b)
				total += n
			}
			return total
		}})
	}
	for _, what := range []string{"lookup, absent", "lookup, present", building} {
		t := things[what]
		r.compare(rounds, "small", what, n, t[0], t[2])
		r.compare(rounds, "small", what, n, t[1], t[2])
	}
}

// rates measures rates of filters that have the same number of bytes, as nearly as their blocks allow.
func (r *results) rates(smoke bool) {
	n, asks := 1_000_000, 4_000_000
	if smoke {
		n, asks = 1000, 1000
	}
	text := func(i int) []byte { return fmt.Appendf(nil, "key-%016d", i) }
	for _, bits := range []int{6, 8, 10, 12, 16, 20} {
		x := rates{Bits: bits, OwnKeys: n, OursLookups: asks}
		for _, f := range []struct {
			p         pebble.FilterPolicy
			bytes     *int
			rate, txt *float64
		}{{pebblefilter.Policy(float64(bits)), &x.OursBytes, &x.Ours, &x.OursText}, {bloom.FilterPolicy(bits), &x.OwnBytes, &x.Own, &x.OwnText}} {
			b := build(f.p, n)
			*f.bytes = len(b)
			var key [keySize]byte
			wrong := 0
			for i := range asks {
				putKey(key[:], absent+uint64(i))
				if f.p.MayContain(pebble.TableFilter, b, key[:]) {
					wrong++
				}
			}
			*f.rate = float64(wrong) / float64(asks)
			w := f.p.NewWriter(pebble.TableFilter)
			for i := range n {
				w.AddKey(text(2 * i))
			}
			b = w.Finish(nil)
			wrong = 0
			for i := range n {
				if f.p.MayContain(pebble.TableFilter, b, text(2*i+1)) {
					wrong++
				}
			}
			*f.txt = float64(wrong) / float64(n)
		}
		x.Plan = planned(x.OursBytes, n)
		r.Rates = append(r.Rates, x)
	}
}

// planned is the model's rate of a filter of n keys, which has the best k.
func planned(bytes, n int) float64 {
	best := 1.0
	for k := 1; k <= 16; k++ {
		best = min(best, blocked.Geometry{Blocks: uint64(bytes) / 64, K: k}.FalsePositiveRate(uint64(n)))
	}
	return best
}

type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// inside counts what a database's own metrics say of its filters, asked for absent keys: first of four tables in L0, by Get, then in the last level, by an iterator with UseL6Filters.
func (r *results) inside(smoke bool) error {
	const tables = 4
	n, asks := 400_000, 250_000
	if smoke {
		n, asks = 4000, 1000
	}
	for _, f := range []struct {
		name string
		p    pebble.FilterPolicy
	}{{"blocked", pebblefilter.Policy(10)}, {"Pebble's own", bloom.FilterPolicy(10)}} {
		dir, err := os.MkdirTemp("", "blocked-engines-")
		if err != nil {
			return err
		}
		err = func() error {
			opts := &pebble.Options{Logger: quiet{}, DisableAutomaticCompactions: true, DisableWAL: true, FormatMajorVersion: pebble.FormatNewest, MemTableSize: 1 << 20, L0StopWritesThreshold: 100}
			for i := range opts.Levels {
				opts.Levels[i].FilterPolicy = f.p
			}
			db, err := pebble.Open(dir, opts)
			if err != nil {
				return err
			}
			var key [keySize]byte
			for t := range tables {
				batch := db.NewBatch()
				for i := t; i < n; i += tables {
					putKey(key[:], uint64(i))
					if err := batch.Set(key[:], nil, nil); err != nil {
						return err
					}
				}
				if err := errors.Join(batch.Commit(pebble.NoSync), batch.Close(), db.Flush()); err != nil {
					return err
				}
			}
			count := func(where string, keys int, find func(key []byte) (bool, error)) error {
				levels, err := db.SSTables(pebble.WithProperties())
				if err != nil {
					return err
				}
				plan, all := 0.0, 0.0
				for _, level := range levels {
					for _, t := range level {
						w := float64(t.Properties.NumEntries)
						plan += w * planned(int(t.Properties.FilterSize), int(t.Properties.NumEntries))
						all += w
					}
				}
				before := db.Metrics().Filter
				for i := range asks {
					putKey(key[:], absent+uint64(i))
					if found, err := find(key[:]); err != nil || found {
						return fmt.Errorf("key %d: found = %v: %w", i, found, err)
					}
				}
				after := db.Metrics().Filter
				r.Inside = append(r.Inside, inside{f.name, where, keys, after.Hits - before.Hits, after.Misses - before.Misses, plan / all})
				return nil
			}
			if err := count("DB.Get, four tables in L0", n/tables, func(key []byte) (bool, error) {
				_, closer, err := db.Get(key)
				if errors.Is(err, pebble.ErrNotFound) {
					return false, nil
				}
				if err == nil {
					err = closer.Close()
				}
				return true, err
			}); err != nil {
				return err
			}
			if err := compact(db); err != nil {
				return err
			}
			it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
			if err != nil {
				return err
			}
			err = count("SeekPrefixGE, the last level", n, func(key []byte) (bool, error) {
				found := it.SeekPrefixGE(key) && slices.Equal(it.Key(), key)
				return found, it.Error()
			})
			return errors.Join(err, it.Close(), db.Close())
		}()
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return err
		}
	}
	return nil
}
