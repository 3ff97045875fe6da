package blocked

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

func TestPortableFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for range 200000 {
		y := math.Exp(-40*r.Float64()) * 0.9
		if got, want := ln1m(y), math.Log1p(-y); math.Abs(got/want-1) > 2e-15 {
			t.Fatalf("ln1m(%v) = %v, want %v", y, got, want)
		}
		x := math.Exp(40*r.Float64() - 33)
		if got, want := expNeg(x), math.Exp(-x); x < 690 && math.Abs(got/want-1) > 6e-16 {
			t.Fatalf("expNeg(%v) = %v, want %v", x, got, want)
		}
	}
	if expNeg(0) != 1 || expNeg(1e9) != 0 || expNeg(math.Inf(1)) != 0 || ln1m(0) != 0 {
		t.Error("limits are wrong")
	}
}

// TestPlanIsTheSameEverywhere pins the geometries of many plans, and rates to the last bit: no architecture may plan another filter.
func TestPlanIsTheSameEverywhere(t *testing.T) {
	sum := fnv.New64a()
	put := func(x uint64) {
		var b [8]byte
		for i := range b {
			b[i] = byte(x >> (8 * i))
		}
		sum.Write(b[:])
	}
	for n := uint64(1); n < 1e13; n = n*7/3 + 1 {
		for _, p := range []float64{0.3, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-5, 1e-6, 2e-8} {
			g, err := Plan(n, p)
			if err != nil {
				t.Fatal(err)
			}
			put(g.Blocks)
			put(uint64(g.K))
			put(math.Float64bits(g.FalsePositiveRate(n)))
			put(math.Float64bits(g.FalsePositiveRate(n/10 + 1)))
			put(g.Capacity(p * 0.7))
		}
		for _, b := range []float64{1, 5, 10, 12, 20, 50} {
			g, err := PlanBits(n, b)
			if err != nil {
				t.Fatal(err)
			}
			put(uint64(g.K))
		}
	}
	if got, want := sum.Sum64(), uint64(0x5f091765b5888ccb); got != want {
		t.Errorf("plans have the sum %#x, want %#x", got, want)
	}
}
