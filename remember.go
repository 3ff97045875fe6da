package blocked

import (
	"math"
	"sync/atomic"
)

// Plans for few keys are remembered. Whoever writes small filters, one for each 4 KiB of a table say, asks for the same few dozen numbers of keys over and over, and a plan takes longer than
// the filter.

const (
	rememberedKeys  = 8192 // with more, a plan takes less time than the keys do
	rememberedPlans = 1 << 10
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

// plans has each plan in the one place that its parameters give, where the newest stays: 64 KiB at most. In a run of numbers of keys, which is what comes, each has its own.
var plans [rememberedPlans]atomic.Pointer[rememberedPlan]

// placeOf returns where the plans of x and kind begin: a hash below rememberedPlans. The bits of a round number are all at the top, so they are brought down before they are multiplied.
func placeOf(x float64, kind planKind) uint64 {
	b := math.Float64bits(x)
	b ^= b>>32 + uint64(kind)
	return b * 0x9E3779B97F4A7C15 >> 54
}

// remembered returns what plan, which is kind's, returns for n and x. Errors are not remembered. Any number of goroutines may call it.
func remembered(n uint64, x float64, kind planKind, plan func(uint64, float64) (Geometry, error)) (Geometry, error) {
	if n > rememberedKeys {
		return plan(n, x)
	}
	slot := &plans[(placeOf(x, kind)+n)%rememberedPlans]
	if r := slot.Load(); r != nil && r.n == n && r.x == x && r.kind == kind {
		return r.g, nil
	}
	g, err := plan(n, x)
	if err == nil {
		slot.Store(&rememberedPlan{n, x, kind, g})
	}
	return g, err
}
