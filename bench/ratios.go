package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/blockedbloom/blocked"
	"github.com/blockedbloom/blocked/bench/baseline"
	"github.com/blockedbloom/blocked/bench/peers"
)

// The ratios case puts our own operations over the least that they could cost, all in one process, in turns of a few milliseconds: a machine that is
// slow for a second is slow for both sides of a ratio. Each turn gives one ratio; the report has their median.

const (
	ratioKeys  = 10_000 // the small filter's, about 12 KiB at k = 8
	ratioBatch = 1024
	ratioBits  = 10 // a key of the small filters
)

// ratioOp names an operation of the ratios case.
func ratioOp(what string, k int) string { return fmt.Sprintf("%s/k=%d", what, k) }

const (
	ratioEmpty    = "empty call"
	ratioSingle   = "single"
	ratioChain    = "chain"
	ratioAdd      = "add"
	ratioBatched  = "batch"
	ratioAddBatch = "add batch"

	ratioLarge         = "large batch"
	ratioLargeAdd      = "large add batch"
	ratioLargeOrdinary = "large batch, ordinary pages"
	ratioLines         = "lines, ordinary pages"
	ratioLinesHuge     = "lines, huge pages"
)

// A turn is a piece of work that is done once a round, for keys keys.
type turn struct {
	op   string
	keys int
	run  func()
}

// measureRatios fills res.Series so that the i-th sample of each is of the same round.
func measureRatios(spec *childSpec, s *sampler, res *Result) error {
	lib, err := peers.Find(peers.OursName)
	if err != nil {
		return err
	}
	src := newKeySource(spec.Case.N, lib.HashOf, uint64(spec.Round))
	small, err := smallTurns(src, spec.Mode.SampleTime/4)
	if err != nil {
		return err
	}
	large, err := largeTurns(spec.Case.N, src, res)
	if err != nil {
		return err
	}
	res.Series = append(rounds(s, spec.Mode.RatioRounds, small, nil),
		rounds(s, spec.Mode.RatioRounds, large, func() { src.fill(absent, peers.Hash, largeRun) })...)
	return nil
}

// rounds takes the turns one after the other, again and again. A round that was disturbed is repeated, up to twice as many rounds as are wanted. The i-th
// sample of every series is of the same round.
func rounds(s *sampler, n int, turns []turn, prepare func()) []Series {
	series := make([]Series, len(turns))
	for i, t := range turns {
		series[i] = Series{Op: t.op, Keys: t.keys}
	}
	for taken, quietOnes := 0, 0; quietOnes < n && taken < 2*n; taken++ {
		if prepare != nil {
			prepare()
		}
		quiet := s.calibrate()
		ns := make([]float64, len(turns))
		for i, t := range turns {
			start := time.Now()
			t.run()
			ns[i] = float64(time.Since(start)) / float64(t.keys)
		}
		if s.calibrate() && quiet {
			quietOnes++
		} else {
			quiet = false
		}
		for i := range series {
			series[i].add(ns[i], quiet)
		}
	}
	return series
}

// smallTurns are the operations on filters that lie in the first-level cache, for every k.
func smallTurns(src *keySource, length time.Duration) ([]turn, error) {
	var turns []turn
	hs := append([]uint64(nil), src.fill(absent, peers.Hash, ratioBatch).Hashes...)
	keys := &peers.Keys{Hashes: hs, Found: make([]bool, ratioBatch)}
	add := func(op string, do func()) {
		do()
		start := time.Now()
		for range 8 {
			do()
		}
		times := max(1, int(length*8/max(time.Since(start), 1)))
		turns = append(turns, turn{op, times * ratioBatch, func() {
			for range times {
				do()
			}
		}})
	}
	add(ratioEmpty, func() { baseline.Calls(ratioBatch) })
	for k := 1; k <= 16; k++ {
		f, err := blocked.NewGeometry(blocked.Geometry{Blocks: ratioKeys * ratioBits / (8 * baseline.LineBytes), K: k})
		if err != nil {
			return nil, err
		}
		src.start()
		f.AddHashes(src.fill(inOrder, peers.Hash, ratioKeys).Hashes)
		full := peers.Ours(f)
		find := func(ops []peers.Op, name string, kind peers.Kind, size int) func() {
			for _, op := range ops {
				if op.Name == name && op.Input == peers.Hash && op.Kind == kind && op.Size == size {
					return func() { op.Do(keys) }
				}
			}
			panic("no operation " + name)
		}
		add(ratioOp(ratioSingle, k), find(full.Lookups, "MayContainHash", peers.Single, 1))
		add(ratioOp(ratioChain, k), find(full.Lookups, "MayContainHash", peers.Chain, 1))
		add(ratioOp(ratioBatched, k), find(full.Lookups, "MayContainHashes", peers.Batch, ratioBatch))
		// Adding changes the filter, but not the work: the same bits are set again.
		add(ratioOp(ratioAdd, k), find(full.Adds, "AddHash", peers.Single, 1))
		add(ratioOp(ratioAddBatch, k), find(full.Adds, "AddHashes", peers.Batch, ratioBatch))
	}
	return turns, nil
}

// largeRun is how many keys a turn on the large filter takes.
const largeRun = 1 << 20

// largeTurns are the operations on a filter of n keys and an array of its size. All of a round take the same keys, which are new each round.
func largeTurns(n uint64, src *keySource, res *Result) ([]turn, error) {
	build := func(pages string) (*blocked.Filter, error) {
		g, err := blocked.PlanBits(n, ratioBits)
		if err != nil {
			return nil, err
		}
		g.K = 8
		f, err := peers.OursOf(g, pages)
		if err != nil {
			return nil, err
		}
		src.start()
		for left := n; left > 0; {
			k := min(left, maxRun)
			f.AddHashes(src.fill(inOrder, peers.Hash, int(k)).Hashes)
			left -= k
		}
		return f, nil
	}
	f, err := build("")
	if err != nil {
		return nil, err
	}
	res.Bytes, res.HugeBytes = f.Geometry().Bytes(), baseline.HugeBytes(f.Bits())
	found := make([]bool, largeRun)
	hashes := func() []uint64 { return src.hashes[:largeRun] }
	turns := []turn{{ratioLarge, largeRun, func() { f.MayContainHashes(found, hashes()) }}}

	plain, err := build(pagesOrdinary)
	if err == nil {
		turns = append(turns, turn{ratioLargeOrdinary, largeRun, func() { plain.MayContainHashes(found, hashes()) }})
	} else if !errors.Is(err, peers.ErrNoOption) {
		return nil, err
	}
	for _, op := range []string{ratioLines, ratioLinesHuge} {
		huge := op == ratioLinesHuge
		mem, ok := baseline.Lines(int(res.Bytes), huge)
		if ok || !huge {
			turns = append(turns, turn{op, largeRun, func() { sink += baseline.ReadLinesPrefetched(mem, hashes()) }})
		}
	}
	turns = append(turns, turn{ratioLargeAdd, largeRun, func() { f.AddHashes(hashes()) }})
	src.skip()
	src.fill(absent, peers.Hash, largeRun)
	for _, t := range turns {
		t.run()
	}
	return turns, nil
}
