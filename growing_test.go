package blocked

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func mustGrow(t testing.TB, n uint64, p float64, opts ...Option) *Growing {
	t.Helper()
	g, err := NewGrowing(n, p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGrowingParameters: what is out of range is an error that names it, and options that contradict each other or mean nothing are errors.
func TestGrowingParameters(t *testing.T) {
	for _, p := range []float64{-0.1, 0, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, MinRate() * (1 - 1e-10)} {
		if _, err := NewGrowing(10, p); !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), fmt.Sprint(p)) {
			t.Errorf("p = %v: %v", p, err)
		}
	}
	for _, p := range []float64{MinRate(), 2 * MinRate(), 1e-6, 0.5, 0.9, 0.99, 0.9999999999999999} {
		for _, n := range []uint64{0, 1, 2, 3, 8, 100, 12345} {
			for _, opts := range [][]Option{nil, {WithNonScaling()}, {WithExpansion(1)}, {WithExpansion(maxExpansion)}} {
				g, err := NewGrowing(n, p, opts...)
				if err != nil {
					t.Fatalf("n = %d, p = %v: %v", n, p, err)
				}
				if i := g.Info(); i.Capacity != max(n, 1) || i.Layers != 1 || i.Rate != p || i.Items != 0 || i.Bytes != uint64(len(g.layers[0].Bits())) || i.PlannedRate > p || i.PlannedRate <= 0 {
					t.Fatalf("n = %d, p = %v: %+v", n, p, i)
				}
				if added, err := g.AddIfAbsentString("a"); !added || err != nil || !g.MayContainString("a") || g.Card() != 1 {
					t.Fatalf("n = %d, p = %v: %v, %v", n, p, added, err)
				}
			}
		}
	}
	for _, x := range []int{0, -1, math.MinInt, maxExpansion + 1, math.MaxInt} {
		if _, err := NewGrowing(10, 0.01, WithExpansion(x)); !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), fmt.Sprint(x)) || !strings.Contains(err.Error(), "1 to 32768") {
			t.Errorf("expansion %d: %v", x, err)
		}
	}
	if _, err := NewGrowing(10, 0.01, WithNonScaling(), WithExpansion(2)); !errors.Is(err, ErrParameter) {
		t.Errorf("contradictory options: %v", err)
	}
	for _, n := range []uint64{1e18, 1 << 62, math.MaxUint64} {
		if _, err := NewGrowing(n, 0.01); !errors.Is(err, ErrTooLarge) {
			t.Errorf("n = %d: %v", n, err)
		}
	}
	if _, err := NewGrowing(1e6, 0.01, WithMaxBytes(1e6)); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "1000000") {
		t.Errorf("a first layer above WithMaxBytes: %v", err)
	}
	if _, err := NewGrowing(10, 0.01, WithMaxBytes(0)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("WithMaxBytes(0): %v", err)
	}
	for name, opt := range map[string]Option{"WithExpansion": WithExpansion(2), "WithNonScaling": WithNonScaling()} {
		_, one := New(10, 0.01, opt)
		_, two := NewGeometry(Geometry{1, 8}, opt)
		_, three := NewBuilder(0.01, opt)
		_, four := NewBuilderBits(10, opt)
		for _, err := range []error{one, two, three, four} {
			if !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s in another filter: %v", name, err)
			}
		}
	}
	var zero Growing
	if added, err := zero.AddIfAbsentHash(1); added || !errors.Is(err, ErrParameter) {
		t.Errorf("add to a zero Growing: %v, %v", added, err)
	}
	if n, err := zero.AddStrings([]string{"a"}); n != 0 || !errors.Is(err, ErrParameter) {
		t.Errorf("batch add to a zero Growing: %v, %v", n, err)
	}
	may := []bool{true, true}
	zero.MayContainHashes(may[:1], []uint64{1})
	if zero.MayContainString("") || may[0] || !may[1] || zero.Card() != 0 || zero.Info() != (GrowingInfo{}) || zero.FalsePositiveRate() != 0 || len(zero.Layers()) != 0 || zero.Clone().Card() != 0 {
		t.Error("a zero Growing is not empty")
	}
	zero.Reset()
}

// TestGrowingSeries: the layers' rates keep the compound one, however many they are and wherever they end.
func TestGrowingSeries(t *testing.T) {
	for _, p := range []float64{MinRate(), 1.5 * MinRate(), 2.5 * MinRate(), 1e-7, 1e-5, 1e-3, 1e-2, 0.1, 0.5, 0.9, 0.9999999999999999} {
		g := &Growing{p: p, expansion: 1}
		yes := pair{1, 0} // the chance that no layer has a false positive, with more digits than the rates
		last, n := 1.0, 0
		for ; ; n++ {
			rate, ok := g.layerRate(n)
			if !ok {
				break
			}
			if rate > last || rate < MinRate() {
				t.Fatalf("p = %v: layer %d has rate %v after %v", p, n, rate, last)
			}
			last = rate
			yes = yes.times(pair{1, 0}.plus(pair{-rate, 0}))
		}
		left := yes.plus(pair{-1, 0}).plus(pair{p, 0}) // of what p allows
		if left.hi < -1e-16*p {
			t.Errorf("p = %v: %d layers have the compound rate p + %v", p, n, -left.hi)
		}
		if min(p, 0.9) == p && left.hi > p*p+3*MinRate() && p < 0.5 {
			t.Errorf("p = %v: %d layers leave %v unused", p, n, left.hi)
		}
		if _, ok := g.layerRate(n + 1); ok {
			t.Errorf("p = %v: a layer after the last", p)
		}
		if want := map[float64]int{1e-2: 2522, 1e-3: 794, MinRate(): 1}[p]; want != 0 && n != want {
			t.Errorf("p = %v: %d layers, want %d", p, n, want)
		}
		g.expansion = 0
		if rate, ok := g.layerRate(0); rate != p || !ok {
			t.Errorf("a filter that does not scale has rate %v", rate)
		}
	}
	// The series itself, as the documentation has it.
	g := &Growing{p: 1e-4, expansion: 2}
	for i, share := range []float64{1. / 3, 1. / 6, 1. / 10, 1. / 15, 1. / 21} {
		if rate, _ := g.layerRate(i); math.Abs(rate/g.p/share-1) > 1e-4 {
			t.Errorf("layer %d has %v of p, want %v", i, rate/g.p, share)
		}
	}
}

// bitsPerKey returns the bits a key of so many full layers whose rates are p times share.
func bitsPerKey(t *testing.T, n uint64, x float64, layers int, p float64, share func(i float64) float64) float64 {
	t.Helper()
	keys, all := 0.0, 0.0
	for i := range layers {
		layer := uint64(float64(n) * math.Pow(x, float64(i)))
		s, err := Plan(layer, p*share(float64(i)))
		if err != nil {
			t.Fatal(err)
		}
		keys += float64(layer)
		all += float64(s.Bytes()) * 8
	}
	return all / keys
}

// TestGrowingSeriesMemory holds what the documentation says of memory against the geometries: 2/((i+2)(i+3)) is at most 9% above halving up to five layers, and below it from six on, or five where layers grow.
func TestGrowingSeriesMemory(t *testing.T) {
	halving := func(i float64) float64 { return math.Pow(0.5, i+1) }
	ours := func(i float64) float64 { return 2 / ((i + 2) * (i + 3)) }
	for _, p := range []float64{1e-2, 1e-3} {
		for _, x := range []float64{1, 2, 4, 8} {
			for layers := 1; layers <= 10; layers++ {
				a, b := bitsPerKey(t, 10_000, x, layers, p, ours), bitsPerKey(t, 10_000, x, layers, p, halving)
				if a > 1.09*b || a >= b && (layers > 5 || layers == 5 && x > 1) || layers == 10 && a > 0.9*b {
					t.Errorf("p = %v, x = %v, %d layers: %.2f bits a key, halving has %.2f", p, x, layers, a, b)
				}
			}
		}
	}
	if testing.Verbose() {
		for _, l := range []int{1, 2, 3, 4, 5, 6, 8, 10, 14} {
			t.Logf("%2d layers: halving %.2f, ours %.2f", l, bitsPerKey(t, 100_000, 2, l, 0.01, halving), bitsPerKey(t, 100_000, 2, l, 0.01, ours))
		}
	}
}

// fillLayers adds random hashes until g has so many layers and all are full.
func fillLayers(t *testing.T, g *Growing, layers int, random func() uint64) {
	t.Helper()
	for {
		i := g.Info()
		if i.Layers == layers && i.Items == i.Capacity {
			return
		}
		// Never more than there is room for: what is new is at most what is added.
		var hs [4096]uint64
		n := min(uint64(len(hs)), i.Capacity-i.Items)
		if n == 0 {
			n = 1
		}
		for j := range n {
			hs[j] = random()
		}
		if m, err := g.AddHashes(hs[:n]); err != nil || m != int(n) {
			t.Fatalf("%d layers: %d of %d hashes, %v", i.Layers, m, n, err)
		}
		if len(g.layers) > layers {
			t.Fatalf("%d layers, %d of %d keys", len(g.layers), g.Card(), g.Info().Capacity)
		}
	}
}

// TestGrowingRates measures the compound rate after 1, 2, 5 and 10 layers: never above p, and what the layers' rates make it.
func TestGrowingRates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	r := rand.New(rand.NewPCG(21, 22))
	may, hs := make([]bool, 1<<14), make([]uint64, 1<<14)
	for _, c := range []struct {
		x int
		n uint64
	}{{1, 20_000}, {2, 300}, {4, 3}, {8, 1}} {
		for _, p := range []float64{0.1, 0.01, 0.001} {
			for _, layers := range []int{1, 2, 5, 10} {
				most := 1_100_000.0
				if long() {
					most = 1e9
				}
				keys := 0.0
				for i := range layers {
					keys += float64(c.n) * math.Pow(float64(c.x), float64(i))
				}
				for ; keys > most; layers-- { // 10 layers of x = 8 have 150 million keys: for long runs
					keys -= float64(c.n) * math.Pow(float64(c.x), float64(layers-1))
				}
				filters := int(min(100, 1+200_000/keys))
				asked, hits, blocks, bits, model, planned := 0, 0, 0.0, 0.0, 0.0, 0.0
				for range filters {
					g := mustGrow(t, c.n, p, WithExpansion(c.x))
					fillLayers(t, g, layers, r.Uint64)
					planned = g.Info().PlannedRate
					bits += g.FalsePositiveRate() / float64(filters)
					blocks += float64(g.layers[0].blocks)
					no := 1.0
					for i := range g.layers {
						// The keys that came, of which items were new.
						l := &g.layers[i]
						came := float64(l.items) / (1 - whileFilling(l.Geometry(), l.items, l.Geometry().FalsePositiveRate(l.items)))
						no *= 1 - modelRate(int(l.k), came, float64(l.blocks))
					}
					model = 1 - no
					for range int(min(60, 3000/p/float64(len(hs))))/filters + 1 {
						for i := range hs {
							hs[i] = r.Uint64()
						}
						g.MayContainHashes(may, hs)
						asked += len(hs)
						hits += countTrue(may)
					}
				}
				rate := float64(hits) / float64(asked)
				sigma := math.Sqrt(max(rate, bits) / float64(asked))
				if testing.Verbose() {
					t.Logf("x = %d, p = %v, %2d layers, %9.0f keys, %3d filters: measured %.4g +- %.1g, by the bits %.4g, by the model %.4g, planned %.4g", c.x, p, layers, keys, filters, rate, sigma, bits, model, planned)
				}
				if rate > p+4.5*sigma {
					t.Errorf("x = %d, p = %v, %d layers: measured %v +- %v", c.x, p, layers, rate, sigma)
				}
				if math.Abs(rate-bits) > 4.5*sigma+bits/1000 {
					t.Errorf("x = %d, p = %v, %d layers: measured %v +- %v, by the bits %v", c.x, p, layers, rate, sigma, bits)
				}
				// A layer's rate varies by about twice itself over the root of its blocks; filters of single blocks say little.
				tolerance := 0.02*model + 9*model/math.Sqrt(blocks)
				if model > planned || bits > model+tolerance || bits < model-tolerance && model > 1e-6 {
					t.Errorf("x = %d, p = %v, %d layers: by the bits %v, by the model %v +- %v, planned %v", c.x, p, layers, bits, model, tolerance, planned)
				}
				if c.n > 1000 && model < 0.9*planned {
					t.Errorf("x = %d, p = %v, %d layers: by the model %v, planned %v: memory is wasted", c.x, p, layers, model, planned)
				}
			}
		}
	}
}

// TestNonScalingRate: a full filter of one layer has the rate that it was asked for, though its keys are counted only when they are new.
func TestNonScalingRate(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, p := range []float64{0.99, 0.95, 0.9, 0.8, 0.6, 0.5, 0.2, 0.1, 0.03, 0.01} {
		const n = 100_000
		g := mustGrow(t, n, p, WithNonScaling())
		for g.Card() < n {
			g.AddHash(r.Uint64())
		}
		// Two blocks' worth of keys either way is what sampling gives: the rate varies by about itself over the root of the number of blocks.
		rate, sigma := g.FalsePositiveRate(), p/math.Sqrt(float64(g.layers[0].blocks))
		if rate > p+4*sigma || rate < 0.9*p-4*sigma {
			t.Errorf("p = %v: the full filter has %v +- %v", p, rate, sigma)
		}
		if p >= 0.1 && p <= 0.5 { // the test can fail: without the allowance it is above
			shape, err := Plan(n, p)
			if err != nil {
				t.Fatal(err)
			}
			f := newFilter(shape, 0, false)
			for i := 0; i < n; {
				if f.AddIfAbsentHash(r.Uint64()) {
					i++
				}
			}
			if got := f.FalsePositiveRate(); got < p*1.005 {
				t.Errorf("p = %v: a filter of Plan's size has %v with %d new keys: no allowance needed?", p, got, n)
			}
		}
	}
}

// growingModel is the semantics once more: one hash at a time, bit by bit.
type growingModel struct {
	layers    []modelLayer
	n         uint64
	p         float64
	expansion int
}

// plannedShapes are those of layers of some capacity and rate.
var plannedShapes = map[[2]any]Geometry{}

type modelLayer struct {
	reference
	capacity, items uint64
}

// add returns whether h was new, and whether there was room.
func (m *growingModel) add(h uint64) (added, room bool) {
	if m.contains(h) {
		return false, true
	}
	if len(m.layers) == 0 || m.layers[len(m.layers)-1].items == m.layers[len(m.layers)-1].capacity {
		capacity := m.n
		for range m.layers {
			capacity *= uint64(m.expansion)
		}
		rate, ok := (&Growing{p: m.p, expansion: m.expansion}).layerRate(len(m.layers))
		if !ok {
			return false, false
		}
		shape := plannedShapes[[2]any{capacity, rate}]
		if shape.Blocks == 0 {
			var err error
			if shape, err = planNew(capacity, rate); err != nil {
				panic(err)
			}
			plannedShapes[[2]any{capacity, rate}] = shape
		}
		m.layers = append(m.layers, modelLayer{reference: reference{make([]byte, shape.Bytes()), shape.Blocks, shape.K}, capacity: capacity})
	}
	l := &m.layers[len(m.layers)-1]
	l.items++
	return l.add(h), true
}

func (m *growingModel) contains(h uint64) bool {
	return slices.ContainsFunc(m.layers, func(l modelLayer) bool { return l.contains(h) })
}

// runGrowing runs a program of operations on a Growing and on the model: every answer, error and bit must be the same, and nothing that was added may be absent.
func runGrowing(t *testing.T, n uint64, p float64, expansion int, seed uint64, program []byte) {
	t.Helper()
	opts := []Option{WithSeed(seed), WithExpansion(expansion)}
	m := &growingModel{n: max(n, 1), p: p, expansion: expansion}
	if expansion == 0 {
		opts = []Option{WithSeed(seed), WithNonScaling()}
	}
	g := mustGrow(t, n, p, opts...)
	has := map[uint64]bool{} // keys that are in
	var keys []uint64
	r := rand.New(rand.NewPCG(seed, uint64(len(program))))
	card, dup := uint64(0), 0
	next := func() (x uint64) {
		if len(keys) > 0 && r.IntN(4) == 0 {
			return keys[r.IntN(len(keys))]
		}
		x = r.Uint64()
		keys = append(keys, x)
		return x
	}
	key := func(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }
	for at, op := range program {
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("n = %d, p = %v, x = %d, operation %d, %d: %s", n, p, expansion, at, op, fmt.Sprintf(format, args...))
		}
		batch := make([]uint64, int(op>>4)*int(op>>4)*3)
		switch op & 15 {
		case 0, 1, 2, 3: // one key
			x := next()
			h := g.HashUint64(x)
			may := m.contains(h)
			want, room := m.add(h)
			if g.MayContainHash(h) != may || g.MayContainUint64(x) != may || g.MayContain(key(x)) != may || g.MayContainString(string(key(x))) != may {
				fail("MayContain of %#x is not %v", x, may)
			}
			var added bool
			var err error
			switch op & 15 {
			case 0:
				added, err = g.AddIfAbsentUint64(x)
			case 1:
				added, err = g.AddIfAbsent(key(x))
			case 2:
				added, err = g.AddIfAbsentString(string(key(x)))
			default:
				before := g.Card()
				switch op >> 4 & 3 {
				case 0:
					err = g.Add(key(x))
				case 1:
					err = g.AddString(string(key(x)))
				case 2:
					err = g.AddUint64(x)
				default:
					err = g.AddHash(h)
				}
				added = g.Card() > before
			}
			if added != want || errors.Is(err, ErrFull) == room || (err == nil) != room {
				fail("added %v, error %v; want %v, room %v", added, err, want, room)
			}
			if want {
				card++
			} else if room {
				dup++
			}
			has[x] = has[x] || room
		case 4, 5, 6, 7, 8: // many
			hs := make([]uint64, len(batch))
			for i := range batch {
				batch[i] = next()
				if i > 3 && r.IntN(9) == 0 {
					batch[i] = batch[r.IntN(i)]
				}
				hs[i] = g.HashUint64(batch[i])
			}
			wantN, wantAdded := len(batch), make([]bool, len(batch))
			for i, h := range hs {
				was, room := m.add(h)
				if !room {
					wantN = i
					break
				}
				wantAdded[i] = was
				has[batch[i]] = true
				if was {
					card++
				}
			}
			var got int
			var err error
			switch op & 15 {
			case 4:
				added := make([]bool, len(batch)+2)
				for i := range added {
					added[i] = i%3 != 0
				}
				got, err = g.AddIfAbsentHashes(added, hs)
				if !slices.Equal(added[:len(batch)], wantAdded) || added[len(batch)] != (len(batch)%3 != 0) {
					fail("other answers than one at a time")
				}
			case 5:
				got, err = g.AddUint64s(batch)
			case 6:
				var ks [][]byte
				for _, x := range batch {
					ks = append(ks, key(x))
				}
				got, err = g.AddKeys(ks)
			case 7:
				var ks []string
				for _, x := range batch {
					ks = append(ks, string(key(x)))
				}
				got, err = g.AddStrings(ks)
			default:
				got, err = g.AddHashes(hs)
			}
			if got != wantN || (err == nil) != (wantN == len(batch)) || err != nil && !errors.Is(err, ErrFull) {
				fail("%d of %d went in, error %v; want %d", got, len(batch), err, wantN)
			}
		case 9, 10, 11, 12: // lookups
			hs, want := make([]uint64, len(batch)), make([]bool, len(batch))
			var ks [][]byte
			var strs []string
			var sel []uint32
			for i := range batch {
				batch[i] = next()
				if len(keys) > 0 && r.IntN(3) == 0 {
					batch[i] = keys[r.IntN(len(keys))]
				}
				hs[i] = g.HashUint64(batch[i])
				ks, strs = append(ks, key(batch[i])), append(strs, string(key(batch[i])))
				if want[i] = m.contains(hs[i]); want[i] {
					sel = append(sel, uint32(i))
				} else if has[batch[i]] {
					fail("%#x was added and is absent", batch[i])
				}
			}
			may := make([]bool, len(batch)+2)
			may[len(batch)] = true
			var got []uint32
			switch op & 15 {
			case 9:
				g.MayContainHashes(may, hs)
				got = g.SelectHashes([]uint32{7}, hs)
			case 10:
				g.MayContainKeys(may, ks)
				got = g.SelectKeys([]uint32{7}, ks)
			case 11:
				g.MayContainStrings(may, strs)
				got = g.SelectStrings([]uint32{7}, strs)
			default:
				g.MayContainUint64s(may, batch)
				got = g.SelectUint64s([]uint32{7}, batch)
			}
			if !slices.Equal(may[:len(batch)], want) || !may[len(batch)] || may[len(batch)+1] {
				fail("other answers to a batch than the model's")
			}
			if got[0] != 7 || !slices.Equal(got[1:], sel) {
				fail("selected %v, want %v", got, sel)
			}
		case 13:
			c := g.Clone()
			g.AddHash(12345) // the copy must not see it
			g = c
		case 14:
			data, err := g.MarshalBinary()
			if err != nil {
				fail("%v", err)
			}
			g = new(Growing)
			if err := g.UnmarshalBinary(data); err != nil {
				fail("%v", err)
			}
		case 15:
			if op>>4 == 15 {
				g.Reset()
				m.layers, card = nil, 0
				clear(has)
			}
		}
		if g.Card() != card {
			fail("Card() = %d, want %d", g.Card(), card)
		}
	}
	info, capacity, bytesOf := g.Info(), uint64(0), uint64(0)
	if len(m.layers) > 0 && len(g.layers) != len(m.layers) {
		t.Fatalf("%d layers, want %d", len(g.layers), len(m.layers))
	}
	for i, l := range g.Layers() {
		capacity += l.Capacity
		bytesOf += l.Geometry().Bytes()
		if i >= len(m.layers) {
			continue
		}
		w := m.layers[i]
		if l.Capacity != w.capacity || l.Items != w.items || l.Geometry() != (Geometry{w.blocks, w.k}) || !bytes.Equal(g.layers[i].Bits(), w.bits) {
			t.Fatalf("layer %d is another than the model's: %+v", i, l)
		}
	}
	if info.Capacity != capacity || info.Bytes != bytesOf || info.Items != card || info.Layers != len(g.layers) || info.Expansion != expansion || info.Rate != p {
		t.Fatalf("%+v, want capacity %d, bytes %d, items %d", info, capacity, bytesOf, card)
	}
}

func TestGrowingPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	eachKernel(t, func(t *testing.T) {
		for _, c := range []struct {
			n uint64
			p float64
			x int
		}{{0, 0.3, 2}, {150, 0.01, 1}, {1, 0.1, 2}, {7, 0.5, 3}, {100, 0.01, 2}, {1000, 0.001, 1}, {1000, 0.02, 8}, {500, 0.01, 0}, {5000, 0.1, 0}, {64, 0.01, maxExpansion}} {
			length := 100
			if testing.Short() || raceEnabled {
				length = 25
			}
			program := make([]byte, length)
			for i := range program {
				program[i] = byte(r.UintN(256))
				if program[i]&15 >= 13 && r.IntN(3) > 0 {
					program[i] ^= 8
				}
			}
			runGrowing(t, c.n, c.p, c.x, r.Uint64(), program)
		}
	})
}

// FuzzGrowing runs programs of operations.
func FuzzGrowing(f *testing.F) {
	f.Add(uint16(3), uint8(2), uint8(2), []byte("\x00\x01\x02\x34\x45\x56\x67\x78\x89\x9a\xab\xbc\x0d\x0e\xff\x44\x99"))
	f.Add(uint16(0), uint8(1), uint8(1), bytes.Repeat([]byte{0x34, 0x39, 0, 1, 2, 3}, 5))
	f.Add(uint16(60), uint8(3), uint8(0), bytes.Repeat([]byte{0x24, 0x29, 0x55, 0x5c}, 5))
	f.Fuzz(func(t *testing.T, n uint16, p, x uint8, program []byte) {
		if len(program) > 60 {
			return
		}
		eachKernelQuietly(func(string) {
			runGrowing(t, uint64(n), []float64{0.5, 0.1, 0.01, 1e-4}[p%4], int(x%5), uint64(n)<<40, program)
		})
	})
}

// TestGrowingFull: the ways to be full, each of them an ErrFull that says why and stays; known keys still answer, and what a batch says went in did.
func TestGrowingFull(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for name, c := range map[string]struct {
		n      uint64
		p      float64
		opts   []Option
		says   string
		layers int
	}{
		"non-scaling":           {1000, 0.01, []Option{WithNonScaling()}, "WithNonScaling", 1},
		"non-scaling, 0":        {0, 0.01, []Option{WithNonScaling()}, "WithNonScaling", 1},
		"max bytes":             {1000, 0.01, []Option{WithMaxBytes(20_000)}, "WithMaxBytes", 0},
		"max bytes, x = 1":      {1000, 0.01, []Option{WithMaxBytes(20_000), WithExpansion(1)}, "WithMaxBytes", 0},
		"max bytes, x = 32768":  {3, 0.01, []Option{WithMaxBytes(100_000), WithExpansion(maxExpansion)}, "WithMaxBytes", 2},
		"one layer's max bytes": {1000, 0.01, []Option{WithMaxBytes(2000)}, "WithMaxBytes", 1},
		"floor":                 {10, MinRate(), nil, "compound rate", 1},
		"floor of two":          {10, 2.1 * MinRate(), []Option{WithExpansion(3)}, "compound rate", 2},
		"floor of five":         {3, 1e-7, []Option{WithExpansion(1)}, "compound rate", 5},
	} {
		t.Run(name, func(t *testing.T) {
			g := mustGrow(t, c.n, c.p, c.opts...)
			var in []uint64
			var err error
			for err == nil {
				hs := make([]uint64, 1+r.IntN(700))
				for i := range hs {
					hs[i] = r.Uint64()
				}
				var n int
				n, err = g.AddHashes(hs)
				in = append(in, hs[:n]...)
				if err == nil && n != len(hs) {
					t.Fatalf("%d of %d went in without an error", n, len(hs))
				}
				if err != nil && (n == len(hs) || g.MayContainHash(hs[n])) {
					t.Fatalf("%d of %d went in, with %v", n, len(hs), err)
				}
				if len(in) > 1_000_000 {
					t.Fatal("never full")
				}
			}
			if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("not ErrFull, or it does not say why: %v", err)
			}
			i := g.Info()
			if i.Items != i.Capacity || c.layers != 0 && i.Layers != c.layers || i.Bytes > i.MaxBytes || g.FalsePositiveRate() > 2*c.p+1e-6 {
				t.Errorf("full: %+v", i)
			}
			before := g.Clone()
			if n, err := g.AddHashes(in); n != len(in) || err != nil {
				t.Errorf("known keys in a full filter: %d of %d, %v", n, len(in), err)
			}
			may := make([]bool, len(in))
			g.MayContainHashes(may, in)
			for i, h := range in {
				if added, err := g.AddIfAbsentHash(h); added || err != nil || !may[i] || !g.MayContainHash(h) {
					t.Fatalf("a known key in a full filter: %v, %v, %v", added, err, may[i])
				}
			}
			// A batch with a new key at a place says so.
			var fresh uint64
			for fresh = r.Uint64(); g.MayContainHash(fresh); fresh = r.Uint64() {
			}
			for range 20 {
				batch := make([]uint64, r.IntN(1500)+1)
				for i := range batch {
					batch[i] = in[r.IntN(len(in))]
				}
				at := r.IntN(len(batch))
				batch[at] = fresh
				added := make([]bool, len(batch))
				for i := range added {
					added[i] = true
				}
				if n, err := g.AddIfAbsentHashes(added, batch); n != at || !errors.Is(err, ErrFull) || slices.Contains(added, true) {
					t.Fatalf("%d went in, error %v; want %d", n, err, at)
				}
			}
			if err := g.AddHash(fresh); !errors.Is(err, ErrFull) || g.MayContainHash(fresh) {
				t.Errorf("a new key in a full filter: %v", err)
			}
			if !raceEnabled {
				if n := testing.AllocsPerRun(10, func() { g.AddHash(fresh) }); n != 0 {
					t.Errorf("an add to a full filter allocates %v times: it plans again", n)
				}
			}
			for i := range g.layers {
				if !bytes.Equal(g.layers[i].Bits(), before.layers[i].Bits()) {
					t.Error("adds to a full filter changed bits")
				}
			}
			g.Reset()
			if added, err := g.AddIfAbsentHash(fresh); !added || err != nil || g.Card() != 1 || g.Info().Bytes != g.layers[0].Geometry().Bytes() {
				t.Errorf("after Reset: %v, %v", added, err)
			}
			g.Reset() // and it grows again, to the same
			if n, err := g.AddHashes(in); n != len(in) || err != nil || !sameGrowing(g, before) {
				t.Errorf("filled again after Reset: %d of %d, %v, %+v", n, len(in), err, g.Info())
			}
		})
	}
}

// TestGrowingMaxBytes: the budget holds, and is used: the last layer is made smaller where it does not fit, and its rate holds all the same.
func TestGrowingMaxBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	for _, most := range []uint64{3000, 10_000, 33_000, 100_000, 1_000_000} {
		if testing.Short() && most > 100_000 {
			break
		}
		for _, x := range []int{1, 2, 4, 100} {
			g := mustGrow(t, 1000, 0.01, WithMaxBytes(most), WithExpansion(x))
			for g.AddHash(r.Uint64()) == nil {
			}
			i := g.Info()
			layers := g.Layers()
			last := layers[len(layers)-1]
			if i.Bytes > most || i.Items != i.Capacity || i.MaxBytes != most {
				t.Errorf("%d bytes at most, x = %d: %+v", most, x, i)
			}
			// What is left is too little for the least layer.
			if _, n := most-i.Bytes, last.Capacity; n < 1000 || i.Bytes < most-min(most, 5000) {
				t.Errorf("%d bytes at most, x = %d: last layer of %d keys, %d bytes unused", most, x, n, most-i.Bytes)
			}
			for j, l := range layers {
				// Of very low rates a few crowded blocks are most.
				if rate := l.FalsePositiveRate(); l.Rate > 1e-4 && rate > l.Rate*(1+6/math.Sqrt(float64(l.Geometry().Blocks))) {
					t.Errorf("%d bytes at most, x = %d, layer %d: rate %v, planned %v", most, x, j, rate, l.Rate)
				}
				if j > 0 && l.Capacity > uint64(x)*layers[j-1].Capacity {
					t.Errorf("layer %d has capacity %d after %d", j, l.Capacity, layers[j-1].Capacity)
				}
			}
		}
	}
	// The platform's and the format's bounds are ErrFull too, not a panic.
	g := mustGrow(t, 1, 0.01, WithExpansion(maxExpansion), WithMaxBytes(1<<20))
	g.layers[0].capacity = math.MaxUint64 / 2
	g.layers[0].items = g.layers[0].capacity
	if err := g.AddHash(1); err != nil && !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// TestGrowingThousands makes thousands of layers and stores them.
func TestGrowingThousands(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes seconds")
	}
	r := rand.New(rand.NewPCG(31, 32))
	g := mustGrow(t, 1, 0.01, WithExpansion(1))
	var in []uint64
	var err error
	for err == nil {
		h := r.Uint64()
		if err = g.AddHash(h); err == nil {
			in = append(in, h)
		}
	}
	if i := g.Info(); !errors.Is(err, ErrFull) || i.Layers != 2522 || i.Items != 2522 || i.PlannedRate > 0.01 {
		t.Fatalf("%+v, %v", i, err)
	}
	if rate := g.FalsePositiveRate(); rate > 0.01 {
		t.Errorf("rate %v", rate)
	}
	data, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back Growing
	if err := back.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	may := make([]bool, len(in))
	back.MayContainHashes(may, in)
	for i, h := range in {
		if !may[i] || !back.MayContainHash(h) {
			t.Fatalf("key %d is absent", i)
		}
	}
	if err := back.AddHash(r.Uint64()); !errors.Is(err, ErrFull) {
		t.Errorf("what was read is not full: %v", err)
	}
}

// TestGrowingOptions: seed, hash and pages are those of every layer.
func TestGrowingOptions(t *testing.T) {
	g := mustGrow(t, 10, 0.01, WithSeed(1<<40), WithCallerHash(), WithoutHugePages())
	fillLayers(t, g, 3, rand.New(rand.NewPCG(33, 34)).Uint64)
	f := mustNew(t, 10, 0.01, WithSeed(1<<40))
	if g.Seed() != 1<<40 || !g.CallerHash() || g.Hash([]byte("a")) != f.HashString("a") || g.HashString("a") != f.HashString("a") || g.HashUint64(7) != f.HashUint64(7) {
		t.Error("another hash")
	}
	for i, l := range g.Layers() {
		if l.Seed() != 1<<40 || !l.CallerHash() || !g.layers[i].small {
			t.Errorf("layer %d: seed %#x, caller's hash %v, small %v", i, l.Seed(), l.CallerHash(), g.layers[i].small)
		}
	}
}

// A lookup in parallel with an add is a race, and TestRacesAreReported has to see it; lookups with lookups are none (TestStressGrowing).
func init() {
	// The programs of TestRacesAreReported get a Filter; these take their own.
	racyPrograms["growing, add and lookup"] = func(*Filter) (one, two func()) {
		g, _ := NewGrowing(100, 0.01)
		return func() { g.AddHash(1) }, func() { g.MayContainHash(1) }
	}
	racyPrograms["growing, batch and batch lookup"] = func(*Filter) (one, two func()) {
		g, _ := NewGrowing(10_000, 0.01)
		// Different blocks: of the reference kernel's write and then reads of one block by the same goroutine the detector may keep only the reads.
		var hs [8]uint64
		for i := range hs {
			hs[i] = uint64(i) << 61
		}
		return func() { g.AddHashes(hs[:]) }, func() { g.MayContainHashes(make([]bool, 8), slices.Clone(hs[:])) }
	}
}

// TestStressGrowing: lookups from several goroutines and adds from others, behind a sync.RWMutex as the documentation has it, against the exact set.
func TestStressGrowing(t *testing.T) {
	needsPreemption(t)
	end := time.Now().Add(stressTime(t))
	for round := uint64(0); time.Now().Before(end); round++ {
		const perAdder, adders, readers = 20_000, 2, 3
		g := mustGrow(t, 100, 0.01, WithSeed(round), WithExpansion(int(round%4)+1))
		var mu sync.RWMutex
		var done [adders]atomic.Int64 // keys of adder i below this are in
		var wg, adding sync.WaitGroup
		var stop atomic.Bool
		var wrong atomic.Int64
		key := func(adder int, i int64) uint64 { return mul1 * (round<<40 + uint64(adder)<<32 + uint64(i)) }
		for a := range adders {
			adding.Go(func() {
				r := rand.New(rand.NewPCG(round, uint64(a)))
				for i := int64(0); i < perAdder && time.Now().Before(end); {
					n := min(int64(1+r.IntN(300)), perAdder-i)
					ks := make([]uint64, n)
					for j := range ks {
						ks[j] = key(a, i+int64(j))
					}
					mu.Lock()
					if n == 1 {
						if err := g.AddUint64(ks[0]); err != nil {
							wrong.Add(1)
						}
					} else if m, err := g.AddUint64s(ks); m != len(ks) || err != nil {
						wrong.Add(1)
					}
					mu.Unlock()
					i += n
					done[a].Store(i)
				}
			})
		}
		for q := range readers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(round, 100+uint64(q)))
				asked, found := 0, 0
				for !stop.Load() {
					a := r.IntN(adders)
					in := done[a].Load()
					ks := make([]uint64, 1+r.IntN(200))
					may := make([]bool, len(ks))
					for i := range ks {
						if in > 0 && i%2 == 0 {
							ks[i] = key(a, r.Int64N(in))
						} else {
							ks[i] = key(adders, r.Int64())
						}
					}
					mu.RLock()
					g.MayContainUint64s(may, ks)
					one := g.MayContainUint64(ks[0])
					i := g.Info()
					mu.RUnlock()
					for j := range ks {
						switch {
						case in > 0 && j%2 == 0:
							if !may[j] {
								wrong.Add(1)
							}
						default:
							asked++
							if may[j] {
								found++
							}
						}
					}
					if in > 0 && !one || i.Items > i.Capacity {
						wrong.Add(1)
					}
				}
				if asked > 1000 && float64(found) > 0.01*float64(asked)+6*math.Sqrt(0.01*float64(asked)) {
					t.Errorf("%d false positives in %d", found, asked)
				}
			})
		}
		adding.Wait()
		stop.Store(true)
		wg.Wait()
		if n := wrong.Load(); n != 0 {
			t.Fatalf("round %d: %d wrong answers", round, n)
		}
		// At the end, every key, and lookups from all goroutines at once without a lock.
		for q := range readers {
			wg.Go(func() {
				for a := range adders {
					for i := int64(q); i < done[a].Load(); i += readers {
						if !g.MayContainUint64(key(a, i)) {
							wrong.Add(1)
						}
					}
				}
			})
		}
		wg.Wait()
		if n := wrong.Load(); n != 0 {
			t.Fatalf("round %d: %d keys are absent", round, n)
		}
	}
}

// TestGrowingNoAllocation: no method that adds or looks up allocates, but for a new layer, and what its caller has on the stack stays there.
func TestGrowingNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	eachKernel(t, func(t *testing.T) {
		for _, layers := range []int{1, 2, 6} {
			g := mustGrow(t, 2000, 0.01)
			fillLayers(t, g, layers, rand.New(rand.NewPCG(51, 52)).Uint64)
			if g.AddHash(0) != nil || g.AddUint64(1) != nil { // there is room now
				t.Fatal("full")
			}
			sel := make([]uint32, 0, 2000)
			for name, do := range map[string]func(){
				"Add":               func() { var k [8]byte; g.Add(k[:]) },
				"AddString":         func() { var k [8]byte; g.AddString(string(k[:])) },
				"AddUint64":         func() { g.AddUint64(1) },
				"AddHash":           func() { g.AddHash(1) },
				"AddIfAbsent":       func() { var k [8]byte; g.AddIfAbsent(k[:]) },
				"AddIfAbsentString": func() { g.AddIfAbsentString("k") },
				"AddIfAbsentUint64": func() { g.AddIfAbsentUint64(1) },
				"AddIfAbsentHash":   func() { g.AddIfAbsentHash(1) },
				"MayContain":        func() { var k [300]byte; g.MayContain(k[:]) },
				"MayContainString":  func() { var k [8]byte; g.MayContainString(string(k[:])) },
				"MayContainUint64":  func() { g.MayContainUint64(1) },
				"MayContainHash":    func() { g.MayContainHash(1) },
				"AddHashes":         func() { var hs [703]uint64; g.AddHashes(hs[:]) },
				"AddKeys":           func() { var k [8]byte; ks := [703][]byte{0: k[:], 7: k[:]}; g.AddKeys(ks[:]) },
				"AddStrings":        func() { ks := [703]string{0: "a"}; g.AddStrings(ks[:]) },
				"AddUint64s":        func() { var ks [703]uint64; g.AddUint64s(ks[:]) },
				"AddIfAbsentHashes": func() { var hs [703]uint64; var dst [703]bool; g.AddIfAbsentHashes(dst[:], hs[:]) },
				"MayContainHashes":  func() { var hs [703]uint64; var dst [703]bool; g.MayContainHashes(dst[:], hs[:]) },
				"MayContainKeys":    func() { var ks [703][]byte; var dst [703]bool; g.MayContainKeys(dst[:], ks[:]) },
				"MayContainStrings": func() { var ks [703]string; var dst [703]bool; g.MayContainStrings(dst[:], ks[:]) },
				"MayContainUint64s": func() { var ks [703]uint64; var dst [703]bool; g.MayContainUint64s(dst[:], ks[:]) },
				"SelectHashes":      func() { var hs [733]uint64; g.SelectHashes(sel, hs[:]) },
				"SelectKeys":        func() { var ks [733][]byte; g.SelectKeys(sel, ks[:]) },
				"SelectStrings":     func() { var ks [733]string; g.SelectStrings(sel, ks[:]) },
				"SelectUint64s":     func() { var ks [733]uint64; g.SelectUint64s(sel, ks[:]) },
				"Card":              func() { g.Card() },
				"Info":              func() { g.Info() },
			} {
				if n := testing.AllocsPerRun(10, do); n != 0 {
					t.Errorf("%d layers: %s allocates %v times", layers, name, n)
				}
			}
		}
	})
}

// TestGrowingLarge does so where batches fetch ahead, and with batches that are longer than a kernel's part.
func TestGrowingLarge(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes memory")
	}
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(53, 54))
		one, many := mustGrow(t, 100_000, 0.01, WithExpansion(4)), mustGrow(t, 100_000, 0.01, WithExpansion(4))
		hs := make([]uint64, 1_300_000) // the third layer is being filled
		for i := range hs {
			hs[i] = r.Uint64()
			if i > 0 && r.IntN(5) == 0 {
				hs[i] = hs[r.IntN(i)]
			}
		}
		added := make([]bool, len(hs))
		if n, err := many.AddIfAbsentHashes(added, hs); n != len(hs) || err != nil {
			t.Fatal(n, err)
		}
		for i, h := range hs {
			if was, err := one.AddIfAbsentHash(h); was != added[i] || err != nil {
				t.Fatalf("hash %d: %v, in the batch %v, error %v", i, was, added[i], err)
			}
		}
		if len(one.layers) != 3 || !one.layers[2].large() || !sameGrowing(one, many) {
			t.Fatalf("a batch makes another filter: %+v, %+v", one.Info(), many.Info())
		}
		for i := 1; i < len(hs); i += 2 {
			hs[i] = r.Uint64()
		}
		many.MayContainHashes(added, hs)
		for i, h := range hs {
			if may := one.MayContainHash(h); may != added[i] || !may && i%2 == 0 {
				t.Fatalf("hash %d: %v, in the batch %v", i, may, added[i])
			}
		}
	})
}
