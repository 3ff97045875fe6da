package blocked

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBuilder compares what a Builder makes with a filter of the same geometry to which the keys were added.
func TestBuilder(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 32))
		byRate, err := NewBuilder(0.01, WithSeed(7))
		if err != nil {
			t.Fatal(err)
		}
		byBits, err := NewBuilderBits(14, WithSeed(7))
		if err != nil {
			t.Fatal(err)
		}
		// Sizes around the chunks' ends, and smaller ones after larger ones, which find chunks that were used before.
		for _, n := range []int{0, 1, 63, 64, 65, 191, 192, 193, 100_000, 5, 448, 449, 0, 70_000, 32_768} {
			for name, b := range map[string]*Builder{"rate": byRate, "bits": byBits} {
				b.Reset()
				g, err := Plan(uint64(n), 0.01)
				if name == "bits" {
					g, err = PlanBits(uint64(n), 14)
				}
				if err != nil {
					t.Fatal(err)
				}
				want := newFilter(g, 7, false)
				for i := range n {
					switch i % 3 {
					case 0:
						b.AddUint64(uint64(i))
						want.AddUint64(uint64(i))
					case 1:
						key := fmt.Append(nil, i)
						b.Add(key)
						want.Add(key)
					default:
						key := fmt.Sprint(i)
						b.AddString(key)
						want.AddString(key)
					}
					if r.IntN(4) == 0 { // consecutive duplicates
						b.AddHashes([]uint64{b.last, b.last})
						b.AddHash(b.last)
					}
				}
				checkBuilder(t, fmt.Sprintf("%s, %d keys", name, n), b, want, n)
			}
		}
	})
}

func checkBuilder(t *testing.T, what string, b *Builder, want *Filter, n int) {
	t.Helper()
	if b.Len() != n {
		t.Fatalf("%s: Len = %d", what, b.Len())
	}
	if g, err := b.Geometry(); err != nil || g != want.Geometry() || b.Limited() {
		t.Fatalf("%s: geometry %v, want %v, limited %v, error %v", what, g, want.Geometry(), b.Limited(), err)
	}
	prefix := append(make([]byte, 0, 8), "before"...)
	for turn := range 2 { // the keys stay
		if turn == 1 { // into memory that was used for something else
			prefix = slices.Grow(prefix, int(b.Bytes()))
			fill(prefix[6:cap(prefix)], 0xa5)
		}
		data, err := b.AppendFinish(prefix)
		if err != nil || uint64(len(data)-6) != b.Bytes() || !bytes.HasPrefix(data, []byte("before")) {
			t.Fatalf("%s: %d bytes, Bytes() = %d, error %v", what, len(data), b.Bytes(), err)
		}
		v, err := OpenView(data[6:])
		if err != nil || !sameFilter(v, want) || v.Keys() != uint64(n) {
			t.Fatalf("%s: another filter; %d keys, error %v", what, v.Keys(), err)
		}
		compact, err := b.AppendCompact(prefix)
		if err != nil || uint64(len(compact)-6) != b.Bytes()-56 {
			t.Fatalf("%s: compact: %d bytes, error %v", what, len(compact), err)
		}
		if v, err = OpenCompact(compact[6:], want.Seed()); err != nil || !sameFilter(v, want) {
			t.Fatalf("%s: compact: another filter, error %v", what, err)
		}
		f, err := b.Filter()
		if err != nil || !sameFilter(f.View(), want) {
			t.Fatalf("%s: another filter, error %v", what, err)
		}
		if n == 0 && (f.Fill() != 0 || f.MayContainHash(0)) {
			t.Fatalf("%s: contains something", what)
		}
	}
}

// TestBuilderBudget gets the best rate in a budget, and says so.
func TestBuilderBudget(t *testing.T) {
	for _, most := range []uint64{64, 127, 128, 1000, 64 * 1000} {
		b, err := NewBuilder(1e-4, WithMaxBytes(most))
		if err != nil {
			t.Fatal(err)
		}
		limited := false
		for i := range 10_000 {
			b.AddUint64(uint64(i))
			if i%500 != 0 && i > 50 {
				continue
			}
			g, err := b.Geometry()
			if err != nil || g.Bytes() > most {
				t.Fatalf("%d keys in %d bytes: %v, %v", i+1, most, g, err)
			}
			full, _ := Plan(uint64(i+1), 1e-4)
			if b.Limited() != (full.Bytes() > most) {
				t.Fatalf("%d keys in %d bytes: limited %v, the rate needs %d", i+1, most, b.Limited(), full.Bytes())
			}
			if limited = b.Limited(); !limited {
				continue
			}
			if g.Blocks != most/64 {
				t.Fatalf("%d keys in %d bytes: %v", i+1, most, g)
			}
			for k := 1; k <= 16; k++ {
				if other := (Geometry{g.Blocks, k}); other.FalsePositiveRate(uint64(i+1)) < g.FalsePositiveRate(uint64(i+1)) {
					t.Fatalf("%d keys in %d bytes: k = %d is better than %d", i+1, most, k, g.K)
				}
			}
		}
		f, err := b.Filter()
		if err != nil || limited == (most > 28_000) { // 10,000 keys need less
			t.Fatalf("%d bytes: limited %v, error %v", most, limited, err)
		}
		for i := range uint64(10_000) {
			if !f.MayContainUint64(i) {
				t.Fatalf("%d bytes: %d is absent", most, i)
			}
		}
	}
	b, err := NewBuilderBits(65536, WithMaxBytes(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		b.AddUint64(uint64(i))
	}
	if g, err := b.Geometry(); err != nil || g.Bytes() != 1<<20 || !b.Limited() {
		t.Errorf("%v, %v", g, err)
	}
}

func TestBuilderErrors(t *testing.T) {
	for _, p := range []float64{-0.1, 0, 1, 2, math.NaN(), math.Inf(1), 5e-324} {
		if b, err := NewBuilder(p); b != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("NewBuilder(%v): %v", p, err)
		}
	}
	for _, bits := range []float64{-1, 0, 65537, math.NaN(), math.Inf(1)} {
		if b, err := NewBuilderBits(bits); b != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("NewBuilderBits(%v): %v", bits, err)
		}
	}
	for _, most := range []uint64{0, 63} {
		if b, err := NewBuilder(0.01, WithMaxBytes(most)); b != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("WithMaxBytes(%d): %v", most, err)
		}
	}
	// More than the default maximum, without a budget: an error, and nothing is allocated.
	b, err := NewBuilderBits(65536)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9_000_000 {
		b.AddHash(uint64(i))
	}
	dst := []byte("as it was")
	out, err1 := b.AppendFinish(dst)
	out2, err2 := b.AppendCompact(dst)
	_, err3 := b.Filter()
	for i, err := range []error{err1, err2, err3} {
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if string(out) != "as it was" || string(out2) != "as it was" || b.Bytes() != 0 {
		t.Errorf("%q, %q, %d", out, out2, b.Bytes())
	}
}

// TestBuilderMemory: 8 bytes a key, reused.
func TestBuilderMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	b, err := NewBuilderBits(10)
	if err != nil {
		t.Fatal(err)
	}
	const n = 1_000_000
	add := func() {
		b.Reset()
		for i := range n {
			b.AddHash(uint64(i) * mul1)
		}
	}
	if a := allocated(add); a > 8*n+300<<10 {
		t.Errorf("%d bytes allocated for %d keys", a, n)
	}
	if a := testing.AllocsPerRun(3, add); a != 0 {
		t.Errorf("%v allocations after Reset", a)
	}
	dst := make([]byte, 0, b.Bytes())
	if a := testing.AllocsPerRun(3, func() {
		if _, err := b.AppendFinish(dst); err != nil {
			t.Fatal(err)
		}
	}); a != 0 {
		t.Errorf("%v allocations by AppendFinish", a)
	}
	// The zero hash is a key, first as well as later, and equal neighbours over a chunk's end are one.
	b.Reset()
	b.AddHash(0)
	b.AddHash(0)
	for i := range 63 {
		b.AddHash(uint64(i + 1))
	}
	b.AddHash(63)
	if b.Len() != 64 {
		t.Errorf("Len = %d, want 64", b.Len())
	}
}
