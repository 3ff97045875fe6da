package pebblefilter

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/blockedbloom/blocked"
	"github.com/cockroachdb/pebble/v2"
)

func key(i int) []byte { return fmt.Appendf(nil, "key-%016d", i) }

// build makes the filter of n keys, behind what dst has.
func build(p pebble.FilterPolicy, n int, dst []byte) []byte {
	w := p.NewWriter(pebble.TableFilter)
	for i := range n {
		w.AddKey(key(i))
	}
	return w.Finish(dst)
}

// at returns a copy of b that starts offset bytes behind a cache line.
func at(b []byte, offset int) []byte {
	f, err := blocked.NewGeometry(blocked.Geometry{Blocks: uint64(len(b)+offset)/64 + 1, K: 1})
	if err != nil {
		panic(err)
	}
	c := f.Bits()[offset : offset+len(b) : offset+len(b)] // Bits starts on a cache line
	copy(c, b)
	return c
}

func TestKeysAreFound(t *testing.T) {
	for _, p := range []pebble.FilterPolicy{Policy(1), Policy(10), Policy(64), PolicyForRate(0.5), PolicyForRate(0.01), PolicyForRate(1e-6)} {
		w := p.NewWriter(pebble.TableFilter)
		for _, n := range []int{0, 1, 2, 50, 1000, 30000, 7} { // one writer after the other's Finish
			for i := range n {
				w.AddKey(key(i))
				if i%3 == 0 {
					w.AddKey(key(i)) // the next version, or the next key with the prefix
				}
			}
			f := w.Finish([]byte("dst"))
			if !bytes.HasPrefix(f, []byte("dst")) {
				t.Fatalf("%v: Finish does not append", p)
			}
			f = f[3:]
			if !bytes.Equal(f, build(p, n, nil)) {
				t.Fatalf("%v: %d keys: another filter with keys that repeat, or of a used writer", p, n)
			}
			for offset := range 64 {
				if n > 100 && offset%16 != 3 {
					continue
				}
				f := at(f, offset)
				for i := range n {
					if !p.MayContain(pebble.TableFilter, f, key(i)) {
						t.Fatalf("%v: key %d of %d is absent at offset %d", p, i, n, offset)
					}
				}
			}
			if n == 0 && p.MayContain(pebble.TableFilter, f, key(1)) {
				t.Errorf("%v: a filter without keys has one", p)
			}
		}
	}
}

// TestSizeAndRate: at least as many bits as were asked for and less than a block more, and the rate of the plan.
func TestSizeAndRate(t *testing.T) {
	for _, c := range []struct {
		p        pebble.FilterPolicy
		bits     float64
		planned  float64
		deviates float64
	}{
		{Policy(10), 10, 0.0097, 0.1},
		{Policy(16), 16, 0.00086, 0.25},
		{PolicyForRate(0.01), 10.1, 0.01, 0.1},
	} {
		const n, asked = 20000, 400000
		f := build(c.p, n, nil)
		if bits := 8 * float64(len(f)-8) / n; bits < c.bits*0.999 || bits > c.bits*1.001+512.0/n {
			t.Errorf("%v: %.3f bits a key", c.p, bits)
		}
		wrong := 0
		for i := range asked {
			if c.p.MayContain(pebble.TableFilter, f, key(n+i)) {
				wrong++
			}
		}
		if rate := float64(wrong) / asked; math.Abs(rate/c.planned-1) > c.deviates {
			t.Errorf("%v: rate %.3g, planned %.3g", c.p, rate, c.planned)
		}
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		p    pebble.FilterPolicy
		want string
	}{
		{Policy(10), "10 bits a key"}, {Policy(9.5), "9.5 bits a key"},
		{Policy(0), "1 bits a key"}, {Policy(-5), "1 bits a key"}, {Policy(math.Inf(-1)), "1 bits a key"},
		{Policy(65), "64 bits a key"}, {Policy(math.Inf(1)), "64 bits a key"}, {Policy(math.NaN()), "10 bits a key"},
		{PolicyForRate(0.02), "rate 0.02"}, {PolicyForRate(1), "rate 0.5"}, {PolicyForRate(math.Inf(1)), "rate 0.5"}, {PolicyForRate(math.NaN()), "rate 0.01"},
		{PolicyForRate(0), fmt.Sprintf("rate %g", blocked.MinRate())}, {PolicyForRate(-1), fmt.Sprintf("rate %g", blocked.MinRate())},
	} {
		if s := fmt.Sprint(c.p); !strings.HasSuffix(s, ", "+c.want) || !strings.HasPrefix(s, Name) {
			t.Errorf("%q, want %q", s, c.want)
		}
		if f := build(c.p, 100, nil); !c.p.MayContain(pebble.TableFilter, f, key(99)) {
			t.Errorf("%v: no filter", c.p)
		}
	}
}

// TestForeignBytes: whatever is no filter may contain every key, and counts.
func TestForeignBytes(t *testing.T) {
	p := Policy(10)
	whole := build(p, 100, nil)
	foreign := [][]byte{nil, {}, {0}}
	for n := range whole {
		foreign = append(foreign, whole[:n])
	}
	for n := 1; n <= 64; n++ {
		foreign = append(foreign, append(whole[:len(whole):len(whole)], make([]byte, n)...))
	}
	for n := range 300 {
		foreign = append(foreign, make([]byte, n), bytes.Repeat([]byte{0xff}, n), bytes.Repeat([]byte{1}, n))
	}
	for _, damage := range []func(trailer []byte){
		func(b []byte) { b[0] = 0 }, func(b []byte) { b[0] = 2 }, // version
		func(b []byte) { b[1] = 0 }, func(b []byte) { b[1] = 17 }, func(b []byte) { b[1] = 255 }, // k
		func(b []byte) { b[2] = 0 }, func(b []byte) { b[2] = 2 }, // hash: not by keys
		func(b []byte) { b[3] = 1 }, // flags
	} {
		b := bytes.Clone(whole)
		damage(b[len(b)-8:])
		foreign = append(foreign, b)
	}
	for _, f := range foreign {
		for _, offset := range []int{0, 1, 16, 63} {
			f := at(f, offset)
			before := CorruptLookups()
			for i := range 20 {
				if !p.MayContain(pebble.TableFilter, f, key(1e6+i)) {
					t.Fatalf("% x: absent", f)
				}
			}
			if n := CorruptLookups() - before; n != 20 {
				t.Fatalf("% x: %d of 20 lookups counted", f, n)
			}
		}
	}
	before := CorruptLookups()
	p.MayContain(pebble.TableFilter, whole, key(1))
	if CorruptLookups() != before {
		t.Error("a good filter was counted as bad")
	}
}

// FuzzMayContain holds lookups in any bytes against a view of them.
func FuzzMayContain(f *testing.F) {
	p := Policy(10)
	f.Add(build(p, 20, nil), key(1))
	f.Add(build(p, 20, nil), key(100))
	f.Add([]byte{1, 8, 1, 0, 0, 0, 0, 0}, key(1))
	f.Add(append(make([]byte, 64), 1, 8, 0, 0, 0, 0, 0, 0), key(1)) // of a caller's hashes
	f.Fuzz(func(t *testing.T, filter, key []byte) {
		before := CorruptLookups()
		may := p.MayContain(pebble.TableFilter, filter, key)
		counted := CorruptLookups() - before
		v, err := blocked.OpenCompactUnverified(filter, 0)
		if err != nil || v.CallerHash() {
			if !may || counted != 1 {
				t.Errorf("may = %v of no filter for keys, %d counted: %v", may, counted, err)
			}
		} else if want := v.MayContain(key); may != want || counted != 0 {
			t.Errorf("may = %v, want %v, %d counted", may, want, counted)
		}
	})
}

// TestMaxBytes: keys that need more than the bound get what it allows.
func TestMaxBytes(t *testing.T) {
	for _, p := range []*policy{newBits(10, 4096), newRate(0.01, 4096)} {
		for _, n := range []int{3000, 4000, 20000, 100} { // 3276 keys fit
			f := build(p, n, nil)
			if n > 3276 && len(f) != 4096+8 || len(f) > 4096+8 {
				t.Errorf("%v: %d bytes for %d keys", p, len(f), n)
			}
			if _, err := blocked.OpenCompact(f, 0); err != nil {
				t.Errorf("%v: %d keys: %v", p, n, err)
			}
			for i := range n {
				if !p.MayContain(pebble.TableFilter, f, key(i)) {
					t.Fatalf("%v: key %d of %d is absent", p, i, n)
				}
			}
		}
	}
}

// TestConcurrent builds and asks from several goroutines with one policy.
func TestConcurrent(t *testing.T) {
	p := Policy(10)
	shared := build(p, 1000, nil)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for round := range 20 {
				n := 100*g + round
				own := build(p, n, nil)
				for i := range n {
					if !p.MayContain(pebble.TableFilter, own, key(i)) || !p.MayContain(pebble.TableFilter, shared, key(i)) {
						t.Errorf("key %d of %d is absent", i, n)
						return
					}
				}
				p.MayContain(pebble.TableFilter, nil, nil)
			}
		})
	}
	wg.Wait()
}

func TestAllocations(t *testing.T) {
	p := Policy(10)
	f, k := build(p, 1000, nil), key(7)
	if n := testing.AllocsPerRun(100, func() {
		p.MayContain(pebble.TableFilter, f, k)
		p.MayContain(pebble.TableFilter, f[1:], k)
	}); n > 0 {
		t.Errorf("lookups allocate %v times", n)
	}
}
