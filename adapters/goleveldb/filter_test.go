package leveldbfilter

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/blockedbloom/blocked"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func key(i int) []byte { return fmt.Appendf(nil, "key-%016d", i) }

// build makes the filter of n keys.
func build(f filter.Filter, n int) []byte {
	var b util.Buffer
	g := f.NewGenerator()
	for i := range n {
		g.Add(key(i))
	}
	g.Generate(&b)
	return b.Bytes()
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
	for _, f := range []filter.Filter{Filter(1), Filter(10), Filter(64), FilterForRate(0.5), FilterForRate(0.01), FilterForRate(1e-6)} {
		g := f.NewGenerator()
		var b util.Buffer
		for _, n := range []int{0, 1, 2, 80, 3000, 7} { // one generator after the other's Generate
			b.Reset() // leaves what was there in its memory
			if _, err := b.Write([]byte("dst")); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				g.Add(key(i))
				if i%3 == 0 {
					g.Add(key(i)) // the next version
				}
			}
			g.Generate(&b)
			if !bytes.HasPrefix(b.Bytes(), []byte("dst")) {
				t.Fatalf("%v: Generate does not append", f)
			}
			data := b.Bytes()[3:]
			if !bytes.Equal(data, build(f, n)) {
				t.Fatalf("%v: %d keys: another filter with keys that repeat, or of a used generator", f, n)
			}
			if _, err := blocked.OpenCompact(data, 0); err != nil {
				t.Errorf("%v: %v", f, err)
			}
			for offset := range 64 {
				if n > 100 && offset%16 != 3 {
					continue
				}
				data := at(data, offset)
				for i := range n {
					if !f.Contains(data, key(i)) {
						t.Fatalf("%v: key %d of %d is absent at offset %d", f, i, n, offset)
					}
				}
			}
			if n == 0 && f.Contains(data, key(1)) {
				t.Errorf("%v: a filter without keys has one", f)
			}
		}
	}
}

// TestSizeAndRate: at least as many bits as were asked for, and less than a block more; the rate of the plan.
func TestSizeAndRate(t *testing.T) {
	for _, n := range []int{1, 20, 51, 52, 80, 102, 103, 200, 2000} {
		bits := Filter(10)
		if blocks, want := (len(build(bits, n))-8)/64, (10*n+511)/512; blocks != want {
			t.Errorf("%d keys at 10 bits: %d blocks, want %d", n, blocks, want)
		}
		for _, p := range []float64{0.1, 0.01} {
			f := FilterForRate(p)
			data := build(f, n)
			v, err := blocked.OpenCompact(data, 0)
			if err != nil {
				t.Fatal(err)
			}
			if r := v.Geometry().FalsePositiveRate(uint64(n)); r > p {
				t.Errorf("%d keys at rate %v: the rate of its size is %v", n, p, r)
			}
			if n < 2000 {
				continue
			}
			wrong, asked := 0, 200000
			for i := range asked {
				if f.Contains(data, key(n+i)) {
					wrong++
				}
			}
			if r := float64(wrong) / float64(asked); math.Abs(r/p-1) > 0.25 {
				t.Errorf("%d keys at rate %v: %v measured", n, p, r)
			}
		}
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		f    filter.Filter
		want string
	}{
		{Filter(10), "10 bits a key"}, {Filter(9.5), "9.5 bits a key"},
		{Filter(0), "1 bits a key"}, {Filter(-5), "1 bits a key"}, {Filter(math.Inf(-1)), "1 bits a key"},
		{Filter(65), "64 bits a key"}, {Filter(math.Inf(1)), "64 bits a key"}, {Filter(math.NaN()), "10 bits a key"},
		{FilterForRate(0.02), "rate 0.02"}, {FilterForRate(1), "rate 0.5"}, {FilterForRate(math.Inf(1)), "rate 0.5"}, {FilterForRate(math.NaN()), "rate 0.01"},
		{FilterForRate(0), fmt.Sprintf("rate %g", blocked.MinRate())}, {FilterForRate(-1), fmt.Sprintf("rate %g", blocked.MinRate())},
	} {
		if s := fmt.Sprint(c.f); !strings.HasSuffix(s, ", "+c.want) || !strings.HasPrefix(s, Name) {
			t.Errorf("%q, want %q", s, c.want)
		}
		if b := build(c.f, 100); !c.f.Contains(b, key(99)) {
			t.Errorf("%v: no filter", c.f)
		}
	}
}

// TestForeignBytes: whatever is no filter may contain every key, and counts.
func TestForeignBytes(t *testing.T) {
	f := Filter(10)
	whole := build(f, 100)
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
	for _, damage := range []struct {
		at int
		x  byte
	}{{0, 0}, {0, 2}, {1, 0}, {1, 17}, {1, 255}, {2, 0}, {2, 2}, {3, 1}} { // version, k, hash, flags
		b := bytes.Clone(whole)
		b[len(b)-8+damage.at] = damage.x
		foreign = append(foreign, b)
	}
	for _, b := range foreign {
		for _, offset := range []int{0, 1, 16, 63} {
			b := at(b, offset)
			before := CorruptLookups()
			for i := range 20 {
				if !f.Contains(b, key(1e6+i)) {
					t.Fatalf("% x: absent", b)
				}
			}
			if n := CorruptLookups() - before; n != 20 {
				t.Fatalf("% x: %d of 20 lookups counted", b, n)
			}
		}
	}
	before := CorruptLookups()
	f.Contains(whole, key(1))
	if CorruptLookups() != before {
		t.Error("a good filter was counted as bad")
	}
}

// FuzzContains holds lookups in any bytes against a view of them.
func FuzzContains(f *testing.F) {
	p := Filter(10)
	f.Add(build(p, 20), key(1))
	f.Add(build(p, 20), key(100))
	f.Add([]byte{1, 8, 1, 0, 0, 0, 0, 0}, key(1))
	f.Add(append(make([]byte, 64), 1, 8, 0, 0, 0, 0, 0, 0), key(1)) // of a caller's hashes
	f.Fuzz(func(t *testing.T, filter, key []byte) {
		before := CorruptLookups()
		may := p.Contains(filter, key)
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
	for _, p := range []*policy{newBits(10, 640), newRate(0.01, 640)} {
		for _, n := range []int{300, 513, 2000, 10} { // 512 keys fit
			f := build(p, n)
			if n > 512 && len(f) != 640+8 || len(f) > 640+8 {
				t.Errorf("%v: %d bytes for %d keys", p, len(f), n)
			}
			if _, err := blocked.OpenCompact(f, 0); err != nil {
				t.Errorf("%v: %d keys: %v", p, n, err)
			}
			for i := range n {
				if !p.Contains(f, key(i)) {
					t.Fatalf("%v: key %d of %d is absent", p, i, n)
				}
			}
		}
	}
}

// TestConcurrent builds and asks from several goroutines with one filter.
func TestConcurrent(t *testing.T) {
	f := Filter(10)
	shared := build(f, 1000)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for round := range 20 {
				n := 1 + 100*g + round
				own := build(f, n)
				for i := range n {
					if !f.Contains(own, key(i)) || !f.Contains(shared, key(i)) {
						t.Errorf("key %d of %d is absent", i, n)
						return
					}
				}
				f.Contains(nil, nil)
			}
		})
	}
	wg.Wait()
}

func TestAllocations(t *testing.T) {
	f := Filter(10)
	b, k := build(f, 1000), key(7)
	if n := testing.AllocsPerRun(100, func() {
		f.Contains(b, k)
		f.Contains(b[1:], k)
	}); n > 0 {
		t.Errorf("lookups allocate %v times", n)
	}
}
