package blocked

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Folding. A key's block is floor(h*N/2^64), and floor(floor(h*aN/2^64)/a) is floor(h*N/2^64), while the bits inside the block do not depend on N. So a neighbouring blocks, or-ed, are the one block that
// a filter with an a-th of the blocks has in their place, bit for bit. The same makes filters of different sizes comparable.

// A blockOp says what mergeBlocks does with a folded block.
type blockOp uint8

const (
	opSet blockOp = iota // dst = x
	opOr                 // dst |= x
	opAnd                // dst &= x
)

// mergeBlocks folds src by a, block for block, into dst, whose length is an a-th of src's. For opSet dst may be the first part of src.
func mergeBlocks(dst, src []byte, a int, op blockOp) {
	ne := binary.NativeEndian // all of it is bit by bit
	for j := 0; j+blockBytes <= len(dst); j += blockBytes {
		x := foldBlock(src[j*a:(j+blockBytes)*a], a)
		d := (*[blockBytes]byte)(dst[j:])
		switch op {
		case opOr:
			for l, y := range x {
				x[l] = y | ne.Uint64(d[8*l:])
			}
		case opAnd:
			for l, y := range x {
				x[l] = y & ne.Uint64(d[8*l:])
			}
		}
		for l, y := range x {
			ne.PutUint64(d[8*l:], y)
		}
	}
}

// foldBlock returns the OR of a blocks.
func foldBlock(src []byte, a int) (x [8]uint64) {
	ne := binary.NativeEndian
	for ; a > 0; a-- {
		s := (*[blockBytes]byte)(src)
		x[0] |= ne.Uint64(s[0:])
		x[1] |= ne.Uint64(s[8:])
		x[2] |= ne.Uint64(s[16:])
		x[3] |= ne.Uint64(s[24:])
		x[4] |= ne.Uint64(s[32:])
		x[5] |= ne.Uint64(s[40:])
		x[6] |= ne.Uint64(s[48:])
		x[7] |= ne.Uint64(s[56:])
		src = src[blockBytes:]
	}
	return x
}

// equalBlocks reports whether src, folded by a, is dst.
func equalBlocks(dst, src []byte, a int) bool {
	ne := binary.NativeEndian
	for j := 0; j+blockBytes <= len(dst); j += blockBytes {
		d := (*[blockBytes]byte)(dst[j:])
		for l, y := range foldBlock(src[j*a:(j+blockBytes)*a], a) {
			if y != ne.Uint64(d[8*l:]) {
				return false
			}
		}
	}
	return true
}

// Foldable returns g with Blocks rounded up, by less than a sixteenth, to a number that can be halved until fewer than 32 blocks are left: the geometry to allocate for the most that
// can come, when FoldTo is to shrink the filter later. Other numbers fold by their own divisors only, and a prime not at all.
func (g Geometry) Foldable() Geometry {
	if s := bits.Len64(g.Blocks) - 5; s > 0 && g.Blocks <= MaxBlocks {
		g.Blocks = (g.Blocks + 1<<s - 1) >> s << s
	}
	return g
}

// Fold returns a new filter with an a-th of the blocks, byte-equal to one that was made with that size and the same keys. f stays as it is. The rate becomes that of the smaller size: FoldTo chooses a by the
// rate. Fold(1) is a copy.
//
// a must divide the number of blocks, or the error wraps ErrParameter. It costs one pass over f and the memory of the new filter.
func (f *Filter) Fold(a uint64) (*Filter, error) {
	if err := f.zeroError(); err != nil {
		return nil, err
	}
	if a == 0 || f.blocks%a != 0 {
		return nil, fmt.Errorf("blocked: %w: a = %d, must divide the number of blocks, %d", ErrParameter, a, f.blocks)
	}
	return f.fold(a), nil
}

// fold is Fold by a divisor.
func (f *Filter) fold(a uint64) *Filter {
	g := f.Geometry()
	g.Blocks /= a
	s := newFilter(g, f.seed, f.small)
	s.callerHash = f.callerHash
	s.kernel = f.kernel
	mergeBlocks(s.Bits(), f.Bits(), int(a), opSet)
	return s
}

// FoldTo returns a new filter, f folded by the largest divisor of its number of blocks that keeps the false positive rate at p or below: the rate of the filter as it stands, as FalsePositiveRate tells it, so nothing
// is left for more keys. f stays as it is. See [Geometry.Foldable] for sizes that fold well.
//
// p is above 0 and below 1, or the error wraps ErrParameter; it wraps ErrUnreachable where the rate is above p as it is. It costs a few passes over f, and while it works about the memory of f again.
func (f *Filter) FoldTo(p float64) (*Filter, error) {
	if err := f.zeroError(); err != nil {
		return nil, err
	}
	if math.IsNaN(p) || p <= 0 || p >= 1 {
		return nil, fmt.Errorf("blocked: %w: p = %v, must be above 0 and below 1", ErrParameter, p)
	}
	if rate := f.FalsePositiveRate(); rate > p {
		return nil, fmt.Errorf("blocked: %w: p = %v, the filter's rate is %.4g as it is", ErrUnreachable, p, rate)
	}
	// The rate only rises from a divisor to its multiples, so where one fails all its multiples do. Each divisor is reached once, by its prime factors in rising order, from the fold
	// before it: all together read a small multiple of f.
	best := f
	primes := primeFactors(f.blocks)
	var walk func(g *Filter, i int)
	walk = func(g *Filter, i int) {
		for ; i < len(primes); i++ {
			q := primes[i]
			if g.blocks%q != 0 {
				continue
			}
			if s := g.fold(q); s.FalsePositiveRate() <= p {
				if s.blocks < best.blocks {
					best = s
				}
				walk(s, i)
			}
		}
	}
	walk(f, 0)
	if best == f {
		return f.Clone(), nil
	}
	return best, nil
}

// primeFactors returns the different primes that divide n, n at least 1 and at most MaxBlocks, in rising order. It takes at most a few milliseconds.
func primeFactors(n uint64) (ps []uint64) {
	for q := uint64(2); q*q <= n; q++ {
		if n%q != 0 {
			continue
		}
		ps = append(ps, q)
		for n%q == 0 {
			n /= q
		}
	}
	if n > 1 {
		ps = append(ps, n)
	}
	return ps
}

// Fold is [Filter.Fold] of the filter in view.
func (v View) Fold(a uint64) (*Filter, error) {
	f := v.filter()
	return f.Fold(a)
}

// FoldTo is [Filter.FoldTo] of the filter in view.
func (v View) FoldTo(p float64) (*Filter, error) {
	f := v.filter()
	return f.FoldTo(p)
}
