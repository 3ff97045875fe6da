package main

import (
	"fmt"
	"slices"
	"strings"
)

// find returns a pair.
func (r *results) find(group, what, a string, keys int) (p pair) {
	for _, p := range r.Pairs {
		if p.Group == group && p.What == what && p.A == a && p.Keys == keys {
			return p
		}
	}
	return p
}

// quantile returns the q-th of x, 0 to 1.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[int(q*float64(len(x)-1)+0.5)]
}

func (s spread) String() string {
	return fmt.Sprintf("%.3g (%.3g, %.3g; %.3g)", s.Median, s.Q1, s.Q3, s.Least)
}

// ratio prints the ratio and the quartiles of the rounds'.
func (p pair) ratio() string { return fmt.Sprintf("%.2f (%.2f, %.2f)", p.Ratio, p.Q1, p.Q3) }

// verdict says whether the ratio is at most target.
func (p pair) verdict(target float64) string {
	switch {
	case p.Q1 <= target && target < p.Q3 || (p.Ratio <= target) != (p.Q1 <= target):
		return "undecided"
	case p.Ratio <= target:
		return "yes"
	}
	return "**no**"
}

// number prints 20000000 as "20 million", and 1234000 as "1,234,000".
func number[T int | int64](n T) string {
	if n >= 1_000_000 && n%1_000_000 == 0 {
		return fmt.Sprintf("%d million", n/1_000_000)
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
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
	p("%s; %s; %s; `Kernel()` = %s; %s. Pebble %s, goleveldb %s.", r.Machine, r.System, r.Go, r.Kernel, r.Date, r.Pebble, r.Goleveldb)
	p("")
	p("%s", method)
	p("## Targets")
	p("")
	p("| | ours, ns | Pebble's own, ns | ours of Pebble's | of the least | without loop and call | target | reached |")
	p("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
	missed := map[string]bool{}
	target := func(what string, x pair, loop float64) {
		net := ""
		if loop > 0 {
			net = fmt.Sprintf("%.2f", (x.OfA.Median-loop)/(x.OfB.Median-loop))
		}
		verdict := x.verdict(0.5)
		if verdict != "yes" {
			missed[x.Group] = true
			missed[x.What] = true
			missed[fmt.Sprint(x.Group, x.Keys > 100_000)] = true
		}
		p("| %s | %s | %s | %s | %.2f | %s | 0.50 | %s |", what, x.OfA, x.OfB, x.ratio(), x.RatioOfLeast, net, verdict)
	}
	kinds := []string{"absent", "present", "unpredictable mix"}
	for _, n := range r.sizes("lookup") {
		for _, what := range kinds {
			target(fmt.Sprintf("MayContain, %s keys, %s", number(n), what), r.find("lookup", what, "blocked", n), r.find("loop", what, "the loop and the call", n).OfA.Median)
		}
	}
	for _, n := range r.sizes("build") {
		target(fmt.Sprintf("building, a key of %s", number(n)), r.find("build", "AddKey and Finish", "blocked", n), 0)
	}
	for _, x := range r.Rates {
		if x.Bits == 10 {
			reached := "yes"
			if x.Ours >= x.Own {
				reached = "**no**"
			}
			p("| rate at 10 bits a key | %s in %s bytes | %s in %s bytes | %.2f | | | below 1 | %s |", percent(x.Ours), number(x.OursBytes), percent(x.Own), number(x.OwnBytes), x.Ours/x.Own, reached)
		}
	}
	p("")
	if len(missed) > 0 {
		p("The targets are for the whole of what is timed, the loop and the call through the interface included; the column without them subtracts the medians. What we think of those that this run missed or left undecided:")
		p("")
		if missed["present"] {
			p("%s", causePresent)
		}
		if missed["lookuptrue"] {
			p("%s", causeLarge)
		}
		if missed["build"] {
			p("%s", causeBuild)
		}
		p("")
	}
	p("%s", next)
	p("## Lookups one after the other")
	p("")
	p("As above, but where the next key is depends on the answer. Lookups overlap then only as far as the processor guesses the answer, which it can in Pebble's own lookup, with its branches, and not in ours, which has none. An engine that branches on the answer should let it guess in both; this is the worst case for ours. ns a lookup:")
	p("")
	p("| keys | asked for | ours | Pebble's own | ours of Pebble's | of the least |")
	p("| ---: | --- | ---: | ---: | ---: | ---: |")
	for _, n := range r.sizes("chain") {
		for _, what := range kinds {
			x := r.find("chain", what, "blocked", n)
			p("| %s | %s | %s | %s | %s | %.2f |", number(n), what, x.OfA, x.OfB, x.ratio(), x.RatioOfLeast)
		}
	}
	p("")
	if sizes := r.sizes("huge"); len(sizes) > 0 {
		p("## Lookups in huge pages")
		p("")
		p("As the targets' table, with both filters in memory that asks for huge pages, as a `Filter` does by itself; the block caches of the engines do not. ns a lookup:")
		p("")
		p("| keys | asked for | ours | Pebble's own | ours of Pebble's | of the least |")
		p("| ---: | --- | ---: | ---: | ---: | ---: |")
		for _, n := range sizes {
			for _, what := range kinds {
				x := r.find("huge", what, "blocked", n)
				p("| %s | %s | %s | %s | %s | %.2f |", number(n), what, x.OfA, x.OfB, x.ratio(), x.RatioOfLeast)
			}
		}
		p("")
	}
	p("## Lookups, by where the filter's memory starts")
	p("")
	p("Pebble's block cache hands out filters at any address: with cgo at what the C allocator gives, without it 16 bytes behind a cache line. A block of ours then lies in two lines. ns a lookup, and what the other place adds:")
	p("")
	p("| keys | asked for | ours, on cache lines | ours, 16 behind one | by | Pebble's own, on cache lines | Pebble's own, 16 behind one | by | loop and call |")
	p("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, n := range r.sizes("behind") {
		for _, what := range kinds {
			x, y := r.find("behind", what, "blocked, 16 behind a cache line", n), r.find("behind", what, "Pebble's own, 16 behind a cache line", n)
			p("| %s | %s | %s | %s | %+.0f%% | %s | %s | %+.0f%% | %s |", number(n), what, x.OfB, x.OfA, 100*(x.Ratio-1), y.OfB, y.OfA, 100*(y.Ratio-1), r.find("loop", what, "the loop and the call", n).OfA)
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
		p("| %d | %s | %s | %s | %s | %s | %s | %s |", x.Bits, number(x.OursBytes), number(x.OwnBytes), percent(x.Ours), percent(x.Plan), percent(x.Own), percent(x.OursText), percent(x.OwnText))
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
		p("| %s | %s | %s | %s | %s | %s | %s |", x.Where, x.Filter, number(x.Keys), number(x.Hits), number(x.Misses), percent(float64(x.Misses)/float64(x.Hits+x.Misses)), plan)
	}
	p("")
	p("## Filters of a few keys: goleveldb")
	p("")
	p("goleveldb has a filter for each 2 KiB of a table's file: of the keys of all blocks that begin there. That is one block, some 80 keys with small values, where blocks of 4 KiB are not compressed; with Snappy, the default, 200 keys and more. Ours is whole blocks of 64 bytes and a trailer of 8; `Filter(10)` rounds up, `FilterForRate(0.01)` takes the fewest blocks that keep 1%%. Rates are measured, 500 absent keys for each of 2048 filters:")
	p("")
	p("| keys | goleveldb's own, 10 bits | rate | `Filter(10)` | rate | `FilterForRate(0.01)` | rate |")
	p("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, x := range r.Small {
		p("| %d | %d bytes | %s | %d bytes | %s | %d bytes | %s |", x.Keys, x.OwnBytes, percent(x.Own), x.OursBytes, percent(x.Ours), x.RateBytes, percent(x.Rate))
	}
	p("")
	p("512 filters of 80 keys, one of them at random for each lookup; building is of filters of 60 to 100 keys. ns a key:")
	p("")
	p("| | `Filter(10)` | goleveldb's own beside it | ratio | of the least | `FilterForRate(0.01)` | goleveldb's own beside it | ratio | of the least |")
	p("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, what := range []string{"lookup, absent", "lookup, present", "building, a key"} {
		x, y := r.find("small", what, "blocked, Filter(10)", 80), r.find("small", what, "blocked, FilterForRate(0.01)", 80)
		p("| %s | %s | %s | %s | %.2f | %s | %s | %s | %.2f |", what, x.OfA, x.OfB, x.ratio(), x.RatioOfLeast, y.OfA, y.OfB, y.ratio(), y.RatioOfLeast)
	}
	p("")
	for _, x := range r.Small {
		if x.Keys == 80 && x.OwnBytes > 0 {
			p(limits, 100*(float64(x.RateBytes)/float64(x.OwnBytes)-1))
		}
	}
	return b.String()
}

// sizes lists the numbers of keys of a group.
func (r *results) sizes(group string) (n []int) {
	for _, p := range r.Pairs {
		if p.Group == group {
			n = append(n, p.Keys)
		}
	}
	slices.Sort(n)
	return slices.Compact(n)
}

const method = `Two filters that are compared are measured back to back, in each round as A B B A, samples of half a millisecond and more. A figure is the median of the samples; in brackets are the quartiles and then the least. A ratio is that of
the medians; in brackets are the quartiles of the rounds' ratios. "Of the least" is the ratio of the two least samples. Where the quartiles lie on both sides of a target, it is undecided. Calls go through the engine's interface. The
filters are in plain memory of the Go heap, which does not ask for huge pages, and begin on a cache line, where nothing else is said.
`

const causePresent = "- Present keys: Pebble's own lookup goes from bit to bit and leaves at the first that is missing. Of a present key none is, so the processor guesses every branch right and overlaps one lookup with the next. Ours takes the same time for every key, and is ahead by less there."

const causeLarge = "- Filters beyond the second-level cache: a lookup waits for one cache line from L3 or memory, here as there, and that is most of its time."

const causeBuild = "- Building: AddKey takes a key at a time through the interface, so that neither hashes nor stores come in batches. With few keys the filter's allocation, clearing and checksum are a part of it; with a million, what misses the caches."

const next = `Pebble's main branch has binary fuse filters beside its Bloom filter, which need fewer bits for the same rate than any Bloom filter. The released version has not, and they are not measured here.
`

const limits = `In bytes at so few keys goleveldb's own filter is the better one: it has the size that it wants to the byte, ours the next number of whole blocks, and a trailer. What is paid is not lost, the rate is lower; but who wants 1%% and nothing
better pays %.0f%% more at 80 keys. Beside its keys, building has a checksum to make and memory to clear, which goleveldb's own has not.
`
