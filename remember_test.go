package blocked

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestRememberedPlans holds remembered plans against fresh ones, with parameters that push each other out.
func TestRememberedPlans(t *testing.T) {
	turns := 400
	if testing.Short() {
		turns = 60
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(41, uint64(g)))
			for range turns {
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

// TestPlaces: what is planned side by side has places of its own.
func TestPlaces(t *testing.T) {
	type parameters struct {
		x    float64
		kind planKind
	}
	var all []parameters
	for _, bits := range []float64{8, 9, 10, 11, 12, 14, 16, 20} {
		all = append(all, parameters{bits, planBitsDown}, parameters{bits, planBitsUp})
	}
	for _, rate := range []float64{0.05, 0.02, 0.01, 0.005, 0.002, 0.001} {
		all = append(all, parameters{rate, planRate})
	}
	seen := map[uint64]parameters{}
	for _, p := range all {
		place := placeOf(p.x, p.kind)
		if place >= rememberedPlans {
			t.Fatalf("place %d", place)
		}
		if o, ok := seen[place]; ok {
			t.Errorf("%v and %v have the same place", p, o)
		}
		seen[place] = p
	}
	// A table of filters at 10 bits and one at 12 that are written in turns. Nothing is remembered before.
	for i := range plans {
		plans[i].Store(nil)
	}
	defer func() {
		for i := range plans {
			plans[i].Store(nil) // no real plans
		}
	}()
	planned := 0
	plan := func(uint64, float64) (Geometry, error) { planned++; return Geometry{1, 1}, nil }
	for range 3 {
		for n := uint64(60); n <= 100; n++ {
			for _, bits := range []float64{10, 12} {
				if _, err := remembered(n, bits, planBitsUp, plan); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if planned != 2*41 {
		t.Errorf("%d plans for %d pairs of parameters", planned, 2*41)
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

func BenchmarkPlanBitsAlternating(b *testing.B) {
	for b.Loop() {
		for _, bits := range []float64{10, 12} {
			if _, err := PlanBits(80, bits); err != nil {
				b.Fatal(err)
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
