package blocked

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// divisors of n, in rising order.
func divisors(n uint64) (ds []uint64) {
	for a := uint64(1); a <= n; a++ {
		if n%a == 0 {
			ds = append(ds, a)
		}
	}
	return ds
}

// TestFold compares folds with filters that were made at that size.
func TestFold(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, blocks := range []uint64{1, 2, 7, 12, 96, 1000, 2 * 3 * 5 * 7 * 11} {
		for _, k := range []int{1, 3, 8, 9, 16} {
			hs := hashesFor(r, int(blocks)*10)
			f := newFilter(Geometry{blocks, k}, 5, false)
			f.AddHashes(hs)
			before := f.Clone()
			data, _ := f.MarshalBinary()
			v, err := OpenView(append([]byte{1}, data...)[1:])
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range divisors(blocks) {
				want := newFilter(Geometry{blocks / a, k}, 5, false)
				want.AddHashes(hs)
				for what, fold := range map[string]func(uint64) (*Filter, error){"filter": f.Fold, "view": v.Fold} {
					got, err := fold(a)
					if err != nil || !sameFilter(got.View(), want) {
						t.Fatalf("%s: %d blocks, k = %d, folded by %d: error %v", what, blocks, k, a, err)
					}
					if a == 1 && &got.Bits()[0] == &f.Bits()[0] {
						t.Fatal("Fold(1) is no copy")
					}
				}
			}
			for _, a := range []uint64{0, blocks + 1, 2 * blocks, 13, math.MaxUint64} {
				if a == blocks || a > 0 && blocks%a == 0 {
					continue
				}
				if _, err := f.Fold(a); !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), fmt.Sprint(a)) {
					t.Errorf("%d blocks, folded by %d: %v", blocks, a, err)
				}
			}
			if !bytes.Equal(f.Bits(), before.Bits()) {
				t.Fatal("folding changed the filter")
			}
		}
	}
}

// TestFoldTo compares FoldTo with the smallest fold that any divisor gives.
func TestFoldTo(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, blocks := range []uint64{1, 31, 64, 360, 2 * 3 * 5 * 7 * 11, 4096} {
		for _, k := range []int{2, 6, 8, 12} {
			for _, n := range []uint64{0, 1, blocks, 10 * blocks, 40 * blocks} {
				f := newFilter(Geometry{blocks, k}, 0, false)
				for range n {
					f.AddHash(r.Uint64())
				}
				for _, p := range []float64{1e-3, 0.01, 0.2} {
					best := uint64(0)
					for _, a := range divisors(blocks) {
						if s, _ := f.Fold(a); s.FalsePositiveRate() <= p {
							best = a
						}
					}
					got, err := f.FoldTo(p)
					if best == 0 {
						if !errors.Is(err, ErrUnreachable) || got != nil {
							t.Errorf("%d blocks, k = %d, %d keys to %v: %v", blocks, k, n, p, err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					want, _ := f.Fold(best)
					if !sameFilter(got.View(), want) {
						t.Errorf("%d blocks, k = %d, %d keys to %v: %d blocks, want %d", blocks, k, n, p, got.blocks, want.blocks)
					}
					if &got.Bits()[0] == &f.Bits()[0] {
						t.Error("no copy")
					}
					if s, err := f.View().FoldTo(p); err != nil || !sameFilter(s.View(), want) {
						t.Errorf("view: %v", err)
					}
				}
			}
		}
	}
	f := newFilter(Geometry{2, 8}, 0, false)
	for _, p := range []float64{-1, 0, 1, 2, math.NaN(), math.Inf(1)} {
		if _, err := f.FoldTo(p); !errors.Is(err, ErrParameter) {
			t.Errorf("FoldTo(%v): %v", p, err)
		}
	}
}

func TestFoldable(t *testing.T) {
	for _, n := range []uint64{0, 1, 31, 32, 33, 63, 64, 65, 100, 1000, 999_983, 1<<40 - 1, MaxBlocks, MaxBlocks + 1, math.MaxUint64} {
		got := Geometry{n, 8}.Foldable()
		if n > MaxBlocks || n < 32 {
			if got.Blocks != n {
				t.Errorf("%d becomes %d", n, got.Blocks)
			}
			continue
		}
		if got.Blocks < n || float64(got.Blocks) >= float64(n)*(1+1.0/16) || got.Blocks > MaxBlocks || got.K != 8 {
			t.Errorf("%d becomes %v", n, got)
		}
		for got.Blocks >= 32 {
			if got.Blocks%2 != 0 {
				t.Errorf("%d cannot be halved from %d on", n, got.Blocks)
				break
			}
			got.Blocks /= 2
		}
	}
}

func (r reference) rate() float64 { // the layout's formula, as it stands there
	sum := 0.0
	for b := uint64(0); b < r.blocks; b++ {
		var share [8]float64
		for i := range 512 {
			if r.bits[b*64+uint64(i)/8]>>(i%8)&1 != 0 {
				share[i/64] += 1.0 / 64
			}
		}
		for first := range 8 {
			product := 1.0
			for l := range 8 {
				m := 0
				for t := range min(r.k, 8) {
					if (first+t)%8 == l || r.k > 8 {
						m = 1
					}
				}
				for t := range max(0, r.k-8) {
					if (first+t)%8 == l {
						m = 2
					}
				}
				product *= math.Pow(share[l], float64(m))
			}
			sum += product
		}
	}
	return sum / 8 / float64(r.blocks)
}

// TestRate compares FalsePositiveRate with the layout's formula done the long way, and with lookups.
func TestRate(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	for k := 1; k <= 16; k++ {
		for _, g := range []Geometry{{1, k}, {2, k}, {100, k}, {exactBlocks + 3, k}} {
			for _, perBlock := range []uint64{0, 3, 30, 60, 300, 3000} {
				if perBlock > 60 && g.Blocks > 100 {
					continue
				}
				f := newFilter(g, 0, false)
				for range g.Blocks * perBlock {
					f.AddHash(r.Uint64())
				}
				want := reference{f.Bits(), g.Blocks, k}.rate()
				got := f.FalsePositiveRate()
				if math.Abs(got-want) > 1e-12*want || got < 0 || got > 1 {
					t.Errorf("%v, %d keys a block: rate %v, want %v", g, perBlock, got, want)
				}
				if v := f.View(); v.FalsePositiveRate() != got || v.Stats().FalsePositiveRate != got || f.Stats().FalsePositiveRate != got {
					t.Errorf("%v: a view's rate differs", g)
				}
				if perBlock != 60 {
					continue
				}
				const lookups = 400_000
				hits := 0.0
				var may [1000]bool
				hs := make([]uint64, len(may))
				for range lookups / len(may) {
					for i := range hs {
						hs[i] = r.Uint64()
					}
					f.MayContainHashes(may[:], hs)
					for _, m := range may {
						if m {
							hits++
						}
					}
				}
				if off := math.Abs(hits - lookups*got); off > 5*math.Sqrt(lookups*got)+5 {
					t.Errorf("%v: %v of %d lookups are false positives, the rate says %v", g, hits, lookups, lookups*got)
				}
			}
		}
		f := newFilter(Geometry{3, k}, 0, false)
		fill(f.Bits(), 0xff)
		if f.FalsePositiveRate() != 1 || f.Fill() != 1 {
			t.Errorf("k = %d: a full filter has rate %v, fill %v", k, f.FalsePositiveRate(), f.Fill())
		}
	}
	if f := new(Filter); f.FalsePositiveRate() != 0 || f.Fill() != 0 {
		t.Error("a zero Filter has a rate")
	}
}

// TestCardinality holds the estimate's error, from a few keys to a filter that is almost full.
func TestCardinality(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	for _, k := range []int{1, 4, 8, 12, 16} {
		for _, blocks := range []uint64{1, 10, 1000, 5000} {
			for _, perBlock := range []float64{0, 0.2, 2, 20, 51, 100, 200} {
				if perBlock > 300/float64(k)*8 {
					continue
				}
				f := newFilter(Geometry{blocks, k}, 0, false)
				n := uint64(math.Ceil(perBlock * float64(blocks)))
				for range n {
					f.AddHash(r.Uint64())
				}
				got, saturated := f.Cardinality()
				fill := f.Fill()
				zeros := (1 - fill) * float64(blocks) * 512
				// Sampling: of the bits that coincide, and, in a filter that is far too full, of the zero bits that are left.
				off := math.Abs(float64(got) - float64(n))
				if most := 5*math.Sqrt(float64(n)*(fill+0.02)/float64(k)) + 1 + 6*float64(n)/math.Sqrt(zeros+1); zeros > 100 && (saturated || off > most) {
					t.Errorf("k = %d, %d blocks, fill %.3f: %d keys estimated as %d (saturated %v), off by at most %.0f allowed", k, blocks, fill, n, got, saturated, most)
				}
				if zeros < saturatedZeros && !saturated {
					t.Errorf("k = %d, %d blocks, %d keys: not saturated with %v zero bits", k, blocks, n, zeros)
				}
			}
		}
	}
	f := newFilter(Geometry{3, 8}, 0, false)
	fill(f.Bits(), 0xff)
	if n, saturated := f.Cardinality(); !saturated || n < 100 || n > 10_000 {
		t.Errorf("a full filter: %d, %v", n, saturated)
	}
	f.Reset()
	if n, saturated := f.Cardinality(); saturated || n != 0 {
		t.Errorf("an empty filter: %d, %v", n, saturated)
	}
	if n, saturated := new(Filter).Cardinality(); saturated || n != 0 {
		t.Errorf("a zero filter: %d, %v", n, saturated)
	}
}

func TestStatsPrint(t *testing.T) {
	f := goldenFiles[0].filter(t)
	v, err := OpenView(goldenFiles[0].container(t))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Stats().String()
	for _, part := range []string{"3 blocks", "k = 8", "bytes     192\n", "fill ", "rate ", "keys      about "} {
		if !strings.Contains(s, part) {
			t.Errorf("%q is not in\n%s", part, s)
		}
	}
	if s := v.Stats().String(); !strings.Contains(s, "100 by the file") {
		t.Errorf("the file's number of keys is not in\n%s", s)
	}
	fill(f.Bits(), 0xff)
	if s := f.Stats().String(); !strings.Contains(s, "at least ") {
		t.Errorf("a full filter says\n%s", s)
	}
	if strings.Count(s, "\n") != 5 {
		t.Errorf("not five lines:\n%s", s)
	}
	_ = Stats{}.String()
}
