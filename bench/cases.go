package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/blockedbloom/blocked/bench/peers"
)

// The kinds of cases.
const (
	kindFilter = "filter" // all operations of one library at one size
	kindLines  = "lines"  // reading one random cache line a key
	kindHash   = "hash"   // hashing alone
	kindSizing = "sizing" // the memory that a measured rate takes
	kindRatios = "ratios" // our operations over an empty call, in one process
)

// A Case is what one child process measures.
type Case struct {
	Kind    string  `json:"kind"`
	Library string  `json:"library,omitempty"`
	Kernel  string  `json:"kernel,omitempty"` // of ours: the value of BLOCKED_KERNEL
	N       uint64  `json:"n,omitempty"`
	Rate    float64 `json:"rate,omitempty"`  // the target
	Pages   string  `json:"pages,omitempty"` // "huge" or "ordinary", where that is chosen
}

func (c Case) String() string {
	var s []string
	for _, part := range []string{c.Kind, c.Library, c.Kernel} {
		if part != "" {
			s = append(s, part)
		}
	}
	if c.N > 0 {
		s = append(s, "n="+count(c.N))
	}
	if c.Rate > 0 {
		s = append(s, "p="+percent(c.Rate))
	}
	if c.Pages != "" {
		s = append(s, c.Pages+" pages")
	}
	return strings.Join(s, " ")
}

// A Mode is how much is measured.
type Mode struct {
	Name   string
	Rounds int
	// Each child takes so many samples of each operation, each of about this time.
	Samples    int
	SampleTime time.Duration
	// RateKeys is how many absent keys a child asks for at most to measure the rate, and RateTime for how long at most.
	RateKeys int
	RateTime time.Duration
	// Positives is how many false positives a step of the search for an equal rate is to rest on.
	Positives int
	// RatioRounds is how often the operations of a ratios case take turns.
	RatioRounds int
	// Soft is for how long a child takes all the samples it wants; then it takes half as many. Limit ends a child that takes longer in all.
	Soft, Limit time.Duration
	// Total is when a run ends: a case that would exceed it is left out of its later rounds. Long is how long a case takes that is left out of the rounds after
	// the second anyway.
	Total, Long time.Duration

	ours     []uint64 // sizes of our kernels
	oursBest []uint64 // further sizes of the best kernel
	peers    []uint64 // sizes of all the peers
	best     []uint64 // further sizes, for the pictures, of the peers in pictured
	tenth    []uint64 // sizes at 0.1%, of all; at the largest only what tenthLarge lists
	sizing   uint64   // keys of the filters of equal rate; 0: none
	ratios   uint64   // keys of the large filter of the ratios; 0: no ratios
}

// pictured are the peers measured at every size, and tenthLarge those at 0.1% with 100 million keys: the fastest, and the ones closest in kind.
var (
	pictured   = []string{"parquet-go", "BinaryFuse8", "arrow-go", "pebble"}
	tenthLarge = []string{peers.OursName, "parquet-go", "BinaryFuse16", "pebble"}
)

func fullMode() Mode {
	return Mode{
		Name: "full", Rounds: 3, Samples: 8, SampleTime: 8 * time.Millisecond, RateKeys: 3_000_000, RateTime: 2 * time.Second,
		Positives: 40_000, RatioRounds: 30, Soft: 10 * time.Second, Limit: 150 * time.Second,
		Total: 28 * time.Minute, Long: 25 * time.Second,
		ours:  []uint64{1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000},
		peers: []uint64{10_000, 1_000_000, 100_000_000},
		best:  []uint64{1_000, 100_000, 10_000_000},
		tenth: []uint64{10_000, 1_000_000, 100_000_000}, sizing: 1_000_000, ratios: 100_000_000,
	}
}

func quickMode() Mode {
	return Mode{
		Name: "quick", Rounds: 2, Samples: 5, SampleTime: 3 * time.Millisecond, RateKeys: 1_000_000, RateTime: 300 * time.Millisecond,
		Positives: 10_000, RatioRounds: 12, Soft: 3 * time.Second, Limit: 60 * time.Second,
		Total: 3 * time.Minute, Long: time.Minute,
		ours: []uint64{10_000, 1_000_000}, oursBest: []uint64{100_000_000},
		peers:  []uint64{10_000, 1_000_000},
		sizing: 1_000_000, ratios: 10_000_000,
	}
}

func smokeMode() Mode {
	return Mode{
		Name: "smoke", Rounds: 2, Samples: 2, SampleTime: 200 * time.Microsecond, RateKeys: 50_000, RateTime: 20 * time.Millisecond,
		Positives: 200, RatioRounds: 2, Soft: time.Second, Limit: 30 * time.Second,
		Total: time.Minute, Long: time.Minute,
		ours: []uint64{1_000, 20_000}, peers: []uint64{1_000, 20_000}, tenth: []uint64{20_000}, sizing: 20_000, ratios: 50_000,
	}
}

func ratiosMode() Mode {
	return Mode{Name: "ratios", Rounds: 3, RatioRounds: 30, SampleTime: 8 * time.Millisecond,
		Limit: 150 * time.Second, Total: 15 * time.Minute, Long: time.Hour, ratios: 100_000_000}
}

// cases lists what a mode measures, of the cases whose name contains only.
func (m Mode) cases(only string) []Case {
	var cs []Case
	add := func(c Case) {
		if strings.Contains(c.String(), only) {
			cs = append(cs, c)
		}
	}
	kernels := workingKernels()
	oursAt := func(n uint64, rate float64, kernels ...string) {
		for _, k := range kernels {
			add(Case{Kind: kindFilter, Library: peers.OursName, Kernel: k, N: n, Rate: rate})
		}
	}
	for _, n := range m.ours {
		oursAt(n, 0.01, kernels...)
		if n >= 10_000_000 {
			add(Case{Kind: kindFilter, Library: peers.OursName, Kernel: kernels[0], N: n, Rate: 0.01, Pages: pagesOrdinary})
		}
	}
	for _, n := range m.oursBest {
		oursAt(n, 0.01, kernels[0])
	}
	peersAt := func(n uint64, rate float64, names []string) {
		for _, l := range peers.All() {
			if l.Ours || !l.Serves(rate) || names != nil && !contains(names, l.Name) {
				continue
			}
			add(Case{Kind: kindFilter, Library: l.Name, N: n, Rate: rate})
		}
	}
	for _, n := range m.peers {
		peersAt(n, 0.01, nil)
	}
	for _, n := range m.best {
		peersAt(n, 0.01, pictured)
	}
	for _, n := range m.tenth {
		var names []string
		if n >= 100_000_000 {
			names = tenthLarge
		}
		oursAt(n, 0.001, kernels[0])
		peersAt(n, 0.001, names)
	}
	if m.Samples > 0 {
		add(Case{Kind: kindHash})
		for _, n := range append(append([]uint64{}, m.ours...), m.oursBest...) {
			add(Case{Kind: kindLines, N: n, Rate: 0.01, Pages: pagesOrdinary})
			if n >= 1_000_000 && runtime.GOOS == "linux" {
				add(Case{Kind: kindLines, N: n, Rate: 0.01, Pages: pagesHuge})
			}
		}
	}
	if m.ratios > 0 {
		for _, k := range kernels {
			if k != "generic" {
				add(Case{Kind: kindRatios, Kernel: k, N: m.ratios})
			}
		}
	}
	if m.sizing > 0 {
		for _, rate := range []float64{0.01, 0.001} {
			for _, l := range peers.All() {
				if l.Tunable {
					add(Case{Kind: kindSizing, Library: l.Name, N: m.sizing, Rate: rate})
				}
			}
		}
	}
	return cs
}

const (
	pagesOrdinary = "ordinary"
	pagesHuge     = "huge"
)

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// count writes a number of keys.
func count(n uint64) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%d million", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}

// percent writes a rate with two or three significant digits.
func percent(p float64) string {
	switch {
	case p >= 0.1:
		return fmt.Sprintf("%.1f%%", 100*p)
	case p >= 0.002:
		return fmt.Sprintf("%.3g%%", 100*p)
	case p == 0:
		return "0"
	}
	return fmt.Sprintf("%.2g%%", 100*p)
}
