package main

import (
	"math"
	"time"

	"github.com/blockedbloom/blocked/bench/baseline"
	"github.com/blockedbloom/blocked/bench/peers"
)

// A Series is the samples of one operation in one child.
type Series struct {
	Op   string    `json:"op"`
	Set  set       `json:"set,omitempty"`
	Keys int       `json:"keys"` // a sample
	NS   []float64 `json:"ns"`   // a key, one value a sample
	// Repeated is how many samples were thrown away because the calibration beside them was slow; Disturbed reports that even so not enough quiet ones could be had, and
	// that NS has disturbed ones too.
	Repeated  int  `json:"repeated,omitempty"`
	Disturbed bool `json:"disturbed,omitempty"`
}

// A Calibration is the time of fixed work that no library has part in, ns a step: a chain of multiplications, which tells the clock, and a
// loop of empty calls, which a neighbour on the same core slows down. 0 means not known yet.
type Calibration struct {
	Chain float64 `json:"chain"`
	Call  float64 `json:"call"`
}

// disturbedFrom is the factor over the run's best calibration from which a sample does not count.
const disturbedFrom = 1.25

// tries is how many times the samples that are wanted are taken at most.
const tries = 3

// lower makes c the lower of both, piece by piece.
func (c *Calibration) lower(d Calibration) {
	if c.Chain == 0 || d.Chain > 0 && d.Chain < c.Chain {
		c.Chain = d.Chain
	}
	if c.Call == 0 || d.Call > 0 && d.Call < c.Call {
		c.Call = d.Call
	}
}

// A sampler takes samples with calibrations between them.
type sampler struct {
	best    Calibration
	samples int
	time    time.Duration
}

var sink uint64

// calibrate does the fixed work, some 30 microseconds, and reports whether it went undisturbed.
func (s *sampler) calibrate() bool {
	const chain, calls = 8192, 8192
	t0 := time.Now()
	sink += baseline.Chain(uint64(t0.Nanosecond())|1, chain)
	t1 := time.Now()
	baseline.Calls(calls)
	t2 := time.Now()
	c := Calibration{float64(t1.Sub(t0)) / chain, float64(t2.Sub(t1)) / calls}
	s.best.lower(c)
	return c.Chain <= disturbedFrom*s.best.Chain && c.Call <= disturbedFrom*s.best.Call
}

// take takes the series of one piece of work. run does it once, for the number of keys it returns, and is timed; prepare runs before it and is not.
func (s *sampler) take(op string, which set, prepare func(), run func() int) Series {
	r := Series{Op: op, Set: which}
	var bad []float64
	for range tries * s.samples {
		if len(r.NS) == s.samples {
			break
		}
		if prepare != nil {
			prepare()
		}
		quiet := s.calibrate()
		start := time.Now()
		keys := run()
		took := time.Since(start)
		quiet = s.calibrate() && quiet
		r.Keys = keys
		ns := math.Round(float64(took)/float64(keys)*1e4) / 1e4
		if quiet {
			r.NS = append(r.NS, ns)
		} else {
			bad = append(bad, ns)
		}
	}
	r.Repeated = len(bad)
	if 2*len(r.NS) < s.samples {
		r.NS, r.Disturbed = append(r.NS, bad...), true
	}
	return r
}

// lookups takes the series of an operation for one set of keys.
func (s *sampler) lookups(op peers.Op, which set, src *keySource, large bool) Series {
	// A first run tells how long a key takes.
	probe := src.fill(which, op.Input, smallRun/4)
	op.Do(probe)
	start := time.Now()
	op.Do(probe)
	key := max(float64(time.Since(start))/float64(smallRun/4), 0.05)
	want := max(float64(s.time)/key, 1024)

	if large {
		// One pass over keys that were never asked for before.
		n := int(min(want, maxRun))
		if op.Size > 1 {
			n = max(n-n%op.Size, op.Size)
		}
		var keys *peers.Keys
		return s.take(op.ID(), which, func() { keys = src.fill(which, op.Input, n) }, func() int { op.Do(keys); return n })
	}
	// Several passes over a run that is longer than the filter has lines, or as long as one sample. A run of fewer keys would be learned by the branch predictor.
	times := max(1, int(want/smallRun))
	var keys *peers.Keys
	return s.take(op.ID(), which, func() { keys = src.fill(which, op.Input, smallRun) }, func() int {
		for range times {
			op.Do(keys)
		}
		return times * smallRun
	})
}
