package main

import (
	"math"
	"slices"
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
	// Disturbed are the samples beside which the calibration was slow. They count only where hardly any others are to be had.
	Disturbed []float64 `json:"disturbed,omitempty"`
}

// A Calibration is the time of fixed work that no library has part in, ns a step: a chain of multiplications, which tells the clock, and a
// loop of empty calls, which a neighbour on the same core slows down. 0 means not known yet.
type Calibration struct {
	Chain float64 `json:"chain"`
	Call  float64 `json:"call"`
}

// disturbedFrom is the factor over the run's best calibration from which a sample does not count.
const disturbedFrom = 1.3

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
	best    Calibration // what a calibration takes that is not disturbed
	samples int
	time    time.Duration

	// deadline, if set, is from when fewer samples are taken.
	deadline time.Time

	chains, calls []float64 // all calibrations
}

var sink uint64

// calibrate does the fixed work, some 20 microseconds, and reports whether it went undisturbed.
func (s *sampler) calibrate() bool {
	const chain, calls = 4096, 4096
	t0 := time.Now()
	sink += baseline.Chain(uint64(t0.Nanosecond())|1, chain)
	t1 := time.Now()
	baseline.Calls(calls)
	t2 := time.Now()
	c := Calibration{float64(t1.Sub(t0)) / chain, float64(t2.Sub(t1)) / calls}
	s.chains = append(s.chains, c.Chain)
	s.calls = append(s.calls, c.Call)
	if n := len(s.calls); n == calibrations || n%(8*calibrations) == 0 {
		s.best.lower(s.quantile(0.1))
	}
	return c.Chain <= disturbedFrom*s.best.Chain && c.Call <= disturbedFrom*s.best.Call
}

// calibrations is how many are made first, to have a measure. The measure is not the least of all but the tenth part from below: a least one may be luck.
const calibrations = 40

func newSampler(m Mode, best Calibration) *sampler {
	s := &sampler{best: best, samples: m.Samples, time: m.SampleTime}
	for range calibrations {
		s.calibrate()
	}
	return s
}

// quantile returns what a part of the calibrations stay below.
func (s *sampler) quantile(q float64) Calibration {
	at := func(all []float64) float64 {
		all = slices.Sorted(slices.Values(all))
		return all[int(q*float64(len(all)-1))]
	}
	return Calibration{at(s.chains), at(s.calls)}
}

// take takes the series of one piece of work. run does it once, for the number of keys it returns, and is timed; prepare runs before it and is not.
func (s *sampler) take(op string, which set, prepare func(), run func() int) Series {
	r := Series{Op: op, Set: which}
	want, most := s.samples, tries*s.samples
	if !s.deadline.IsZero() && time.Now().After(s.deadline) {
		want = max(1, s.samples/2)
		most = want
	}
	for range most {
		if len(r.NS) == want {
			break
		}
		if prepare != nil {
			prepare()
		}
		quiet := s.calibrate()
		start := time.Now()
		r.Keys = run()
		took := time.Since(start)
		quiet = s.calibrate() && quiet
		r.add(float64(took)/float64(r.Keys), quiet)
	}
	return r
}

// add adds a sample.
func (r *Series) add(ns float64, quiet bool) {
	ns = math.Round(ns*1e4) / 1e4
	if quiet {
		r.NS = append(r.NS, ns)
	} else {
		r.Disturbed = append(r.Disturbed, ns)
	}
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
		n := int(min(want, maxRun/2))
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
