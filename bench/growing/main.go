// The command growing measures a blocked.Growing that was planned for a thousand keys and gets ten million, beside filters that were planned for all of them, and writes GROWING.md.
//
//	go run ./growing             about two minutes
//	go run ./growing -keys 1e6 -o -    to the terminal, fewer keys
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/blockedbloom/blocked"
	"github.com/klauspost/cpuid/v2"
)

const (
	first  = 1000 // keys that the growing filters are planned for
	rate   = 0.01
	sample = 1 << 19 // lookups in a sample
	batch  = 4096    // keys in a batch
)

// filter is what all rows can do.
type filter interface {
	MayContainUint64(uint64) bool
	MayContainUint64s([]bool, []uint64)
	FalsePositiveRate() float64
}

type row struct {
	name  string
	fresh func() (f filter, one func(uint64), many func([]uint64))

	f                                  filter
	addOne, addMany                    []float64
	hitOne, missOne, hitMany, missMany []float64
	measured                           float64
}

func growing(n uint64, opts ...blocked.Option) func() (filter, func(uint64), func([]uint64)) {
	return func() (filter, func(uint64), func([]uint64)) {
		g, err := blocked.NewGrowing(n, rate, opts...)
		check(err)
		return g, func(k uint64) { check(g.AddUint64(k)) }, func(ks []uint64) { _, err := g.AddUint64s(ks); check(err) }
	}
}

func main() {
	log.SetFlags(0)
	keys := flag.Float64("keys", 1e7, "add so many `keys`")
	out := flag.String("o", "GROWING.md", "write to this `file`, or - for the terminal")
	fills := flag.Int("fills", 5, "fill each filter so many `times`")
	rounds := flag.Int("rounds", 15, "take so many `samples` of each kind of lookup")
	flag.Parse()
	n := uint64(*keys)

	rows := []*row{
		{name: "Growing, expansion 2", fresh: growing(first, blocked.WithExpansion(2))},
		{name: "Growing, expansion 4", fresh: growing(first, blocked.WithExpansion(4))},
		{name: "Growing, expansion 8", fresh: growing(first, blocked.WithExpansion(8))},
		{name: "Growing, planned for all", fresh: growing(n)},
		{name: "Filter, planned for all", fresh: func() (filter, func(uint64), func([]uint64)) {
			f, err := blocked.New(n, rate)
			check(err)
			return f, f.AddUint64, f.AddUint64s
		}},
	}
	all := make([]uint64, n)
	for i := range all {
		all[i] = mix(uint64(i))
	}
	// Fills and lookups go round the rows, so that a disturbance hits all of them alike.
	for range *fills {
		for _, r := range rows {
			runtime.GC()
			_, one, _ := r.fresh()
			start := time.Now()
			for _, k := range all {
				one(k)
			}
			r.addOne = append(r.addOne, float64(time.Since(start).Nanoseconds())/float64(n))
			f, _, many := r.fresh()
			runtime.GC()
			start = time.Now()
			for ks := all; len(ks) > 0; {
				part := ks[:min(len(ks), batch)]
				many(part)
				ks = ks[len(part):]
			}
			r.addMany = append(r.addMany, float64(time.Since(start).Nanoseconds())/float64(n))
			r.f = f
		}
	}
	asked := make([]uint64, sample)
	may := make([]bool, batch)
	random := uint64(1)
	time1 := func(f filter, to *[]float64) (found int) {
		start := time.Now()
		for _, k := range asked {
			if f.MayContainUint64(k) {
				found++
			}
		}
		*to = append(*to, float64(time.Since(start).Nanoseconds())/sample)
		return found
	}
	timeMany := func(f filter, to *[]float64) {
		start := time.Now()
		for ks := asked; len(ks) > 0; ks = ks[batch:] {
			f.MayContainUint64s(may, ks[:batch])
		}
		*to = append(*to, float64(time.Since(start).Nanoseconds())/sample)
	}
	for range *rounds {
		for _, r := range rows {
			for i := range asked {
				random++
				asked[i] = all[mix(random^0x5555)%n]
			}
			if found := time1(r.f, &r.hitOne); found != sample {
				log.Fatalf("%s: %d of %d keys that were added are found", r.name, found, sample)
			}
			timeMany(r.f, &r.hitMany)
			for i := range asked {
				random++
				asked[i] = mix(random + 1<<40)
			}
			if found := time1(r.f, &r.missOne); float64(found) > 2*rate*sample {
				log.Fatalf("%s: %d of %d absent keys are found", r.name, found, sample)
			}
			timeMany(r.f, &r.missMany)
		}
	}
	for _, r := range rows {
		positives, total := 0, 20*sample
		for range 20 {
			for i := range asked {
				random++
				asked[i] = mix(random + 1<<41)
			}
			for ks := asked; len(ks) > 0; ks = ks[batch:] {
				r.f.MayContainUint64s(may, ks[:batch])
				for _, m := range may {
					if m {
						positives++
					}
				}
			}
		}
		r.measured = float64(positives) / float64(total)
	}

	var b bytes.Buffer
	report(&b, rows, n)
	if *out == "-" {
		os.Stdout.Write(b.Bytes())
		return
	}
	check(os.WriteFile(*out, b.Bytes(), 0o666))
}

func report(b *bytes.Buffer, rows []*row, n uint64) {
	fmt.Fprintf(b, `# Growing filters

Written by %s, in the directory bench: do not edit.

%s, %d processors; %s/%s, %s; kernel %s; %s.

## %s keys into a filter planned for %d

p = %v%%. Keys are uint64, random, and hashed in the time that is given: nanoseconds a key, the median of %d fills and of %d samples of %d lookups, taken in turns. "batch" is by AddUint64s and MayContainUint64s with %d keys
at a time. A hit is a random one of the keys; a miss is a key that was never asked for before. Adds to a Growing find out whether the key is new, which Filter's Add does not; the time of making layers is inside. Bits a key are those that were allocated, over the keys that are in:
the newest layer is not full. The rate is measured on %.0f million absent keys.

| filter | layers | bytes | bits a key | halving, bits a key | rate | add | add, batch | hit | miss | hit, batch | miss, batch |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`, "`go run ./growing`", cpu(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), blocked.Kernel(), time.Now().UTC().Format("2006-01-02"),
		thousands(n), first, 100*rate, len(rows[0].addOne), len(rows[0].hitOne), sample, batch, 20.0*sample/1e6)
	for _, r := range rows {
		layers, size, halved := 1, uint64(0), "-"
		switch f := r.f.(type) {
		case *blocked.Growing:
			i := f.Info()
			layers, size = i.Layers, i.Bytes
			if layers > 1 {
				all := uint64(0)
				for j, l := range f.Layers() {
					g, err := blocked.Plan(l.Capacity, rate/math.Pow(2, float64(j+1)))
					check(err)
					all += g.Bytes()
				}
				halved = fmt.Sprintf("%.2f", float64(all)*8/float64(n))
			}
		case *blocked.Filter:
			size = f.Geometry().Bytes()
		}
		fmt.Fprintf(b, "| %s | %d | %d | %.2f | %s | %.3f%% | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", r.name, layers, size, float64(size)*8/float64(n), halved, 100*r.measured,
			median(r.addOne), median(r.addMany), median(r.hitOne), median(r.missOne), median(r.hitMany), median(r.missMany))
	}
	b.WriteString(`
With expansion 1 such a filter would have ten thousand layers, and is full before: it is for growth by some small factor that is known.

## Memory of the series of rates

Bits a key when all layers are full, computed from the geometries: the share 2/((i+2)(i+3)) of p that layer i gets here, the halving of Redis, and the least that any series could take which knew beforehand how many layers
there will be (rates in proportion to the capacity of the layers). One filter of p takes `)
	g, err := blocked.Plan(1e7, rate)
	check(err)
	fmt.Fprintf(b, "%.2f.\n\n| layers |", g.BitsPerKey(1e7))
	expansions := []float64{1, 2, 4, 8}
	for _, x := range expansions {
		fmt.Fprintf(b, " x = %v | halving | foreseen |", x)
	}
	b.WriteString("\n| ---: |" + strings.Repeat(" ---: | ---: | ---: |", len(expansions)) + "\n")
	for _, layers := range []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 14} {
		fmt.Fprintf(b, "| %d |", layers)
		for _, x := range expansions {
			if math.Pow(x, float64(layers)) > 1e9 {
				b.WriteString(" | | |")
				continue
			}
			all := 0.0
			for i := range layers {
				all += math.Pow(x, float64(i))
			}
			fmt.Fprintf(b, " %.2f | %.2f | %.2f |", bitsPerKey(x, layers, func(i float64) float64 { return 2 / ((i + 2) * (i + 3)) }), bitsPerKey(x, layers, func(i float64) float64 { return math.Pow(0.5, i+1) }),
				bitsPerKey(x, layers, func(i float64) float64 { return math.Pow(x, i) / all }))
		}
		b.WriteString("\n")
	}
}

// bitsPerKey returns the bits a key of full layers that have the given shares of the rate.
func bitsPerKey(x float64, layers int, share func(i float64) float64) float64 {
	const n = 100_000
	keys, all := 0.0, 0.0
	for i := range layers {
		layer := math.Round(n * math.Pow(x, float64(i)))
		g, err := blocked.Plan(uint64(layer), max(rate*share(float64(i)), blocked.MinRate()))
		check(err)
		keys += layer
		all += float64(g.Bytes()) * 8
	}
	return all / keys
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}

func thousands(n uint64) string {
	if n%1e6 == 0 {
		return fmt.Sprintf("%d million", n/1e6)
	}
	return fmt.Sprint(n)
}

func cpu() string {
	name := cpuid.CPU.BrandName
	if name == "" {
		name = "unknown " + runtime.GOARCH
	}
	if cpuid.CPU.Family > 0 {
		name += fmt.Sprintf(", family %d model %d", cpuid.CPU.Family, cpuid.CPU.Model)
	}
	if cpuid.CPU.Cache.L2 > 0 {
		name += fmt.Sprintf(", L2 %d KiB, L3 %d MiB", cpuid.CPU.Cache.L2>>10, cpuid.CPU.Cache.L3>>20)
	}
	if out, err := exec.Command("uname", "-sr").Output(); err == nil {
		name += "; " + strings.TrimSpace(string(out))
	}
	return name
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// mix is the finalizer of SplitMix64: a permutation whose values look random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
