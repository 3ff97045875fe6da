// The command concurrent measures filters that several goroutines use at once, and writes CONCURRENT.md.
//
//	go run ./concurrent                about two minutes on two cores
//	go run ./concurrent -smoke -o -    tiny sizes, to the terminal: only to see that it works
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/blockedbloom/blocked"
	"github.com/blockedbloom/blocked/bench/internal/machine"
	parquet "github.com/parquet-go/parquet-go/bloom"
)

const rate = 0.01

var (
	smoke  = flag.Bool("smoke", false, "tiny sizes, only to see that it works")
	out    = flag.String("o", "CONCURRENT.md", "write to this `file`, or - for the terminal")
	rounds = flag.Int("rounds", 7, "take so many `samples` of everything, in turns")
)

// A size is a filter and what is done to it in a sample.
type size struct {
	name    string
	keys    uint64 // that the filter is planned for
	before  uint64 // that it has when a sample begins
	adds    uint64 // that a sample adds
	repeats int    // how often a sample starts anew, so that it takes long enough
}

// A design is a filter that goroutines add to and look up in at once.
type design struct {
	name  string
	fresh func(before *blocked.Filter) ops // with before's keys, or, for another library's filter, none
	ours  bool                             // takes before's keys
	large bool                             // is measured in the largest size too
}

// ops are called by any number of goroutines.
type ops struct {
	add      func(hs []uint64)                 // one call a key, unless the name says otherwise
	contains func(hs []uint64, dst []bool) int // how many may be contained
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	sizes := []size{
		{"10,000 keys (12 KiB)", 10_000, 0, 10_000, 60},
		{"1 million keys (1.2 MiB)", 1_000_000, 0, 1_000_000, 1},
		{"100 million keys (120 MiB)", 100_000_000, 50_000_000, 4_000_000, 1},
	}
	if *smoke {
		sizes = []size{{"1000 keys", 1000, 0, 1000, 2}, {"20,000 keys", 20_000, 10_000, 5000, 1}}
		*rounds = 2
	}
	start := time.Now()
	var b bytes.Buffer
	b.WriteString(intro)
	fmt.Fprintf(&b, "Measured on: %s; `go run ./concurrent`.\n", machine.Line())
	var tables bytes.Buffer
	var targets []target
	for i, s := range sizes {
		log.Println(s.name)
		targets = append(targets, measure(&tables, s, i == len(sizes)-1)...)
	}
	log.Println("hot keys")
	hot(&tables, sizes[1])
	log.Println("the types beside each other")
	beside(&tables, sizes[1])
	writeTargets(&b, targets)
	b.Write(tables.Bytes())
	fmt.Fprintf(&b, "\nThe run took %v.\n", time.Since(start).Round(time.Second))
	if *out == "-" {
		os.Stdout.Write(b.Bytes())
		return
	}
	check(os.WriteFile(*out, b.Bytes(), 0o666))
}

const intro = `<!-- Written by go run ./concurrent. Change the command, not this file. -->
# Many goroutines

` + "`blocked.Concurrent`" + ` beside what one might take instead. Figures are nanoseconds a key: the wall-clock time of a sample over the keys that all goroutines together added, so that a perfect use of two processors
halves it. The median of the samples comes first, the least in brackets. Hashes are given, keys are random and new; ours are planned for 1%, with k = 8.

    go run ./concurrent        # two minutes (make bench-concurrent)

The designs:

- **Filter**: one goroutine that needs nothing: the lower bound.
- **Concurrent**: a block is held by an exchange of its own lane 0. **batch** is AddHashes with 1024 hashes a call.
- **spin locks, in Go**: a lookup, then one of 1024 spin locks around Filter.AddHash.
- **atomic or, in Go**: a lookup, then an atomic OR into each lane that lacks its bit. It cannot tell which of two goroutines added a key.
- **mutex**: one sync.Mutex around a Filter, parquet-go's or bits-and-blooms' filter (of as many bits as the Filter; the latter with k = 7 and a hash of its own of the eight bytes of ours).

`

// A target is a ratio of medians that is to be reached.
type target struct {
	what         string
	got, want    float64
	atLeast      bool
	lower, upper float64 // the quartiles of the rounds' ratios
}

func writeTargets(b *bytes.Buffer, targets []target) {
	fmt.Fprintf(b, "\n## Targets\n\nRatios of the medians; in brackets the quartiles of the ratios within one round.\n\n| | ratio | target | reached |\n| --- | ---: | ---: | --- |\n")
	for _, t := range targets {
		reached, sign := t.got <= t.want, "at most"
		if t.atLeast {
			reached, sign = t.got >= t.want, "at least"
		}
		word := "yes"
		if !reached {
			word = "**no**"
		}
		fmt.Fprintf(b, "| %s | %.2f (%.2f, %.2f) | %s %.1f | %s |\n", t.what, t.got, t.lower, t.upper, sign, t.want, word)
	}
	b.WriteString(`
Likely causes, where not. An add of a new key is one locked instruction, some 20 cycles in which the processor does nothing else; a Filter's add has none, and its batch overlaps one key with the next. Two goroutines that add to one filter
in the cache hand each other its cache lines, each add one; where the filter is larger than that, they do not, and gain what two processors gain by reading memory. Lookups in a very small filter wait for the same lines.
`)
}

// ratio returns a target of samples a over samples b.
func (s samples) ratio(what, a, b string, want float64, atLeast bool) target {
	t := target{what: what, got: s.median(a) / s.median(b), want: want, atLeast: atLeast}
	var rs []float64
	for i := range min(len(s[a]), len(s[b])) {
		rs = append(rs, s[a][i]/s[b][i])
	}
	slices.Sort(rs)
	if len(rs) > 0 {
		t.lower, t.upper = rs[len(rs)/4], rs[len(rs)*3/4]
	}
	return t
}

// keys returns n hashes, others for every seed.
func keys(n, seed uint64) []uint64 {
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = mix(seed<<40 + uint64(i) + 1)
	}
	return hs
}

// mix is the finalizer of MurmurHash3: a bijection, so that no two keys are equal.
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// eight returns an empty filter for n keys with k = 8, which small filters do not have by themselves.
func eight(n uint64) *blocked.Filter {
	g, err := blocked.Plan(n, rate)
	check(err)
	g.K = 8
	f, err := blocked.NewGeometry(g)
	check(err)
	return f
}

var designs = []design{
	{"Concurrent", func(f *blocked.Filter) ops {
		c, err := blocked.ConcurrentOf(f)
		check(err)
		return ops{
			func(hs []uint64) {
				for _, h := range hs {
					c.AddHash(h)
				}
			},
			func(hs []uint64, _ []bool) (n int) {
				for _, h := range hs {
					if c.MayContainHash(h) {
						n++
					}
				}
				return n
			},
		}
	}, true, true},
	{"Concurrent, batch", func(f *blocked.Filter) ops {
		c, err := blocked.ConcurrentOf(f)
		check(err)
		return ops{
			func(hs []uint64) {
				for part := range slices.Chunk(hs, 1024) {
					c.AddHashes(part)
				}
			},
			func(hs []uint64, dst []bool) int {
				for part := range slices.Chunk(hs, 1024) {
					c.MayContainHashes(dst, part)
				}
				return 0
			},
		}
	}, true, true},
	{"spin locks, in Go", func(f *blocked.Filter) ops {
		locks := make([]atomic.Uint32, 1024)
		n := f.Geometry().Blocks
		return ops{
			func(hs []uint64) {
				for _, h := range hs {
					if f.MayContainHash(h) {
						continue
					}
					i, _ := bits.Mul64(h, n)
					lock := &locks[i%1024]
					for try := 0; !lock.CompareAndSwap(0, 1); try++ {
						if try%64 == 63 {
							runtime.Gosched()
						}
					}
					f.AddHash(h)
					lock.Store(0)
				}
			}, nil,
		}
	}, true, true},
	{"atomic or, in Go", func(f *blocked.Filter) ops {
		lanes := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(f.Bits()))), len(f.Bits())/8) // of little-endian machines
		n := f.Geometry().Blocks
		if f.Geometry().K != 8 {
			log.Fatal("k is not 8")
		}
		return ops{
			func(hs []uint64) {
				for _, h := range hs {
					if f.MayContainHash(h) {
						continue
					}
					i, _ := bits.Mul64(h, n)
					g := h * 0x9E3779B97F4A7C15
					block := lanes[8*i : 8*i+8]
					for l := range block {
						if bit := uint64(1) << (g >> (8 * l) & 63); atomic.LoadUint64(&block[l])&bit == 0 {
							atomic.OrUint64(&block[l], bit)
						}
					}
				}
			}, nil,
		}
	}, true, true},
	{"mutex, Filter", func(f *blocked.Filter) ops {
		var mu sync.Mutex
		return ops{
			func(hs []uint64) {
				for _, h := range hs {
					mu.Lock()
					f.AddHash(h)
					mu.Unlock()
				}
			},
			func(hs []uint64, _ []bool) (n int) {
				for _, h := range hs {
					mu.Lock()
					if f.MayContainHash(h) {
						n++
					}
					mu.Unlock()
				}
				return n
			},
		}
	}, true, true},
	{"mutex, parquet-go", func(f *blocked.Filter) ops {
		var mu sync.Mutex
		p := make(parquet.SplitBlockFilter, len(f.Bits())/parquet.BlockSize)
		return ops{
			func(hs []uint64) {
				for _, h := range hs {
					mu.Lock()
					p.Insert(h)
					mu.Unlock()
				}
			},
			func(hs []uint64, _ []bool) (n int) {
				for _, h := range hs {
					mu.Lock()
					if p.Check(h) {
						n++
					}
					mu.Unlock()
				}
				return n
			},
		}
	}, false, false},
	{"mutex, bits-and-blooms", func(f *blocked.Filter) ops {
		var mu sync.Mutex
		p := bloom.New(uint(8*len(f.Bits())), 7)
		return ops{
			func(hs []uint64) {
				var key [8]byte
				for _, h := range hs {
					binary.LittleEndian.PutUint64(key[:], h)
					mu.Lock()
					p.Add(key[:])
					mu.Unlock()
				}
			},
			func(hs []uint64, _ []bool) (n int) {
				var key [8]byte
				for _, h := range hs {
					binary.LittleEndian.PutUint64(key[:], h)
					mu.Lock()
					if p.Test(key[:]) {
						n++
					}
					mu.Unlock()
				}
				return n
			},
		}
	}, false, false},
}

// together runs do on so many goroutines, which begin at once, and returns how long it takes until the last is done.
func together(goroutines int, do func(g int)) time.Duration {
	var ready, done sync.WaitGroup
	var begin atomic.Bool
	for g := range goroutines {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			for !begin.Load() {
				runtime.Gosched()
			}
			do(g)
		})
	}
	ready.Wait()
	start := time.Now()
	begin.Store(true)
	done.Wait()
	return time.Since(start)
}

func part[T any](xs []T, g, of int) []T { return xs[len(xs)*g/of : len(xs)*(g+1)/of] }

type samples map[string][]float64

func (s samples) add(name string, d time.Duration, keys uint64) {
	s[name] = append(s[name], float64(d.Nanoseconds())/float64(keys))
}

func (s samples) median(name string) float64 {
	xs := slices.Sorted(slices.Values(s[name]))
	if len(xs) == 0 {
		return 0
	}
	return xs[len(xs)/2]
}

func (s samples) cell(name string) string {
	if len(s[name]) == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", ns(s.median(name)), ns(slices.Min(s[name])))
}

func ns(x float64) string {
	if x < 9.95 {
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

// measure writes what adds cost, and lookups while another goroutine adds.
func measure(b *bytes.Buffer, s size, largest bool) []target {
	before := eight(s.keys)
	before.AddHashes(keys(s.before, 1))
	half := before // half full, for the lookups
	if s.before == 0 {
		half = before.Clone()
		half.AddHashes(keys(s.keys/2, 1))
	}
	hs := keys(s.adds, 2)
	goroutines := []int{1, 2, 8}
	got := samples{}
	// Lookups: half of the keys are there, in no order that could be learned.
	asked := keys(min(s.keys, 1_000_000), 1)
	for i := range asked {
		if mix(uint64(i))&1 == 0 {
			asked[i] = mix(9<<40 + uint64(i))
		}
	}
	if s.before > uint64(len(asked)) {
		for i := range asked { // spread over all that it has
			if mix(uint64(i))&1 != 0 {
				asked[i] = mix(1<<40 + mix(uint64(i))%s.before + 1)
			}
		}
	}
	more := keys(max(s.keys/2, 1), 3)
	if len(more) > 8_000_000 {
		more = more[:8_000_000]
	}
	dst := make([]bool, 1024)
	sink := 0
	for round := range *rounds {
		for _, d := range designs {
			for _, n := range goroutines {
				if n > 1 && largest && !d.large {
					continue
				}
				var took time.Duration
				for range s.repeats {
					o := d.fresh(before.Clone())
					took += together(n, func(g int) { o.add(part(hs, g, n)) })
				}
				got.add(fmt.Sprint(d.name, n), took, s.adds*uint64(s.repeats))
			}
			if d.contains(before) && !(largest && !d.large) {
				var took time.Duration
				for range s.repeats {
					o := d.fresh(half.Clone())
					if !d.ours {
						o.add(keys(s.keys/2, 1))
					}
					var done atomic.Bool
					var mine time.Duration
					together(2, func(g int) {
						if g == 0 {
							start := time.Now()
							sink += o.contains(asked, dst)
							mine = time.Since(start)
							done.Store(true)
							return
						}
						for !done.Load() {
							for part := range slices.Chunk(more, 500) {
								if o.add(part); done.Load() {
									break
								}
							}
						}
					})
					took += mine
				}
				got.add("look "+d.name, took, uint64(len(asked)*s.repeats))
			}
		}
		// What a Filter needs, alone, and while another goroutine adds to another filter.
		for _, kind := range []string{"", ", batch"} {
			add := func(f *blocked.Filter, hs []uint64) {
				for _, h := range hs {
					f.AddHash(h)
				}
			}
			look := func(f *blocked.Filter) {
				for _, h := range asked {
					if f.MayContainHash(h) {
						sink++
					}
				}
			}
			if kind != "" {
				add = func(f *blocked.Filter, hs []uint64) {
					for part := range slices.Chunk(hs, 1024) {
						f.AddHashes(part)
					}
				}
				look = func(f *blocked.Filter) {
					for part := range slices.Chunk(asked, 1024) {
						f.MayContainHashes(dst, part)
					}
				}
			}
			var took, alone, beside time.Duration
			for range s.repeats {
				f := before.Clone()
				took += together(1, func(int) { add(f, hs) })
				alone += together(1, func(int) { look(half) })
				other, err := blocked.ConcurrentOf(half.Clone())
				check(err)
				var done atomic.Bool
				var mine time.Duration
				together(2, func(g int) {
					if g == 0 {
						start := time.Now()
						look(half)
						mine = time.Since(start)
						done.Store(true)
						return
					}
					for !done.Load() {
						for part := range slices.Chunk(more, 500) {
							if other.AddHashes(part); done.Load() {
								break
							}
						}
					}
				})
				beside += mine
			}
			got.add("Filter"+kind, took, s.adds*uint64(s.repeats))
			got.add("look Filter alone"+kind, alone, uint64(len(asked)*s.repeats))
			got.add("look Filter beside"+kind, beside, uint64(len(asked)*s.repeats))
		}
		log.Printf("  round %d of %d", round+1, *rounds)
	}
	_ = sink

	fmt.Fprintf(b, "\n## %s\n\n", s.name)
	if s.before > 0 {
		fmt.Fprintf(b, "It has %d keys when a sample begins, which adds %d.\n\n", s.before, s.adds)
	}
	fmt.Fprintf(b, "| adding | 1 goroutine | over Filter | 2 goroutines | times as fast as 1 | 8 goroutines |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	fmt.Fprintf(b, "| Filter | %s | | | | |\n", got.cell("Filter"))
	fmt.Fprintf(b, "| Filter, batch | %s | | | | |\n", got.cell("Filter, batch"))
	for _, d := range designs {
		base := "Filter"
		if d.name == "Concurrent, batch" {
			base = "Filter, batch"
		}
		one, two := got.median(fmt.Sprint(d.name, 1)), got.median(fmt.Sprint(d.name, 2))
		speed := "-"
		if two > 0 {
			speed = fmt.Sprintf("%.2f", one/two)
		}
		fmt.Fprintf(b, "| %s | %s | %.2f | %s | %s | %s |\n", d.name, got.cell(fmt.Sprint(d.name, 1)), one/got.median(base), got.cell(fmt.Sprint(d.name, 2)), speed, got.cell(fmt.Sprint(d.name, 8)))
	}
	fmt.Fprintf(b, "\n| lookups on one goroutine, half of them hits | ns | over Filter alone |\n| --- | ---: | ---: |\n")
	for _, kind := range []string{"", ", batch"} {
		alone := got.median("look Filter alone" + kind)
		fmt.Fprintf(b, "| Filter%s, nothing else | %s | |\n", kind, got.cell("look Filter alone"+kind))
		fmt.Fprintf(b, "| Filter%s, while another goroutine adds to another filter | %s | %.2f |\n", kind, got.cell("look Filter beside"+kind), got.median("look Filter beside"+kind)/alone)
		fmt.Fprintf(b, "| Concurrent%s, while another goroutine adds to it | %s | %.2f |\n", kind, got.cell("look Concurrent"+kind), got.median("look Concurrent"+kind)/alone)
	}
	for _, d := range designs {
		if x := got.median("look " + d.name); x > 0 && len(d.name) > 5 && d.name[:5] == "mutex" {
			fmt.Fprintf(b, "| %s, while another goroutine adds to it | %s | %.2f |\n", d.name, got.cell("look "+d.name), x/got.median("look Filter alone"))
		}
	}
	var rates []string
	absent := keys(1_000_000, 6)
	for _, d := range designs {
		if d.contains(before) && d.name != "Concurrent, batch" && (d.ours || s.before == 0) {
			o := d.fresh(before.Clone())
			o.add(hs)
			rates = append(rates, fmt.Sprintf("%s %.2f%%", d.name, 100*float64(o.contains(absent, dst))/float64(len(absent))))
		}
	}
	fmt.Fprintf(b, "\nFalse positives of a million absent keys after these adds: %s.\n", strings.Join(rates, ", "))
	return []target{
		got.ratio(s.name+": adds of new keys, one goroutine, over Filter's", "Concurrent1", "Filter", 3, false),
		got.ratio(s.name+": the same in batches", "Concurrent, batch1", "Filter, batch", 3, false),
		got.ratio(s.name+": adds on one goroutine over adds on two", "Concurrent1", "Concurrent2", 1.6, true),
		got.ratio(s.name+": the same in batches", "Concurrent, batch1", "Concurrent, batch2", 1.6, true),
		got.ratio(s.name+": lookups while another goroutine adds, over Filter's", "look Concurrent", "look Filter alone", 1.2, false),
		got.ratio(s.name+": the same in batches", "look Concurrent, batch", "look Filter alone, batch", 1.2, false),
	}
}

// contains reports whether the design's lookups are measured.
func (d design) contains(f *blocked.Filter) bool {
	return d.name != "spin locks, in Go" && d.name != "atomic or, in Go"
}

// hot writes what adds of the same few keys cost.
func hot(b *bytes.Buffer, s size) {
	before := eight(s.keys)
	few := keys(1000, 5)
	hs := make([]uint64, min(s.keys, 1_000_000))
	for i := range hs {
		hs[i] = few[mix(uint64(i))%uint64(len(few))]
	}
	got := samples{}
	for range *rounds {
		for _, d := range designs {
			for _, n := range []int{1, 2, 8} {
				o := d.fresh(before.Clone())
				got.add(fmt.Sprint(d.name, n), together(n, func(int) { o.add(hs) }), uint64(n*len(hs)))
			}
		}
	}
	fmt.Fprintf(b, "\n## The same thousand keys, again and again\n\nEvery goroutine adds the same %d keys, of which all but the first thousand are there already, to a filter for %s.\n\n", len(hs), s.name)
	fmt.Fprintf(b, "| adding | 1 goroutine | 2 goroutines | 8 goroutines |\n| --- | ---: | ---: | ---: |\n")
	for _, d := range designs {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", d.name, got.cell(fmt.Sprint(d.name, 1)), got.cell(fmt.Sprint(d.name, 2)), got.cell(fmt.Sprint(d.name, 8)))
	}
}

// kind is a type of filter, for beside.
type kind struct {
	name   string
	shared bool // goroutines may add at once
	make   func() (add func(h uint64), one func(h uint64) bool, many func(dst []bool, hs []uint64))
}

// beside writes what one goroutine pays for each of the types.
func beside(b *bytes.Buffer, s size) {
	n := s.keys
	kinds := []kind{
		{"Filter", false, func() (func(uint64), func(uint64) bool, func([]bool, []uint64)) {
			f, err := blocked.New(n, rate)
			check(err)
			return f.AddHash, f.MayContainHash, f.MayContainHashes
		}},
		{"Concurrent", true, func() (func(uint64), func(uint64) bool, func([]bool, []uint64)) {
			f, err := blocked.NewConcurrent(n, rate)
			check(err)
			return f.AddHash, f.MayContainHash, f.MayContainHashes
		}},
		{"Live", true, func() (func(uint64), func(uint64) bool, func([]bool, []uint64)) {
			f, err := blocked.NewLive()
			check(err)
			check(f.Rebuild(context.Background(), n, rate, func(func([]byte)) error { return nil }))
			return f.AddHash, f.MayContainHash, f.MayContainHashes
		}},
		{"Growing, planned large enough", false, func() (func(uint64), func(uint64) bool, func([]bool, []uint64)) {
			f, err := blocked.NewGrowing(n, rate)
			check(err)
			return func(h uint64) { check(f.AddHash(h)) }, f.MayContainHash, f.MayContainHashes
		}},
		{"Rotating, 2 generations", true, func() (func(uint64), func(uint64) bool, func([]bool, []uint64)) {
			f, err := blocked.NewRotating(n/2+n/8, rate, 2)
			check(err)
			return f.AddHash, f.MayContainHash, f.MayContainHashes
		}},
		{"Rotating, 4 generations", true, func() (func(uint64), func(uint64) bool, func([]bool, []uint64)) {
			f, err := blocked.NewRotating(n/4+n/16, rate, 4)
			check(err)
			return f.AddHash, f.MayContainHash, f.MayContainHashes
		}},
	}
	present, absent := keys(n, 7), keys(n, 8)
	for i := range present { // no order
		j := mix(uint64(i)) % uint64(i+1)
		present[i], present[j] = present[j], present[i]
	}
	dst := make([]bool, 1024)
	got := samples{}
	sink := 0
	for range *rounds {
		for _, k := range kinds {
			add, one, many := k.make()
			timed := func(what string, do func()) {
				got.add(k.name+what, together(1, func(int) { do() }), n)
			}
			timed("add", func() {
				for _, h := range present {
					add(h)
				}
			})
			if k.shared {
				add, _, _ := k.make()
				got.add(k.name+"add2", together(2, func(g int) {
					for _, h := range part(present, g, 2) {
						add(h)
					}
				}), n)
			}
			for what, hs := range map[string][]uint64{"hit": present, "miss": absent} {
				timed(what, func() {
					for _, h := range hs {
						if one(h) {
							sink++
						}
					}
				})
				timed(what+" batch", func() {
					for part := range slices.Chunk(hs, 1024) {
						many(dst, part)
					}
				})
			}
		}
	}
	_ = sink
	fmt.Fprintf(b, "\n## The types beside each other\n\nOne goroutine but for one column, %s, rate 1%% over all that a type has, no rotation and no rebuild under way. Calls go through a function value, about a nanosecond each; Rotating's generations are for together a quarter more keys, so that none is dropped.\n\n", s.name)
	fmt.Fprintf(b, "| type | add | add, 2 goroutines | lookup, hit | lookup, miss | batch, hits | batch, misses |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, k := range kinds {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", k.name, got.cell(k.name+"add"), got.cell(k.name+"add2"), got.cell(k.name+"hit"), got.cell(k.name+"miss"), got.cell(k.name+"hit batch"), got.cell(k.name+"miss batch"))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
