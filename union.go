package blocked

import (
	"fmt"
	"strings"
)

// Source is what Union, Intersect and Equal read from: a *Filter, a View, or a *File.
type Source interface {
	source() Filter // shares the memory
}

func (f *Filter) source() Filter { return *f }
func (v View) source() Filter    { return v.filter() }

// matches returns an error that says all that differs between f and g, where they cannot be combined: k, seed, hash, or sizes of which none is a multiple of the other.
func (f *Filter) matches(g *Filter) error {
	for _, x := range [...]*Filter{f, g} {
		if x.blocks == 0 {
			return fmt.Errorf("blocked: %w: a zero Filter or View has no blocks", ErrMismatch)
		}
	}
	var differ []string
	if f.k != g.k {
		differ = append(differ, fmt.Sprintf("k = %d and %d", f.k, g.k))
	}
	if f.seed != g.seed {
		differ = append(differ, fmt.Sprintf("seed = %#x and %#x", f.seed, g.seed))
	}
	if f.callerHash != g.callerHash {
		differ = append(differ, fmt.Sprintf("hash = %d, %s, and %d, %s", f.hashCode(), hashName(f.hashCode()), g.hashCode(), hashName(g.hashCode())))
	}
	if small, large := min(f.blocks, g.blocks), max(f.blocks, g.blocks); large%small != 0 {
		differ = append(differ, fmt.Sprintf("blocks = %d and %d, one must be a multiple of the other", f.blocks, g.blocks))
	}
	if differ == nil {
		return nil
	}
	return fmt.Errorf("blocked: %w: %s", ErrMismatch, strings.Join(differ, "; "))
}

// Union makes f a filter of the keys of both, as if those of g had been added to f: byte for byte, where the sizes are equal. Where f is the larger, it is folded to the size of g, as
// [Filter.Fold] does, into new memory; where g is the larger, f takes its fold. g stays as it is and may be f itself.
//
// Both must have the same k, seed and hash, and one number of blocks must be a multiple of the other. Otherwise f is unchanged, and the error wraps ErrMismatch and names all that differs. It
// costs one pass over both and allocates nothing but the memory of a fold of f. It counts as an Add to f and a lookup in g, which must not run in parallel with others as those must not.
func (f *Filter) Union(g Source) error { return f.merge(g, opOr) }

// Intersect makes f a filter that reports the keys that f and g both report, and certainly those that were added to both. For sizes and errors it is as Union.
//
// It does not make the filter that the common keys alone would give: bits that different keys have set in f and g stay. So its false positive rate is at most the lower of the two, and can be far above that of a filter that was
// made of the common keys; its Cardinality is too high; and a key that was added to one of the filters only is reported with the rate of the other.
func (f *Filter) Intersect(g Source) error { return f.merge(g, opAnd) }

func (f *Filter) merge(src Source, op blockOp) error {
	g := src.source()
	if err := f.matches(&g); err != nil {
		return err
	}
	if f.blocks > g.blocks {
		// Into new memory: a View or a copy of f still looks at the old one, and would miss keys in it.
		*f = *f.fold(f.blocks / g.blocks)
	}
	mergeBlocks(f.Bits(), g.Bits(), int(g.blocks/f.blocks), op)
	return nil
}

// Equal reports whether f and g have the same bits, the larger one folded to the size of the smaller one. Filters of the same keys do; different keys can give the same bits. Where the two cannot be
// compared the error is Union's. It costs at most one pass over both and allocates nothing.
func (f *Filter) Equal(g Source) (bool, error) {
	h := g.source()
	if err := f.matches(&h); err != nil {
		return false, err
	}
	small, large := f, &h
	if small.blocks > large.blocks {
		small, large = large, small
	}
	return equalBlocks(small.Bits(), large.Bits(), int(large.blocks/small.blocks)), nil
}

// Equal is [Filter.Equal] of the filter in view.
func (v View) Equal(g Source) (bool, error) {
	f := v.filter()
	return f.Equal(g)
}
