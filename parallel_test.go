package blocked

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAddHashesParallel(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(41, 42))
		hs := make([]uint64, 5*parallelLeast+3)
		for i := range hs {
			hs[i] = r.Uint64()
		}
		hs[0], hs[1], hs[2] = 0, math.MaxUint64, 1<<63
		for _, g := range []Geometry{{1, 8}, {2, 8}, {3, 3}, {5, 12}, {1000, 8}, {40001, 8}} {
			for _, goroutines := range []int{-1, 0, 1, 2, 3, 4, 100} {
				for _, n := range []int{0, 1, 100, 2*parallelLeast - 1, 2 * parallelLeast, len(hs)} {
					if testing.Short() && (n > 100 && g.Blocks > 3 || raceEnabled) && goroutines != 3 {
						continue
					}
					want, err := NewGeometry(g)
					if err != nil {
						t.Fatal(err)
					}
					got := want.Clone()
					want.AddHashes(hs[:n])
					got.AddHashesParallel(hs[:n], goroutines)
					if !bytes.Equal(got.Bits(), want.Bits()) {
						t.Fatalf("%v, %d goroutines, %d hashes: other bits", g, goroutines, n)
					}
				}
			}
		}
	})
}

func TestPickRange(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(43, 44))
		f := mustNew(t, 10, 0.5)
		for range 2000 {
			hs := make([]uint64, r.IntN(70))
			for i := range hs {
				hs[i] = r.Uint64() >> (56 * r.IntN(2))
			}
			first, size := r.Uint64()>>r.IntN(64), r.Uint64()>>r.IntN(64)
			var want []uint64
			for _, h := range hs {
				if h-first < size {
					want = append(want, h)
				}
			}
			dst := make([]uint64, len(hs)+batchWidth)
			if n := pickRange(&f.header, dst, hs, first, size); !slices.Equal(dst[:n], want) {
				t.Fatalf("of %v from %d, %d: %v, want %v", hs, first, size, dst[:n], want)
			}
		}
	})
}

// TestFirstHash: the range of a block's hashes begins where the block number changes.
func TestFirstHash(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	for range 100000 {
		n := r.Uint64()>>(24+r.IntN(40)) | 1
		i := r.Uint64N(n)
		h := firstHash(i, n)
		if blockIndex(h, n) != i || h > 0 && blockIndex(h-1, n) != i-1 {
			t.Fatalf("the first hash of block %d of %d is not %#x", i, n, h)
		}
	}
	if firstHash(7, 7) != 0 {
		t.Error("behind the last block there is a hash")
	}
}
