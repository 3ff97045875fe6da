package main

import (
	"fmt"
	"slices"
	"strings"
)

// find returns a series.
func (r *results) find(group, what, filter string, keys int) (s series, ok bool) {
	for _, s := range r.Series {
		if s.Group == group && s.What == what && s.Filter == filter && s.Keys == keys {
			return s, true
		}
	}
	return s, false
}

// quantile returns the q-th of x, 0 to 1.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[int(q*float64(len(x)-1)+0.5)]
}

func (s series) String() string {
	return fmt.Sprintf("%.3g (%.3g, %.3g; %.3g)", quantile(s.Samples, 0.5), quantile(s.Samples, 0.25), quantile(s.Samples, 0.75), quantile(s.Samples, 0))
}

// ratio returns the median over the rounds of a's sample to b's: what disturbed a round is in both.
func ratio(a, b series) float64 {
	var x []float64
	for i := range min(len(a.Samples), len(b.Samples)) {
		x = append(x, a.Samples[i]/b.Samples[i])
	}
	return quantile(x, 0.5)
}

// number prints 20000000 as "20 million".
func number(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%d million", n/1_000_000)
	case n >= 1000 && n%1000 == 0:
		return fmt.Sprintf("%d,000", n/1000)
	}
	return fmt.Sprint(n)
}

func percent(x float64) string { return fmt.Sprintf("%.3g%%", 100*x) }

func (r *results) markdown() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("<!-- Written by the command in engines/. Change that, not this file. -->")
	p("# In storage engines")
	p("")
	p("The table filters of `adapters/pebble` and `adapters/goleveldb` against those of the engines themselves, 20-byte keys, hash included. The command is beside this file:")
	p("")
	p("    cd bench/engines && go run .")
	p("")
	p("%s; %s; %s; `Kernel()` = %s; %s. Pebble v2.1.7, goleveldb v1.0.0.", r.Machine, r.System, r.Go, r.Kernel, r.Date)
	p("")
	p("A figure is the median of rounds in which all filters of a table take turns; in brackets are the quartiles and then the least. \"Of Pebble's\" is the median of the rounds' ratios, which a disturbance of the machine hardly changes. Calls go through the engine's interface.")
	p("")
	p("## Targets")
	p("")
	p("| | ours | Pebble's own | ours of Pebble's | without loop and call | target | reached |")
	p("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
	target := func(what string, ours, own, empty series) {
		x := ratio(ours, own)
		net := ""
		if len(empty.Samples) > 0 {
			none := quantile(empty.Samples, 0.5)
			net = fmt.Sprintf("%.2f", (quantile(ours.Samples, 0.5)-none)/(quantile(own.Samples, 0.5)-none))
		}
		reached := "yes"
		if x > 0.5 {
			reached = "**no**"
		}
		p("| %s | %s ns | %s ns | %.2f | %s | 0.50 | %s |", what, ours, own, x, net, reached)
	}
	for _, n := range r.sizes("lookup") {
		for _, what := range []string{"absent", "present", "unpredictable mix"} {
			ours, _ := r.find("lookup", what, "blocked", n)
			own, _ := r.find("lookup", what, "Pebble's own", n)
			empty, _ := r.find("lookup", what, "no filter: the loop and the call", n)
			target(fmt.Sprintf("MayContain, %s keys, %s", number(n), what), ours, own, empty)
		}
	}
	for _, n := range r.sizes("build") {
		ours, _ := r.find("build", "AddKey and Finish", "blocked", n)
		own, _ := r.find("build", "AddKey and Finish", "Pebble's own", n)
		target(fmt.Sprintf("building, a key of %s", number(n)), ours, own, series{})
	}
	for _, x := range r.Rates {
		if x.Bits == 10 {
			reached := "yes"
			if x.Ours >= x.Own {
				reached = "**no**"
			}
			p("| rate at 10 bits a key | %s in %d bytes | %s in %d bytes | %.2f | | below 1 | %s |", percent(x.Ours), x.OursBytes, percent(x.Own), x.OwnBytes, x.Ours/x.Own, reached)
		}
	}
	p("")
	p("%s", causes)
	p("## Lookups, by where the filter's memory starts")
	p("")
	p("Pebble's block cache hands out filters at any address: with cgo at what the C allocator gives, without it 16 bytes behind a cache line. A block of ours then lies in two lines. ns a lookup:")
	p("")
	p("| keys | asked for | ours, on cache lines | ours, 16 behind one | by | Pebble's own, on cache lines | Pebble's own, 16 behind one | loop and call |")
	p("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, n := range r.sizes("lookup") {
		for _, what := range []string{"absent", "present", "unpredictable mix"} {
			a, _ := r.find("lookup", what, "blocked", n)
			u, _ := r.find("lookup", what, "blocked, 16 behind a cache line", n)
			o, _ := r.find("lookup", what, "Pebble's own", n)
			ou, _ := r.find("lookup", what, "Pebble's own, 16 behind a cache line", n)
			l, _ := r.find("lookup", what, "no filter: the loop and the call", n)
			p("| %s | %s | %s | %s | %+.0f%% | %s | %s | %s |", number(n), what, a, u, 100*(ratio(u, a)-1), o, ou, l)
		}
	}
	p("")
	p("## Rates at the same bits a key")
	p("")
	if len(r.Rates) > 0 {
		p("%s keys, %s lookups of absent ones. \"Text\" is keys like `key-0000000000001234`, the even numbers stored and the odd ones asked for: Pebble's own hash has 32 bits and does not spread such keys well.", number(r.Rates[0].OwnKeys), number(r.Rates[0].OursLookups))
	}
	p("")
	p("| bits a key | our bytes | Pebble's | ours | planned | Pebble's own | ours, text | Pebble's own, text |")
	p("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, x := range r.Rates {
		p("| %d | %d | %d | %s | %s | %s | %s | %s |", x.Bits, x.OursBytes, x.OwnBytes, percent(x.Ours), percent(x.Plan), percent(x.Own), percent(x.OursText), percent(x.OwnText))
	}
	p("")
	p("## Inside Pebble")
	p("")
	p("`db.Metrics().Filter` over lookups of absent keys: hits are tables that a filter spared, misses those that it did not.")
	p("")
	p("| | filter | keys of a filter | hits | misses | rate | planned |")
	p("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
	for _, x := range r.Inside {
		plan := percent(x.Planned)
		if x.Filter != "blocked" {
			plan = ""
		}
		p("| %s | %s | %s | %d | %d | %s | %s |", x.Where, x.Filter, number(x.Keys), x.Hits, x.Misses, percent(float64(x.Misses)/float64(x.Hits+x.Misses)), plan)
	}
	p("")
	p("## Filters of a few keys: goleveldb")
	p("")
	p("goleveldb has a filter for each 4 KiB block of a table, some 80 keys. Ours is whole blocks of 64 bytes and a trailer of 8; `Filter(10)` rounds up, `FilterForRate(0.01)` takes the fewest blocks that keep 1%%. Rates are measured, 500 absent keys for each of 2048 filters:")
	p("")
	p("| keys | goleveldb's own, 10 bits | rate | `Filter(10)` | rate | `FilterForRate(0.01)` | rate |")
	p("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, x := range r.Small {
		p("| %d | %d bytes | %s | %d bytes | %s | %d bytes | %s |", x.Keys, x.OwnBytes, percent(x.Own), x.OursBytes, percent(x.Ours), x.RateBytes, percent(x.Rate))
	}
	p("")
	p("512 filters of 80 keys, one of them at random for each lookup; building is of filters of 60 to 100 keys. ns a key:")
	p("")
	names := []string{"blocked, Filter(10)", "blocked, FilterForRate(0.01)", "goleveldb's own, 10 bits"}
	p("| | `Filter(10)` | of goleveldb's | `FilterForRate(0.01)` | of goleveldb's | goleveldb's own |")
	p("| --- | ---: | ---: | ---: | ---: | ---: |")
	for _, what := range []string{"lookup, absent", "lookup, present", "building, a key"} {
		var s [3]series
		for i, name := range names {
			s[i], _ = r.find("small", what, name, 80)
		}
		p("| %s | %s | %.2f | %s | %.2f | %s |", what, s[0], ratio(s[0], s[2]), s[1], ratio(s[1], s[2]), s[2])
	}
	p("")
	p("%s", limits)
	return b.String()
}

// sizes lists the numbers of keys of a group.
func (r *results) sizes(group string) (n []int) {
	for _, s := range r.Series {
		if s.Group == group {
			n = append(n, s.Keys)
		}
	}
	slices.Sort(n)
	return slices.Compact(n)
}

const causes = `The targets are for the whole of what is timed, the loop and the call through the interface included; the column without them subtracts the medians. Where they are missed:

- Present keys: Pebble's own lookup goes from bit to bit and leaves at the first that is missing. Of a present key none is, so the processor guesses every branch right and overlaps one lookup with the next. Ours
  takes the same time for every key, and is ahead by less there.
- Filters beyond the second-level cache: a lookup waits for one cache line from memory, here as there, and that is most of its time.
- Building: AddKey takes a key at a time through the interface, so that neither hashes nor stores come in batches. With 1,000 keys the filter's allocation, clearing and checksum are a part of it; with a million, what
  misses the caches.
`

const limits = `Lookups of absent keys take less than half of goleveldb's own time. In bytes at so few keys goleveldb's own filter is the better one: it has the size that it wants to the byte, ours the next number of whole blocks, and a trailer. What is
paid is not lost, the rate is lower; but who wants 1% and nothing better pays a third more at 80 keys. Building gains little: beside its
keys a filter has a checksum to be made and memory to be cleared, which goleveldb's own has not.
`
