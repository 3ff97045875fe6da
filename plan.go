package blocked

import (
	"fmt"
	"math"
	"sync"
)

// Geometry is the shape of a filter: it and the keys' hashes determine every bit.
type Geometry struct {
	Blocks uint64 // N, the number of 64-byte blocks, 1 to MaxBlocks; any integer, not only powers of two
	K      int    // k, the probes of a key, 1 to 16
}

// MaxBlocks is the most blocks that a filter can have: 64 TiB.
const MaxBlocks = 1 << 40

// maxBitsPerKey bounds what Plan spends on a key. With 64 bits a key one could keep the keys' hashes themselves, which are wrong once in 2^64/n lookups.
const maxBitsPerKey = 64

// preferEight is how much more memory k = 8 may take than the best k and still be chosen: its kernels are the fastest.
const preferEight = 1.02

// Bytes returns the size of the blocks in bytes.
func (g Geometry) Bytes() uint64 { return g.Blocks * blockBytes }

// BitsPerKey returns how many bits each of n keys has of the filter; +Inf for n = 0.
func (g Geometry) BitsPerKey(n uint64) float64 {
	return float64(g.Blocks) * blockBits / float64(n)
}

// FalsePositiveRate returns the share of lookups of absent keys that report "may contain" once the filter has n different keys, 0 to 1,
// from the model in the package documentation: the average over all filters of this geometry. It is exact but for rounding: of rates above 1e-8, and of lower ones with up to a
// billion keys, one part in a thousand at most. It takes some microseconds. For a geometry that is out of range it returns NaN.
func (g Geometry) FalsePositiveRate(n uint64) float64 {
	if g.check() != nil {
		return math.NaN()
	}
	return modelRate(g.K, float64(n), float64(g.Blocks))
}

// Capacity returns the largest number of keys for which FalsePositiveRate is at most p; 0 where there is none or p is not a number,
// and the largest uint64 for p of 1 or more. For a geometry that is out of range it returns 0.
func (g Geometry) Capacity(p float64) uint64 {
	switch {
	case g.check() != nil || math.IsNaN(p) || p <= 0:
		return 0
	case p >= 1:
		return math.MaxUint64
	}
	rate := func(n uint64) float64 { return modelRate(g.K, float64(n), float64(g.Blocks)) }
	lo, hi := uint64(0), g.Blocks
	for rate(hi) <= p {
		if hi > math.MaxUint64/2 {
			return math.MaxUint64
		}
		lo, hi = hi, hi*2
	}
	for hi-lo > 1 { // rate(lo) <= p < rate(hi)
		mid := lo + (hi-lo)/2
		if rate(mid) <= p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// check returns an error where the geometry is out of range.
func (g Geometry) check() error {
	if g.K < 1 || g.K > 16 {
		return fmt.Errorf("blocked: %w: K = %d, must be 1 to 16", ErrParameter, g.K)
	}
	if g.Blocks < 1 {
		return fmt.Errorf("blocked: %w: Blocks = %d, must be 1 to %d", ErrParameter, g.Blocks, uint64(MaxBlocks))
	}
	if g.Blocks > MaxBlocks {
		return fmt.Errorf("blocked: %w: Blocks = %d, must be 1 to %d", ErrTooLarge, g.Blocks, uint64(MaxBlocks))
	}
	return nil
}

// MinRate returns the lowest false positive rate that Plan accepts, about 1.3e-8: what k = 16 probes in one block give for 64 bits a key. Beyond that
// size a sorted array of 64-bit hashes is smaller and better.
func MinRate() float64 { return minRate() }

var minRate = sync.OnceValue(func() float64 {
	return modelRate(16, 1<<40*blockBits/maxBitsPerKey, 1<<40)
})

// Plan returns the geometry with the least memory that keeps the false positive rate p once it has n different keys, from the model in the package
// documentation, over every k from 1 to 16. k = 8 is preferred where it costs at most 2% more memory than the best k, since its kernels are the
// fastest; so the size grows with n and with 1/p but for steps back of up to 2% where the preference ends.
//
// n is 0 to what fits into MaxBlocks, 5.6e14 over the bits a key; 0 is planned as 1. p is MinRate to below 1, as a fraction: 0.01 for 1%. Otherwise the error wraps ErrParameter,
// with ErrUnreachable for a positive p below MinRate, or ErrTooLarge where more than MaxBlocks would be needed. Plan allocates no filter; it takes a few
// milliseconds the first time and some tens to hundreds of microseconds then, the more the lower p is. Plans for up to 8192 keys are remembered, 1024 at most in the whole process, those of
// [PlanBits] and of Builders among them, and cost some nanoseconds when they are asked for again. Each has the one place that n and p give it, until a plan of other parameters takes that: with the same p,
// numbers of keys that differ by less than 1024 have different places.
func Plan(n uint64, p float64) (Geometry, error) { return remembered(n, p, planRate, planFor) }

func planFor(n uint64, p float64) (Geometry, error) {
	if math.IsNaN(p) || p <= 0 || p >= 1 {
		return Geometry{}, fmt.Errorf("blocked: %w: p = %v, must be at least %.3g and below 1", ErrParameter, p, MinRate())
	}
	if p < MinRate() {
		return Geometry{}, fmt.Errorf("blocked: %w: %w: p = %v, the lowest that Plan accepts, at %d bits a key, is %.3g", ErrParameter, ErrUnreachable, p, maxBitsPerKey, MinRate())
	}
	keys := float64(max(n, 1))
	best := Geometry{Blocks: math.MaxUint64}
	eight := best
	for _, k := range [...]int{8, 6, 12, 10, 4, 2, 14, 16, 15, 13, 11, 9, 7, 5, 3, 1} {
		blocks, ok := leastBlocks(k, keys, p, best.Blocks)
		if !ok {
			continue
		}
		best = Geometry{Blocks: blocks, K: k}
		if k == 8 {
			eight = best
		}
	}
	if float64(eight.Blocks) <= preferEight*float64(best.Blocks) {
		best = eight
	}
	if best.Blocks > MaxBlocks {
		return Geometry{}, fmt.Errorf("blocked: %w: n = %d at p = %v needs more than %d blocks of 64 bytes", ErrTooLarge, n, p, uint64(MaxBlocks))
	}
	return best, nil
}

// leastBlocks returns the fewest blocks that keep rate p for n keys at k probes, where these are fewer than below. It reports false where
// they are not, or where k needs more than maxBitsPerKey.
func leastBlocks(k int, n, p float64, below uint64) (uint64, bool) {
	limit := min(math.Ceil(n*maxBitsPerKey/blockBits)+1, 1<<52) // beyond, floats are no integers; such a size is refused anyway
	if float64(below) <= limit {
		limit = float64(below) - 1
	}
	if limit < 1 || modelRate(k, n, limit) > p {
		return 0, false
	}
	if modelRate(k, n, 1) <= p {
		return 1, true
	}
	// The logarithm of the rate is almost a line over that of the size: interpolate, and halve where that is slow. The bits of a float, taken as an integer, are its
	// logarithm to base two, roughly, and the same everywhere.
	lg := func(x float64) float64 { return float64(math.Float64bits(x)) }
	lo, hi := 1.0, limit
	rateLo, rateHi := lg(modelRate(k, n, lo)), lg(modelRate(k, n, hi))
	for turn := 0; hi-lo > 1; turn++ {
		at := 0.5
		if turn%3 != 2 && rateLo > rateHi {
			at = (rateLo - lg(p)) / (rateLo - rateHi)
		}
		mid := math.Float64frombits(uint64(lg(lo) + float64(at*(lg(hi)-lg(lo)))))
		mid = max(lo+1, min(math.Floor(mid), hi-1))
		if rate := modelRate(k, n, mid); rate <= p {
			hi, rateHi = mid, lg(rate)
		} else {
			lo, rateLo = mid, lg(rate)
		}
	}
	return uint64(hi), true
}

// PlanBits returns the geometry that has the lowest false positive rate for n different keys in at most bitsPerKey bits for each of them, and at
// least one block.
//
// n is 0 to 5.6e14 over bitsPerKey, with 0 planned as 1; bitsPerKey is above 0 and at most 65536. Otherwise the error wraps ErrParameter, or ErrTooLarge where more than
// MaxBlocks would be needed. PlanBits allocates no filter; it takes a few milliseconds the first time and some tens of microseconds then, or nanoseconds where it
// remembers n and bitsPerKey, as Plan does n and p.
func PlanBits(n uint64, bitsPerKey float64) (Geometry, error) {
	return remembered(n, bitsPerKey, planBitsDown, planDown)
}

func planDown(n uint64, bitsPerKey float64) (Geometry, error) {
	return planBits(n, bitsPerKey, math.Floor)
}

func planUp(n uint64, bitsPerKey float64) (Geometry, error) {
	return planBits(n, bitsPerKey, math.Ceil)
}

// planBits is PlanBits with the number of blocks rounded by round.
func planBits(n uint64, bitsPerKey float64, round func(float64) float64) (Geometry, error) {
	const most = 65536
	if math.IsNaN(bitsPerKey) || bitsPerKey <= 0 || bitsPerKey > most {
		return Geometry{}, fmt.Errorf("blocked: %w: bitsPerKey = %v, must be above 0 and at most %d", ErrParameter, bitsPerKey, most)
	}
	keys := float64(max(n, 1))
	blocks := max(1, round(keys*bitsPerKey/blockBits))
	if blocks > MaxBlocks {
		return Geometry{}, fmt.Errorf("blocked: %w: n = %d at %v bits a key is more than %d blocks of 64 bytes", ErrTooLarge, n, bitsPerKey, uint64(MaxBlocks))
	}
	best, bestRate := 8, modelRate(8, keys, blocks)
	for k := 1; k <= 16; k++ {
		if rate := modelRate(k, keys, blocks); rate < bestRate {
			best, bestRate = k, rate
		}
	}
	return Geometry{Blocks: uint64(blocks), K: best}, nil
}
