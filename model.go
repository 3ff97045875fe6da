package blocked

import (
	"cmp"
	"slices"
	"sync"
)

// The false positive rate of a filter yet to be built.
//
// A filter's n keys fall on its N blocks at random, and a lookup is a false positive where every probe of the asked key meets a bit that
// some key of its block has set. By inclusion and exclusion over the sets T of the asked key's bits,
//
//	rate = sum over T of (-1)^|T| * P(no bit of T is set)
//	P(no bit of T is set) = (1 - a(T)/N)^n
//
// where a(T) is the chance that a key of the same block sets a bit of T: one minus the mean over the eight start lanes r of the product, over
// the lanes, of (1 - t/64)^m, with t the bits of T in the lane and m the probes that start r puts there. The power is the binomial
// distribution of the keys over the blocks, exactly; as N grows it becomes exp(-a n/N), the Poisson average.
//
// The classic formula (1 - e^(-kn/m))^k (Bloom 1970) is for a filter without blocks. It promises 0.82% for ten bits a key, where blocks of 512
// bits give 0.97%: crowded blocks lose more than empty ones win. Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient
// Bloom Filters" (2007), give the Poisson average for blocks whose bits fall anywhere; this is the same for bits that are bound to lanes.
//
// Where the asked key has two probes in a lane, they are one bit with chance 1/64 and two bits otherwise.

// rateTerm is the sum of all T with the same a.
type rateTerm struct {
	a pair // chance that a key of the block sets a bit of T, in (0, 1]; 0 for the empty T
	c pair // sum of the coefficients
}

// rateTerms[k] returns the terms for k probes, made at the first use.
var rateTerms = func() (fs [17]func() []rateTerm) {
	for k := 1; k <= 16; k++ {
		fs[k] = sync.OnceValue(func() []rateTerm { return makeRateTerms(k) })
	}
	return fs
}()

// probesIn returns m(l, r): how many of k probes start lane r puts into lane l.
func probesIn(k, l, r int) int {
	d := (l - r) & 7
	if k <= 8 {
		if d < k {
			return 1
		}
		return 0
	}
	if d < k-8 {
		return 2
	}
	return 1
}

func makeRateTerms(k int) []rateTerm {
	type exponents [8]uint16 // for each r, in order of size: how often 63/64 stands in the product, and, times 256, how often 62/64
	coefficients := map[exponents]pair{}
	var walk func(l int, e exponents, c pair)
	walk = func(l int, e exponents, c pair) {
		if l == 8 {
			slices.Sort(e[:])
			coefficients[e] = coefficients[e].plus(c)
			return
		}
		walk(l+1, e, c) // no bit of this lane in T
		// By symmetry the asked key may start at lane 0.
		m := probesIn(k, l, 0)
		if m == 0 {
			return
		}
		one := e
		for r := range one {
			one[r] += uint16(probesIn(k, l, r))
		}
		if m == 1 {
			walk(l+1, one, c.minus())
			return
		}
		walk(l+1, one, c.times(pair{-(2*63 + 1) / 64.0, 0}))
		two := e
		for r := range two {
			two[r] += uint16(probesIn(k, l, r)) << 8
		}
		walk(l+1, two, c.times(pair{63.0 / 64, 0}))
	}
	walk(0, exponents{}, pair{1, 0})

	terms := make([]rateTerm, 0, len(coefficients))
	for e, c := range coefficients {
		hit := pair{8, 0}
		for _, x := range e {
			avoid := pair{1, 0}
			for range x & 0xff {
				avoid = avoid.times(pair{63.0 / 64, 0})
			}
			for range x >> 8 {
				avoid = avoid.times(pair{62.0 / 64, 0})
			}
			hit = hit.plus(avoid.minus())
		}
		terms = append(terms, rateTerm{a: hit.over(8), c: c})
	}
	// In one order, so that the sum is the same in every process: a map has none.
	slices.SortFunc(terms, func(x, y rateTerm) int {
		return cmp.Or(cmp.Compare(x.a.hi, y.a.hi), cmp.Compare(x.a.lo, y.a.lo), cmp.Compare(x.c.hi, y.c.hi), cmp.Compare(x.c.lo, y.c.lo))
	})
	return terms
}

// modelRate returns the rate that n keys in blocks of blockBits bits at k probes give on average, within [0, 1]. It takes some microseconds.
func modelRate(k int, n, blocks float64) float64 {
	if n <= 0 {
		return 0
	}
	sum := 0.0
	for _, t := range rateTerms[k]() {
		sum += float64(t.c.hi * expNeg(float64(-n*ln1m(t.a.hi/blocks))))
	}
	// The terms' sizes are up to 2^k in sum, so that 2^k * 1e-15 of the result, at most, is rounding.
	if sum < 3e-8 && n < 1<<63 {
		return tinyRate(k, uint64(n), blocks)
	}
	return min(sum, 1)
}

// tinyRate returns the same for rates so small that the terms, which are near one and of both signs, lose them to rounding. It computes with pairs of floats,
// of 106 bits in all, and takes a few hundred microseconds. Rounding grows with n: about a
// part in a thousand of a rate of 1e-15 with a billion keys.
func tinyRate(k int, n uint64, blocks float64) float64 {
	sum := pair{}
	for _, t := range rateTerms[k]() {
		q := pair{1, 0}.plus(t.a.over(blocks).minus())
		power := pair{1, 0} // q^n by squaring
		for e := n; e > 0; e >>= 1 {
			if e&1 == 1 {
				power = power.times(q)
			}
			q = q.times(q)
		}
		sum = sum.plus(power.times(t.c))
	}
	return max(0, min(sum.hi, 1))
}
