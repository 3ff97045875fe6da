package blocked

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// long reports whether the run may take minutes and gigabytes: BLOCKED_LONG=1.
func long() bool { return os.Getenv("BLOCKED_LONG") != "" }

// measureRate fills filters of geometry g with n random keys each, asks for absent ones until about expected false positives are due, and returns the share
// of them together with its standard error. Both the choice of questions and the differences between filters are in the error.
func measureRate(t *testing.T, r *rand.Rand, g Geometry, n int, expected, most float64) (rate, sigma float64) {
	t.Helper()
	model := g.FalsePositiveRate(uint64(n))
	asked := min(expected/model, most)
	filters := max(1, min(2000, 4_000_000/max(n, 1)))
	each := int(asked/float64(filters)) + 1
	f, err := NewGeometry(g)
	if err != nil {
		t.Fatal(err)
	}
	var hs [4096]uint64
	var may [4096]bool
	sum, squares := 0.0, 0.0
	for range filters {
		f.Reset()
		for left := n; left > 0; left -= min(left, len(hs)) {
			part := hs[:min(left, len(hs))]
			for i := range part {
				part[i] = r.Uint64()
			}
			f.AddHashes(part)
		}
		hits := 0.0
		for left := each; left > 0; left -= min(left, len(hs)) {
			part := hs[:min(left, len(hs))]
			for i := range part {
				part[i] = r.Uint64()
			}
			f.MayContainHashes(may[:], part)
			for _, m := range may[:len(part)] {
				if m {
					hits++
				}
			}
		}
		share := hits / float64(each)
		sum += share
		squares += share * share
	}
	rate = sum / float64(filters)
	sigma = math.Sqrt(max(model, rate) / float64(filters*each))
	if filters >= 30 {
		sigma = max(sigma, math.Sqrt(max(0, squares/float64(filters)-rate*rate)/float64(filters)))
	} else {
		// Between filters of N blocks the rate varies by about its own size over the root of N.
		sigma = math.Hypot(sigma, 2*model/math.Sqrt(float64(g.Blocks)*float64(filters)))
	}
	return rate, sigma
}

// TestRates: the false positive rate is the one that was asked for: not above p, and what the model says.
func TestRates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	r := rand.New(rand.NewPCG(11, 12))
	ns := []int{10, 100, 1000, 10_000, 100_000, 1_000_000}
	expected, most := 4000.0, 3e7
	if long() {
		ns = append(ns, 10_000_000)
		expected, most = 40_000.0, 2e9
	}
	for _, n := range ns {
		for _, p := range []float64{1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6} {
			g, err := Plan(uint64(n), p)
			if err != nil {
				t.Fatal(err)
			}
			model := g.FalsePositiveRate(uint64(n))
			rate, sigma := measureRate(t, r, g, n, expected, most)
			if testing.Verbose() {
				t.Logf("n %8d, p %.0e: %d blocks, k %2d, %6.2f bits a key: measured %.4g +- %.1g, model %.4g", n, p, g.Blocks, g.K, g.BitsPerKey(uint64(n)), rate, sigma, model)
			}
			if rate > p+4.5*sigma {
				t.Errorf("n = %d, p = %v: measured %v +- %v", n, p, rate, sigma)
			}
			if math.Abs(rate-model) > 4.5*sigma+0.002*model {
				t.Errorf("n = %d, p = %v: measured %v +- %v, model %v", n, p, rate, sigma, model)
			}
		}
	}
}

// TestRatesPerK does so for every k at a fixed size, where the kernels' probes could be correlated.
func TestRatesPerK(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	r := rand.New(rand.NewPCG(13, 14))
	for k := 1; k <= 16; k++ {
		for _, bits := range []float64{6, 10, 20} {
			g := Geometry{20011, k}
			n := int(float64(g.Blocks) * blockBits / bits)
			model := g.FalsePositiveRate(uint64(n))
			rate, sigma := measureRate(t, r, g, n, 20000, 5e7)
			if math.Abs(rate-model) > 4.5*sigma+0.002*model {
				t.Errorf("k = %d, %v bits a key: measured %v +- %v, model %v", k, bits, rate, sigma, model)
			}
		}
	}
}

// TestRatesOfRealKeys: keys with structure have the rate of random ones: integers in both byte orders, decimal strings, a long common prefix.
func TestRatesOfRealKeys(t *testing.T) {
	prefix := strings.Repeat("p", 64)
	for name, key := range map[string]func(i uint64) []byte{
		"little-endian":   func(i uint64) []byte { return binary.LittleEndian.AppendUint64(nil, i) },
		"big-endian":      func(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) },
		"32 bits":         func(i uint64) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(i)) },
		"big-endian 32":   func(i uint64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) },
		"multiples":       func(i uint64) []byte { return binary.LittleEndian.AppendUint64(nil, i<<24) },
		"decimal":         func(i uint64) []byte { return fmt.Append(nil, i) },
		"prefix":          func(i uint64) []byte { return fmt.Append(nil, prefix, i) },
		"prefix and tail": func(i uint64) []byte { return fmt.Append(nil, prefix, i, prefix) },
	} {
		for _, p := range []float64{0.01, 0.001} {
			n, asked := uint64(100_000), uint64(1_000_000)
			if testing.Short() {
				n, asked = 10_000, 100_000
			}
			f := mustNew(t, n, p)
			for i := range n {
				f.Add(key(i))
			}
			hits := 0
			for i := n; i < n+asked; i++ {
				if f.MayContain(key(i)) {
					hits++
				}
			}
			if want := p * float64(asked); float64(hits) > want+5*math.Sqrt(want)+want/50 {
				t.Errorf("%s keys at %v: %d false positives in %d", name, p, hits, asked)
			}
		}
	}
}

// TestBlocksAreEven: a chi-square test of the block number at sizes where a remainder would favour the low blocks.
func TestBlocksAreEven(t *testing.T) {
	for _, blocks := range []uint64{3 << 29, 3, 1<<23 - 1, 1<<23 + 1, 1000003, MaxBlocks} {
		const bins, keys = 1024, 1 << 20
		var low, high [bins]float64
		for i := range uint64(keys) {
			at := blockIndex(hashUint64(i, flipOf(0)), blocks)
			high[at*bins/blocks]++
			low[at%bins]++
		}
		used := min(bins, blocks)
		for name, counts := range map[string][]float64{"place": high[:], "remainder": low[:]} {
			chi, want := 0.0, float64(keys)/float64(used)
			for _, c := range counts {
				if c > 0 {
					chi += (c - want) * (c - want) / want
				}
			}
			free := float64(used - 1)
			if math.Abs(chi-free) > 6*math.Sqrt(2*free)+1 {
				t.Errorf("%d blocks: chi-square of the %s is %v with %v degrees of freedom", blocks, name, chi, free)
			}
		}
	}
}

// TestLargeOffsets: nothing wraps at 2^31 and 2^32 bytes or bits. The memory is asked for, and a few pages of it touched.
func TestLargeOffsets(t *testing.T) {
	if math.MaxInt == math.MaxInt32 || raceEnabled || testing.Short() || runtime.GOARCH == "wasm" {
		t.Skip("takes four gigabytes of address space")
	}
	const most = 1<<26 + 12345
	big, err := NewGeometry(Geometry{most, 8})
	if err != nil {
		t.Fatal(err)
	}
	eachKernel(t, func(t *testing.T) {
		for _, blocks := range []uint64{1<<23 - 1, 1 << 23, 1<<23 + 1, 1<<25 - 1, 1 << 25, 1<<25 + 1, 1<<26 - 1, 1 << 26, 1<<26 + 1, most} {
			f := &Filter{header: makeHeader(big.bits, Geometry{blocks, 8})}
			places := []uint64{0, 1, 1 << 22, 1<<23 - 2, 1<<23 - 1, 1 << 23, 1<<25 - 1, 1 << 25, 1<<26 - 1, 1 << 26, blocks - 2, blocks - 1}
			slices.Sort(places)
			var hs []uint64
			for _, at := range slices.Compact(places) {
				if at >= blocks {
					continue
				}
				h := uint64(math.Ceil(float64(at) / float64(blocks) * (1 << 64)))
				for blockIndex(h, blocks) < at {
					h += 1 << 30
				}
				if got := blockIndex(h, blocks); got != at {
					t.Fatalf("%d blocks: %#x is in block %d, want %d", blocks, h, got, at)
				}
				hs = append(hs, h)
			}
			for i, h := range hs {
				if f.MayContainHash(h) {
					t.Errorf("%d blocks: hash %d of an untouched block is contained", blocks, i)
				}
				f.AddHash(h)
				ref := reference{blocks: blocks, k: 8}
				for _, p := range ref.probes(h) {
					if f.Bits()[p[0]]>>p[1]&1 == 0 {
						t.Fatalf("%d blocks: %#x did not set bit %d of byte %d", blocks, h, p[1], p[0])
					}
				}
			}
			may := make([]bool, len(hs))
			f.MayContainHashes(may, hs)
			for i, m := range may {
				if !m {
					t.Errorf("%d blocks: hash %d is reported absent", blocks, i)
				}
				clear(f.block(hs[i])[:])
			}
		}
	})
}

// TestRatesOfManyKeys: the rate holds with 50 million keys, at 2^32 bits and one block either side.
func TestRatesOfManyKeys(t *testing.T) {
	if !long() {
		t.Skip("BLOCKED_LONG=1 runs it: half a gigabyte and a minute")
	}
	r := rand.New(rand.NewPCG(15, 16))
	for _, c := range []struct {
		n      int
		blocks uint64
		p      float64
	}{{n: 50_000_000, p: 0.01}, {n: 50_000_000, p: 1e-4}, {n: 100_000_000, p: 0.01}, {n: 100_000_000, p: 1e-6}, {425_000_000, 1<<23 - 1, 0}, {425_000_000, 1 << 23, 0}, {425_000_000, 1<<23 + 1, 0}} {
		g := Geometry{c.blocks, 8}
		if c.blocks == 0 {
			var err error
			if g, err = Plan(uint64(c.n), c.p); err != nil {
				t.Fatal(err)
			}
		}
		rate, sigma := measureRate(t, r, g, c.n, 20000, 1e9)
		model := g.FalsePositiveRate(uint64(c.n))
		t.Logf("%d keys in %d blocks, k = %d: measured %.4g +- %.1g, model %.4g", c.n, g.Blocks, g.K, rate, sigma, model)
		if rate > 1.1*model || math.Abs(rate-model) > 4.5*sigma+0.002*model {
			t.Errorf("%d keys in %d blocks, k = %d: measured %v +- %v, model %v", c.n, g.Blocks, g.K, rate, sigma, model)
		}
	}
}
