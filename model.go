package blocked

import (
	"math"
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
	a float64 // chance that a key of the block sets a bit of T, in (0, 1]; 0 for the empty T
	c float64 // sum of the coefficients
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
	coefficients := map[exponents]float64{}
	var walk func(l int, e exponents, c float64)
	walk = func(l int, e exponents, c float64) {
		if l == 8 {
			slices.Sort(e[:])
			coefficients[e] += c
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
			walk(l+1, one, -c)
			return
		}
		walk(l+1, one, -c*(2*63+1)/64)
		two := e
		for r := range two {
			two[r] += uint16(probesIn(k, l, r)) << 8
		}
		walk(l+1, two, c*63/64)
	}
	walk(0, exponents{}, 1)

	terms := make([]rateTerm, 0, len(coefficients))
	for e, c := range coefficients {
		avoid := 0.0
		for _, x := range e {
			avoid += math.Pow(63.0/64, float64(x&0xff)) * math.Pow(62.0/64, float64(x>>8))
		}
		terms = append(terms, rateTerm{a: 1 - avoid/8, c: c})
	}
	// In one order, so that the sum is the same in every process.
	slices.SortFunc(terms, func(x, y rateTerm) int {
		switch {
		case x.a < y.a:
			return -1
		case x.a > y.a:
			return 1
		}
		return 0
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
		if t.a >= blocks { // one block, and every key hits T
			continue
		}
		sum += t.c * math.Exp(n*math.Log1p(-t.a/blocks))
	}
	// The terms are up to 4^8 in sum, so that 1e-11 of the result is rounding.
	if sum < 1e-9 {
		return tinyRate(k, n, blocks)
	}
	return min(sum, 1)
}

// tinyRate returns the same without the cancellation that makes inclusion and exclusion useless for very small rates: the sum over j of the chance
// that the asked key's block has j keys times the rate given j. It takes the lanes as independent given j, which is right for k = 8 and k = 16 and
// within 1.5% otherwise.
func tinyRate(k int, n, blocks float64) float64 {
	given := func(j float64) float64 {
		if k <= 8 {
			hit := -math.Expm1(j * math.Log1p(-float64(k)/512))
			return math.Pow(hit, float64(k))
		}
		q := float64(k-8) / 8
		a := math.Pow(63.0/64, j) * math.Pow(1-q/64, j)
		b := math.Pow(62.0/64, j) * math.Pow(1-2*q/64, j)
		one := 1 - a
		two := 63.0/64*(1-2*a+b) + one/64
		return math.Pow(one, float64(16-k)) * math.Pow(two, float64(k-8))
	}
	if blocks == 1 {
		return given(n)
	}
	weight, sum := math.Exp(n*math.Log1p(-1/blocks)), 0.0
	for j := 1.0; j <= n && j < n/blocks+200; j++ {
		weight *= (n - j + 1) / j / (blocks - 1)
		sum += weight * given(j)
	}
	return max(0, min(sum, 1))
}
