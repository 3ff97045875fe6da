package blocked

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestRememberedPlans holds remembered plans against fresh ones, with parameters that push each other out.
func TestRememberedPlans(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(41, uint64(g)))
			for range 400 {
				n, x := 1+r.Uint64N(60), []float64{0.01, 0.02, 0.5}[r.IntN(3)]
				if r.IntN(8) == 0 {
					n += 1024 // the same place
				}
				for _, c := range []struct {
					name       string
					have, want func(uint64, float64) (Geometry, error)
					x          float64
				}{
					{"Plan", Plan, planFor, x},
					{"PlanBits", PlanBits, planDown, x * 1000},
					{"WithRoundUp", func(n uint64, x float64) (Geometry, error) { return remembered(n, x, planBitsUp, planUp) }, planUp, x * 1000},
				} {
					have, err := c.have(n, c.x)
					want, wantErr := c.want(n, c.x)
					if have != want || err != nil || wantErr != nil {
						t.Errorf("%s(%d, %v) = %v, %v, want %v, %v", c.name, n, c.x, have, err, want, wantErr)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	for range 2 { // an error stays one
		if _, err := Plan(5, 2); err == nil {
			t.Error("Plan at rate 2 has no error")
		}
		if _, err := PlanBits(5, -1); err == nil {
			t.Error("PlanBits at -1 bits has no error")
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = PlanBits(80, 10) }); n > 0 && !raceEnabled {
		t.Errorf("a remembered plan takes %v allocations", n)
	}
}

func TestRoundUp(t *testing.T) {
	for n := 1; n < 400; n++ {
		for _, bits := range []float64{3, 10, 12.8, 16} {
			down, err1 := NewBuilderBits(bits)
			up, err2 := NewBuilderBits(bits, WithRoundUp())
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			for i := range n {
				down.AddHash(uint64(i))
				up.AddHash(uint64(i))
			}
			d, err1 := down.Geometry()
			u, err2 := up.Geometry()
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if u.BitsPerKey(uint64(n)) < bits*(1-1e-12) || u.Blocks > d.Blocks+1 || u.Blocks > 1 && float64(u.Blocks-1)*blockBits >= float64(n)*bits*(1+1e-12) {
				t.Fatalf("%d keys at %v bits: %d blocks rounded up, %d down", n, bits, u.Blocks, d.Blocks)
			}
			for k := 1; k <= 16; k++ {
				if g := (Geometry{u.Blocks, k}); g.FalsePositiveRate(uint64(n)) < u.FalsePositiveRate(uint64(n)) {
					t.Fatalf("%d keys at %v bits: k = %d is better than %d", n, bits, k, u.K)
				}
			}
		}
	}
}

func BenchmarkPlanBitsRemembered(b *testing.B) {
	for b.Loop() {
		if _, err := PlanBits(80, 10); err != nil {
			b.Fatal(err)
		}
	}
}
