package main

import (
	"fmt"

	"github.com/blockedbloom/blocked/bench/peers"
)

// A target is a factor that the library is to have over the best of its peers, in one run.
type target struct {
	what  string
	n     uint64
	which set
	input peers.Input
	kinds []peers.Kind // of ours, and of the peers where onlyKinds is set
	only  bool         // compare with peers' operations of the same kinds only
	added bool         // compare with peers that can be added to only
	least float64
}

var targets = []target{
	{"batch lookup, 100 million keys, hash given, over the best peer's lookup", 100_000_000, absent, peers.Hash, []peers.Kind{peers.Batch}, false, false, 9},
	{"batch lookup, 16-byte keys, 100 million, hash included, over the best peer's lookup", 100_000_000, absent, peers.Key16, []peers.Kind{peers.Batch}, false, false, 9},
	{"batch lookup in L1 (10,000 keys), hash given, over the best peer's lookup", 10_000, absent, peers.Hash, []peers.Kind{peers.Batch}, false, false, 4.5},
	{"single lookup, 16-byte keys, 10,000, hash included, over the best peer", 10_000, absent, peers.Key16, []peers.Kind{peers.Single}, true, false, 1.4},
	{"single lookup, 16-byte keys, 1 million, hash included, over the best peer", 1_000_000, absent, peers.Key16, []peers.Kind{peers.Single}, true, false, 1.4},
	{"single lookup, 100 million keys, hash given, over the best peer that can be added to", 100_000_000, absent, peers.Hash, []peers.Kind{peers.Single}, true, true, 1.2},
	{"batch building, 100 million keys, hash given, over the best peer's bulk build", 100_000_000, inOrder, peers.Hash, []peers.Kind{peers.Batch}, false, false, 1.7},
}

// memoryTargets are how much less memory than parquet-go's filter is to do at equal measured rates.
var memoryTargets = []struct{ rate, least float64 }{{0.01, 5}, {0.001, 7}}

// verdict says whether a target is reached, and by how much not.
func verdict(got, want float64, atLeast bool) string {
	if atLeast == (got >= want) {
		return "yes"
	}
	return "**no**"
}

func (d *data) targetTable() string {
	t := table{head: []string{"", "ours, ns a key", "the best peer, ns a key", "times as fast", "target", "reached"}}
	for _, g := range targets {
		of := func(mine bool) func(entry) bool {
			return func(e entry) bool {
				if e.input() != g.input || mine != (e.c.Library == peers.OursName) {
					return false
				}
				if mine {
					return d.isOurs(e) && e.kind() == g.kinds[0]
				}
				return d.isPeer(e) && e.kind() != peers.Chain && (!g.only || e.kind() == g.kinds[0]) && (!g.added || !fixed(e.c.Library))
			}
		}
		a, okA := fastest(d.entries(g.n, 0.01, g.which, of(true)))
		b, okB := fastest(d.entries(g.n, 0.01, g.which, of(false)))
		if !okA || !okB {
			continue
		}
		times := b.stat.Median / a.stat.Median
		t.add(g.what, fmt.Sprintf("%s (%v)", a.stat.Spread(), label(a)), fmt.Sprintf("%s (%s)", b.stat.Spread(), label(b)), num(times),
			fmt.Sprint(g.least), verdict(times, g.least, true))
	}
	for _, g := range memoryTargets {
		a, okA := d.equalBits(peers.OursName, g.rate)
		b, okB := d.equalBits("parquet-go", g.rate)
		if !okA || !okB {
			continue
		}
		less := 100 * (1 - a/b)
		t.add("memory at the measured rate "+percent(g.rate)+", over parquet-go", num(a)+" bits a key", num(b)+" bits a key",
			fmt.Sprintf("%.1f%% less", less), fmt.Sprintf("%.0f%% less", g.least), verdict(less, g.least, true))
	}
	// All processors over one, at the largest size that was measured.
	ns := d.sizes(0.01, func(lib string) bool { return lib == peers.OursName })
	for i := len(ns) - 1; i >= 0 && ns[i] >= 10_000_000; i-- {
		c := d.filterCase(peers.OursName, "", ns[i], 0.01, "")
		one := d.stat(c, peers.Op{Name: "MayContainHashes", Input: peers.Hash, Kind: peers.Batch, Size: 1 << 16}.ID(), absent)
		all := d.stat(c, peers.Op{Name: "MayContainHashes", Input: peers.Hash, Kind: peers.Cores}.ID(), absent)
		if one.N > 0 && all.N > 0 {
			times := one.Median / all.Median
			t.add(fmt.Sprintf("batch lookup from all %d processors, %s keys, over one processor", d.header.CPUs, count(ns[i])), all.Spread(), one.Spread()+" (ours, one)",
				num(times), "1.8 (of 2)", verdict(times, 0.9*float64(d.header.CPUs), true))
			break
		}
	}
	for i := len(ns) - 1; i >= 0 && ns[i] >= 10_000_000; i-- {
		builds := func(all bool) (entry, bool) {
			return fastest(d.entries(ns[i], 0.01, inOrder, func(e entry) bool {
				return e.c.Library == peers.OursName && e.c.Kernel == d.header.Kernel && e.input() == peers.Hash && parallel(e) == all
			}))
		}
		one, okOne := builds(false)
		all, okAll := builds(true)
		if okOne && okAll {
			times := one.stat.Median / all.stat.Median
			t.add(fmt.Sprintf("building on all %d processors, %s keys, hash given, over one processor", d.header.CPUs, count(ns[i])), all.stat.Spread(), one.stat.Spread()+" (ours, one)",
				num(times), "1.6 (of 2)", verdict(times, 0.8*float64(d.header.CPUs), true))
			break
		}
	}
	return t.String()
}

// label names the operation of an entry, with its library if that is not ours.
func label(e entry) string {
	if e.c.Library == peers.OursName {
		method := e.name()[len(peers.OursName)+1:]
		if kind := e.op[len(method)+len(e.input())+2:]; e.kind() == peers.Batch && kind != string(peers.Batch) {
			return method + ", batches of " + kind[len(peers.Batch):]
		}
		return method
	}
	return e.name()
}

// equalBits returns the bits a key at which a library's measured rate is the one given.
func (d *data) equalBits(library string, rate float64) (float64, bool) {
	for _, c := range d.cases {
		if c.Kind == kindSizing && c.Library == library && c.Rate == rate && len(d.of[c].rounds) > 0 {
			return d.of[c].first.Bits, true
		}
	}
	return 0, false
}
