package blocked

import (
	"math"
	"sync/atomic"
)

// Plans for few keys are remembered. Whoever writes small filters, one for each 4 KiB of a table say, asks for the same few dozen numbers of keys over and over, and a plan takes longer than
// the filter.

const (
	rememberedKeys  = 8192 // with more, a plan takes less time than the keys do
	rememberedPlans = 1024 // a power of two
)

// planKind says which function made a plan.
type planKind uint8

const (
	planRate planKind = iota
	planBitsDown
	planBitsUp
)

type rememberedPlan struct {
	n    uint64
	x    float64 // the rate or the bits a key
	kind planKind
	g    Geometry
}

// plans has each plan in the one place that its parameters give, where the newest stays: 64 KiB at most. Runs of numbers of keys, which is what comes, do not get into each other's way.
var plans [rememberedPlans]atomic.Pointer[rememberedPlan]

// remembered returns what plan, which is kind's, returns for n and x. Errors are not remembered. Any number of goroutines may call it.
func remembered(n uint64, x float64, kind planKind, plan func(uint64, float64) (Geometry, error)) (Geometry, error) {
	if n > rememberedKeys {
		return plan(n, x)
	}
	place := (math.Float64bits(x) + uint64(kind)) * 0x9E3779B97F4A7C15 >> 32
	slot := &plans[(place+n)%rememberedPlans]
	if r := slot.Load(); r != nil && r.n == n && r.x == x && r.kind == kind {
		return r.g, nil
	}
	g, err := plan(n, x)
	if err == nil {
		slot.Store(&rememberedPlan{n, x, kind, g})
	}
	return g, err
}
