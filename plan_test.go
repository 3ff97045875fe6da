package blocked

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPlanTable holds Plan against the table of the layout's specification: bits a key for each rate, for many keys.
func TestPlanTable(t *testing.T) {
	const n = 1e8
	for _, c := range []struct{ p, best, eight float64 }{
		{0.1, 4.86, 5.88}, {0.05, 6.34, 7.05}, {0.02, 8.37, 8.72}, {0.01, 9.93, 10.10}, {0.005, 11.56, 11.61}, {0.002, 13.84, 13.84},
		{0.001, 15.61, 15.72}, {1e-4, 22.13, 23.61}, {1e-5, 29.82, 34.98}, {1e-6, 39.01, 51.87},
	} {
		g, err := Plan(n, c.p)
		if err != nil {
			t.Fatal(err)
		}
		want := c.best
		if c.eight <= 1.02*c.best {
			want = c.eight
			if g.K != 8 {
				t.Errorf("p = %v: k = %d, want 8, which costs %.1f%% more", c.p, g.K, 100*(c.eight/c.best-1))
			}
		}
		// The table has two decimals, and above k = 8 the specification's formula is an approximation within 1.5%.
		if got := g.BitsPerKey(n); math.Abs(got/want-1) > 0.005 {
			t.Errorf("p = %v: %.3f bits a key, the specification has %.2f", c.p, got, want)
		}
		if got := g.BitsPerKey(n); got > 1.03*c.best {
			t.Errorf("p = %v: %.3f bits a key, more than 3%% above the best, %.2f", c.p, got, c.best)
		}
		if got := g.FalsePositiveRate(n); got > c.p*(1+1e-9) || got < c.p*0.999 {
			t.Errorf("p = %v: the plan's own rate is %v", c.p, got)
		}
	}
}

func TestPlanRanges(t *testing.T) {
	for _, p := range []float64{-0.1, 0, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1e-9, 1e-12, math.Nextafter(1, 2)} {
		for _, n := range []uint64{0, 1, 1000, 1e9} {
			_, err := Plan(n, p)
			if !errors.Is(err, ErrParameter) {
				t.Errorf("Plan(%d, %v): error is %v, want ErrParameter", n, p, err)
				continue
			}
			if unreachable := p > 0 && p < 1; errors.Is(err, ErrUnreachable) != unreachable {
				t.Errorf("Plan(%d, %v): error is %v; ErrUnreachable: want %v", n, p, err, unreachable)
			}
			if !strings.Contains(err.Error(), "p = ") || !strings.Contains(err.Error(), "1.26e-08") {
				t.Errorf("Plan(%d, %v): %q names neither p nor the lowest rate", n, p, err)
			}
			if f, err := New(n, p); f != nil || err == nil {
				t.Errorf("New(%d, %v) = %v, %v", n, p, f, err)
			}
		}
	}
	for _, p := range []float64{0.9999999999999999, 0.5, 1e-6, 1e-7, MinRate()} {
		for _, n := range []uint64{0, 1, 2, 3, 8, 100} {
			g, err := Plan(n, p)
			if err != nil || g.check() != nil || g.Blocks > 40 {
				t.Errorf("Plan(%d, %v) = %v, %v", n, p, g, err)
			}
			if rate := g.FalsePositiveRate(n); !(rate >= 0 && rate <= p) {
				t.Errorf("Plan(%d, %v): the plan's own rate is %v", n, p, rate)
			}
		}
	}
	for _, c := range []struct {
		n uint64
		p float64
	}{{3, .99}, {8, .95}, {100, .9999999999999999}} {
		if g, err := Plan(c.n, c.p); err != nil || g.Blocks != 1 {
			t.Errorf("Plan(%d, %v) = %v, %v, want one block", c.n, c.p, g, err)
		}
	}
	for _, n := range []uint64{1e18, 1 << 62, math.MaxUint64} {
		if g, err := Plan(n, 0.01); !errors.Is(err, ErrTooLarge) {
			t.Errorf("Plan(%d, 0.01) = %v, %v, want ErrTooLarge", n, g, err)
		}
		if f, err := New(n, 0.01); !errors.Is(err, ErrTooLarge) {
			t.Errorf("New(%d, 0.01) = %v, %v, want ErrTooLarge", n, f, err)
		}
		if _, err := PlanBits(n, 10); !errors.Is(err, ErrTooLarge) {
			t.Errorf("PlanBits(%d, 10): %v, want ErrTooLarge", n, err)
		}
	}
	for _, b := range []float64{-1, 0, math.NaN(), math.Inf(1), math.Inf(-1), 65537} {
		if _, err := PlanBits(10, b); !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), "bitsPerKey = ") {
			t.Errorf("PlanBits(10, %v): error is %v, want ErrParameter with the name", b, err)
		}
	}
	for _, b := range []float64{5e-324, 0.001, 1, 65536} {
		if g, err := PlanBits(10, b); err != nil || g.check() != nil {
			t.Errorf("PlanBits(10, %v) = %v, %v", b, g, err)
		}
	}
	// A slip of some zeros is an error, not the end of the process.
	if _, err := New(1e12, 0.01); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "WithMaxBytes") {
		t.Errorf("New(1e12, 0.01): %v, want ErrTooLarge that names WithMaxBytes", err)
	}
	if _, err := New(1000, 0.01, WithMaxBytes(1000)); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "1000") {
		t.Errorf("New with too few bytes: %v", err)
	}
	// The cap counts bytes: a filter of just that size is made.
	for _, blocks := range []uint64{1, 100, 12345} {
		g := Geometry{blocks, 8}
		if _, err := NewGeometry(g, WithMaxBytes(g.Bytes())); err != nil {
			t.Errorf("%v with a cap of its own size: %v", g, err)
		}
		if _, err := NewGeometry(g, WithMaxBytes(g.Bytes()-1)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v with a cap of a byte less: %v", g, err)
		}
	}
	for _, g := range []Geometry{{1, 0}, {1, 17}, {1, -1}, {0, 8}, {MaxBlocks + 1, 8}, {math.MaxUint64, 8}, {1 << 58, 8}} {
		if f, err := NewGeometry(g); f != nil || !errors.Is(err, ErrParameter) && !errors.Is(err, ErrTooLarge) {
			t.Errorf("NewGeometry(%v) = %v, %v", g, f, err)
		}
		if g.Blocks <= MaxBlocks && !math.IsNaN(g.FalsePositiveRate(10)) || g.Capacity(0.01) != 0 {
			t.Errorf("%v has rate %v and capacity %d", g, g.FalsePositiveRate(10), g.Capacity(0.01))
		}
	}
}

// TestPlanMonotone: more keys or a lower rate never take less memory, but for the 2% by which k = 8 is preferred.
func TestPlanMonotone(t *testing.T) {
	rates := []float64{0.5, 0.2, 0.1, 0.05, 0.03, 0.02, 0.015, 0.0125, 0.01, 0.008, 0.005, 0.002, 0.001, 8e-4, 6e-4, 5e-4, 2e-4, 1e-4, 1e-5, 1e-6, 1e-7}
	var ns []uint64
	for n := 1.0; n < 1.1e12; n *= 1.37 {
		ns = append(ns, uint64(n))
	}
	for _, p := range rates {
		last := uint64(0)
		for _, n := range ns {
			g, err := Plan(n, p)
			if err != nil {
				t.Fatal(err)
			}
			if float64(g.Blocks) < float64(last)/preferEight {
				t.Errorf("p = %v, n = %d: %d blocks, fewer than the %d of a smaller n", p, n, g.Blocks, last)
			}
			last = g.Blocks
			if rate := g.FalsePositiveRate(n); rate > p*(1+1e-9) {
				t.Errorf("p = %v, n = %d: rate %v", p, n, rate)
			}
			if c := g.Capacity(p); float64(c) < float64(n)*(1-1e-6) { // rounding at low rates
				t.Errorf("p = %v, n = %d: capacity %d", p, n, c)
			}
			// Least memory: with this k, one block less is too few.
			if g.Blocks > 1 && g.Blocks < 1<<30 {
				if less := (Geometry{g.Blocks - 1, g.K}); less.FalsePositiveRate(n) <= p {
					t.Errorf("p = %v, n = %d: %v, but %v would do", p, n, g, less)
				}
			}
		}
	}
	for _, n := range ns {
		last := uint64(0)
		for _, p := range rates {
			g, err := Plan(n, p)
			if err != nil {
				t.Fatal(err)
			}
			if float64(g.Blocks) < float64(last)/preferEight {
				t.Errorf("n = %d, p = %v: %d blocks, fewer than the %d of a higher rate", n, p, g.Blocks, last)
			}
			last = g.Blocks
		}
	}
}

// TestPlanIsBest tries every k by brute force on small sizes.
func TestPlanIsBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	tries := 300
	if testing.Short() {
		tries = 30
	}
	for range tries {
		n := uint64(r.IntN(3000))
		p := math.Exp(-r.Float64() * 16)
		if p < MinRate() {
			continue
		}
		g, err := Plan(n, p)
		if err != nil {
			t.Fatal(err)
		}
		least, eight := uint64(math.MaxUint64), uint64(math.MaxUint64)
		for k := 1; k <= 16; k++ {
			for blocks := uint64(1); blocks <= n/8+2; blocks++ {
				if (Geometry{blocks, k}).FalsePositiveRate(max(n, 1)) <= p {
					least = min(least, blocks)
					if k == 8 {
						eight = blocks
					}
					break
				}
			}
		}
		want := least
		if float64(eight) <= 1.02*float64(least) {
			want = eight
		}
		if g.Blocks != want || g.Blocks == eight && want == eight && float64(eight) <= 1.02*float64(least) && g.K != 8 {
			t.Errorf("Plan(%d, %v) = %v, want %d blocks (k = 8: %d)", n, p, g, want, eight)
		}
	}
}

func TestPlanBits(t *testing.T) {
	for _, n := range []uint64{0, 1, 100, 12345, 1e9, 1e12} {
		for _, b := range []float64{0.3, 1, 5, 9.9, 10, 12, 16, 20, 30, 40, 64, 100} {
			g, err := PlanBits(n, b)
			if err != nil {
				t.Fatal(err)
			}
			if g.Blocks > 1 && g.BitsPerKey(max(n, 1)) > b {
				t.Errorf("PlanBits(%d, %v) = %v: %v bits a key", n, b, g, g.BitsPerKey(n))
			}
			for k := 1; k <= 16; k++ {
				if (Geometry{g.Blocks, k}).FalsePositiveRate(max(n, 1)) < g.FalsePositiveRate(max(n, 1)) {
					t.Errorf("PlanBits(%d, %v) = %v, but k = %d is better", n, b, g, k)
				}
			}
		}
	}
}

// TestGeometrySizes: no integer overflows on the way to a trillion keys, on 32-bit machines either.
func TestGeometrySizes(t *testing.T) {
	for _, blocks := range []uint64{1, 1<<25 - 1, 1 << 25, 1<<25 + 1, 1<<26 - 1, 1 << 26, 1<<26 + 1, 1 << 32, 1<<32 + 1, MaxBlocks} {
		g := Geometry{blocks, 8}
		if g.Bytes() != blocks*64 {
			t.Errorf("%v: %d bytes", g, g.Bytes())
		}
		if got, want := g.BitsPerKey(blocks*40), 512.0/40; got != want {
			t.Errorf("%v: %v bits a key, want %v", g, got, want)
		}
		n := g.Capacity(0.01)
		if n < blocks || g.FalsePositiveRate(n) > 0.01 || g.FalsePositiveRate(n+n/1000+1) <= 0.01 {
			t.Errorf("%v: capacity %d, rate %v there", g, n, g.FalsePositiveRate(n))
		}
	}
	g := Geometry{10, 8}
	for p, want := range map[float64]uint64{0: 0, -1: 0, 1: math.MaxUint64, 2: math.MaxUint64, math.Inf(1): math.MaxUint64} {
		if got := g.Capacity(p); got != want {
			t.Errorf("Capacity(%v) = %d, want %d", p, got, want)
		}
	}
	if got := g.Capacity(math.NaN()); got != 0 {
		t.Errorf("Capacity(NaN) = %d", got)
	}
	if got := (Geometry{MaxBlocks, 1}).Capacity(math.Nextafter(1, 0)); got < MaxBlocks {
		t.Errorf("capacity for almost every answer wrong is %d", got)
	}
}

// TestModelStaysInRange: a rate is a share, at any load.
func TestModelStaysInRange(t *testing.T) {
	for k := 1; k <= 16; k++ {
		for _, blocks := range []uint64{1, 2, 3, 100, 1 << 20, MaxBlocks} {
			last := 0.0
			for n := uint64(0); ; n = n*3/2 + 1 {
				rate := (Geometry{blocks, k}).FalsePositiveRate(n)
				if !(rate >= 0 && rate <= 1) || last > 1e-20 && rate < last*(1-1e-3) {
					t.Fatalf("k = %d, blocks = %d, n = %d: rate %v after %v", k, blocks, n, rate, last)
				}
				last = rate
				if n > 1<<60 {
					break
				}
			}
			if last != 1 && blocks < 1<<40 {
				t.Errorf("k = %d, blocks = %d: a full filter has rate %v", k, blocks, last)
			}
		}
	}
}

// TestTinyRateMeetsModel: where both ways to compute the rate work, they agree.
func TestTinyRateMeetsModel(t *testing.T) {
	for k := 1; k <= 16; k++ {
		for _, blocks := range []float64{1, 2, 50, 1e6} {
			for _, load := range []float64{8, 16, 32, 51.2, 80} {
				n := math.Floor(load * blocks)
				exact, tiny := modelRate(k, n, blocks), tinyRate(k, uint64(n), blocks)
				if exact > 1e-8 && math.Abs(tiny/exact-1) > 1e-3 {
					t.Errorf("k = %d, %v keys in %v blocks: %v and %v", k, n, blocks, exact, tiny)
				}
			}
		}
	}
}

// TestTinyRate checks very small rates against closed forms: one key in one block, which the asked key must meet in every probe.
func TestTinyRate(t *testing.T) {
	for k := 1; k <= 8; k++ {
		// The asked key's k lanes must be the key's own, which takes the same start lane unless all eight lanes are in.
		want := math.Pow(1.0/64, float64(k)) / 8
		if k == 8 {
			want *= 8
		}
		if k == 1 {
			want = 1.0 / 64 / 8
		}
		if got := (Geometry{1, k}).FalsePositiveRate(1); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("k = %d: rate %v with one key in one block, want %v", k, got, want)
		}
	}
	// Both rounds in all lanes: two bits a lane, one bit with chance 1/64. The key's one or two bits must cover the asked key's one or two.
	one, two := 1.0/64, 63.0/64
	lane := one*(one*1/64+two*2/64) + two*(two*2/64/63)
	if got, want := (Geometry{1, 16}).FalsePositiveRate(1), math.Pow(lane, 8); math.Abs(got/want-1) > 1e-2 {
		t.Errorf("k = 16: rate %v with one key in one block, want %v", got, want)
	}
}

// TestModelAgainstCounts builds one block many times and counts, for every k.
func TestModelAgainstCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for k := 1; k <= 16; k++ {
		f, err := NewGeometry(Geometry{1, k})
		if err != nil {
			t.Fatal(err)
		}
		const n, filters, asked = 40, 400, 500
		hits := make([]float64, filters)
		hs := make([]uint64, n)
		for i := range hits {
			f.Reset()
			for j := range hs {
				hs[j] = r.Uint64()
			}
			f.AddHashes(hs)
			for range asked {
				if f.MayContainHash(r.Uint64()) {
					hits[i]++
				}
			}
		}
		sum, squares := 0.0, 0.0
		for _, h := range hits {
			sum += h
			squares += h * h
		}
		mean := sum / filters
		sigma := math.Sqrt((squares/filters - mean*mean) / filters)
		want := f.Geometry().FalsePositiveRate(n) * asked
		if math.Abs(mean-want) > 4.5*sigma+1e-9 {
			t.Errorf("k = %d: %.3f false positives in %d, the model has %.3f; sigma %.3f", k, mean, asked, want, sigma)
		}
	}
}
