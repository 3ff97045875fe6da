package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

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

	Series []series
	Rates  []rates
	Small  []small
	Inside []inside
}

// series has the samples of one figure, in ns a key.
type series struct {
	Group, What, Filter string
	Keys                int
	Samples             []float64
}

// rates has measured false positive rates of filters of the same size.
type rates struct {
	Bits                 int
	OursBytes, OwnBytes  int
	Ours, Own, Plan      float64 // random keys
	OursText, OwnText    float64 // keys of a text and a number
	OursLookups, OwnKeys int     // lookups for each rate, keys of the filter
}

// small is a filter of a few keys, as goleveldb has for each block of a table.
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
	rounds, sizes := 21, []int{10_000, 1_000_000, 20_000_000}
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

// timed is one thing to measure: do takes about a millisecond and returns how many keys it took.
type timed struct {
	series
	do func() int
}

// run measures things in turns, so that a disturbance is in all of them, and keeps a sample of each a round.
func (r *results) run(rounds int, things []timed) {
	for i := range things {
		things[i].do()
	}
	for round := range rounds {
		for i := range things {
			t := &things[(i+round)%len(things)]
			keys, start := 0, time.Now()
			for keys == 0 || time.Since(start) < 2*time.Millisecond {
				keys += t.do()
			}
			t.Samples = append(t.Samples, math.Round(1000*float64(time.Since(start).Nanoseconds())/float64(keys))/1000)
		}
	}
	for _, t := range things {
		r.Series = append(r.Series, t.series)
	}
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

func build(p pebble.FilterPolicy, n int) []byte {
	w := p.NewWriter(pebble.TableFilter)
	var key [keySize]byte
	for i := range n {
		putKey(key[:], uint64(i))
		w.AddKey(key[:])
	}
	return w.Finish(nil)
}

// aligned returns a copy of b that starts offset bytes behind a cache line.
func aligned(b []byte, offset int) []byte {
	f, err := blocked.NewGeometry(blocked.Geometry{Blocks: uint64(len(b)+offset)/64 + 1, K: 1})
	if err != nil {
		panic(err)
	}
	c := f.Bits()[offset : offset+len(b) : offset+len(b)]
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
		var things []timed
		for _, k := range []struct {
			what string
			keys keys20
		}{{"absent", misses}, {"present", hits}, {"unpredictable mix", mixed}} {
			for _, f := range []struct {
				name string
				p    pebble.FilterPolicy
				f    []byte
			}{{"blocked", ours, line}, {"blocked, 16 behind a cache line", ours, behind}, {"Pebble's own", own, ownLine}, {"Pebble's own, 16 behind a cache line", own, ownBehind}, {"no filter: the loop and the call", nothing{}, nil}} {
				things = append(things, timed{series{Group: "lookup", What: k.what, Filter: f.name, Keys: n}, asking(f.p, f.f, k.keys)})
			}
		}
		r.run(rounds, things)
	}
}

func (r *results) building(rounds int, smoke bool) {
	sizes := []int{100, 1000, 10_000, 100_000, 1_000_000}
	if smoke {
		sizes = sizes[:2]
	}
	for _, n := range sizes {
		keys := keysOf(n, func(i int) uint64 { return uint64(i) })
		var things []timed
		for _, f := range []struct {
			name string
			p    pebble.FilterPolicy
		}{{"blocked", pebblefilter.Policy(10)}, {"Pebble's own", bloom.FilterPolicy(10)}} {
			things = append(things, timed{series{Group: "build", What: "AddKey and Finish", Filter: f.name, Keys: n}, func() int {
				w := f.p.NewWriter(pebble.TableFilter)
				for i := range n {
					w.AddKey(keys.key(i))
				}
				runtime.KeepAlive(w.Finish(nil))
				return n
			}})
		}
		r.run(rounds, things)
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
	const n = 80
	rnd := rand.New(rand.NewPCG(3, 4))
	const asks = 1 << 16
	which := make([]uint16, asks)
	for i := range which {
		which[i] = uint16(rnd.IntN(filters))
	}
	var things []timed
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
			things = append(things, timed{series{Group: "small", What: k.what, Filter: f.name, Keys: n}, func() int {
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
		things = append(things, timed{series{Group: "small", What: "building, a key", Filter: f.name, Keys: n}, func() int {
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
	r.run(rounds, things)
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
