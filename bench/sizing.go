package main

import (
	"math"

	"github.com/blockedbloom/blocked"
	"github.com/blockedbloom/blocked/bench/peers"
)

// measureSizing searches the size at which a library's measured rate is the target, so that memory can be compared at equal rates. What varies is the bits a key; ours are then of PlanBits, which takes the best k, where New
// prefers k = 8 for up to 2% more.
func measureSizing(spec *childSpec, res *Result) error {
	lib, err := peers.Find(spec.Case.Library)
	if err != nil {
		return err
	}
	n, p := spec.Case.N, spec.Case.Rate
	src := newKeySource(n, lib.HashOf, uint64(spec.Round))

	// try measures one size and returns its bits a key and the logarithm of its rate over the target.
	try := func(size peers.Size) (bits, off float64, err error) {
		b := lib.Builds[0]
		add, finish, err := b.Begin(size)
		if err != nil {
			return 0, 0, err
		}
		src.start()
		for left := n; left > 0; {
			k := min(left, smallRun)
			add(src.fill(inOrder, b.Input, int(k)))
			left -= k
		}
		f, err := finish()
		if err != nil {
			return 0, 0, err
		}
		src.skip()
		op := f.Lookups[0]
		lookups, positives := uint64(0), uint64(0)
		for lookups < uint64(float64(spec.Mode.Positives)/p) {
			positives += uint64(op.Do(src.fill(absent, op.Input, smallRun)))
			lookups += smallRun
		}
		res.Lookups, res.Positives, res.Bytes = lookups, positives, f.Bytes
		return float64(f.Bytes) * 8 / float64(n), math.Log(max(float64(positives), 0.5) / float64(lookups) / p), nil
	}

	// The logarithm of the rate falls almost in a line with the bits: about 0.45 a bit.
	slope := 0.45
	size := peers.Size{N: n, Rate: p}
	if lib.Ours {
		g, err := blocked.Plan(n, p)
		if err != nil {
			return err
		}
		size.BitsPerKey = 0.985 * g.BitsPerKey(n)
	}
	bits, off, err := try(size)
	if err != nil {
		return err
	}
	for range 4 {
		if math.Abs(off) < 0.004 {
			break
		}
		size.BitsPerKey = bits + off/slope
		lastBits, lastOff := bits, off
		if bits, off, err = try(size); err != nil {
			return err
		}
		if d := bits - lastBits; math.Abs(d) > 0.02 {
			slope = min(max((lastOff-off)/d, 0.2), 0.9)
		}
	}
	res.Bits = bits + off/slope // what is left is a few thousandths of a bit
	return nil
}
