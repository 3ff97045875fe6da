package blocked

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// View is a filter that can be asked and not changed, in memory of somebody else's: a table's block, a mapped file. It has the lookups of a Filter and gives the same answers, whatever the alignment of
// the memory. Blocks that cross a cache line cost up to two of them a lookup.
//
// A View is a small value that refers to the bytes it was opened on. They must stay readable and unchanged while it, or a copy, is used. Any number of goroutines may use it at once, as only its
// lookups are there. No method allocates but those that make a Filter, and the Select methods where their slice must grow.
//
// A View that cannot know whether a key was added says that it may have been. So the zero View, which the functions that open return beside an error, reports every key as possibly contained; and
// the view of a filter that was made WithCallerHash does so for the methods that take keys, since those know XXH3-64 only.
type View struct {
	// Four words are what the compiler keeps in registers, and passes in them with an error beside. A larger value, a header for example, goes through the stack, where a load of what was stored in smaller
	// parts waits; opening one took twice as long. So lookups make the header, for less than a nanosecond.
	bits   unsafe.Pointer
	blocks uint64
	seed   uint64
	traits traits
}

// traits is what stands in a header from kernel on, in the order of little-endian memory: kernel in the lowest byte, class, k, and then, in place of shared, the flags of a view.
type traits uint32

const (
	viewKeyed     traits = 1 << 24 // lookups by key know the filter's hash
	viewContainer traits = 2 << 24 // there is a container's header before the blocks
)

// traitsOf makes the traits for a k and a hash that have been checked.
func traitsOf(k, hash uint8, kernel kernelID) traits {
	t := traits(kernel) | traits(k)<<16 | traits(hash)<<24 // hashXXH3 is viewKeyed
	switch {
	case k == 8:
		t |= traits(classEight) << 8
	case k > 8:
		t |= traits(classHigh) << 8
	}
	return t
}

func (t traits) k() uint8 { return uint8(t >> 16) }

// header makes h, which is zero, the view as the kernels know it. It sets one field after the other, and the small ones at once: what is copied, or loaded by a word that was stored by bytes, is waited
// for.
func (v View) header(h *header) {
	h.bits = v.bits
	h.blocks = v.blocks
	h.lanes = &laneTables[(v.traits.k()-1)&7]
	t := uint32(v.traits) & 0xffffff // without the flags, in whose place stands shared, which a view is not
	if bigEndian {
		t = bits.ReverseBytes32(t)
	}
	*(*uint32)(unsafe.Pointer(&h.kernel)) = t
}

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// A header's small fields are where traits has them, and there are four bytes. This does not compile where they are not.
var _ = [1]struct{}{}[unsafe.Offsetof(header{}.kernel)%4|(unsafe.Offsetof(header{}.class)-unsafe.Offsetof(header{}.kernel)-1)|
	(unsafe.Offsetof(header{}.k)-unsafe.Offsetof(header{}.kernel)-2)|(unsafe.Sizeof(header{})-unsafe.Offsetof(header{}.kernel))%4]

// keyed reports whether lookups by key know the filter's hash: not in a zero View.
func (v View) keyed() bool { return v.traits&viewKeyed != 0 }

// filter returns a Filter of the view's memory, which must not be written to.
func (v View) filter() (f Filter) {
	if v.blocks != 0 {
		v.header(&f.header)
	}
	f.seed, f.flip, f.callerHash = v.seed, flipOf(v.seed), v.CallerHash()
	return f
}

// OpenView returns a view of the filter whose container data is, without a copy. data must not change while the view is used.
//
// It checks everything, the blocks' checksum included, which costs one pass over data. The error wraps ErrCorrupt where data is no container, is damaged, or has bytes before or after
// it, and ErrVersion where it is of a later version.
func OpenView(data []byte) (View, error) {
	c, err := checkContainer(data)
	if err != nil {
		return View{}, err
	}
	return View{unsafe.Pointer(&data[headerBytes]), c.blocks, c.seed, traitsOf(c.k, c.hash, active) | viewContainer}, nil
}

// OpenViewUnverified is OpenView without the checksums, at a constant cost of a few nanoseconds, so that it may be done for every lookup: for storage that has checked data already. It sees what
// makes the header implausible (magic, version, k, hash, flags, reserved bytes, a number of blocks that is not the length's) and nothing of other damage, which can make keys
// absent that are not.
func OpenViewUnverified(data []byte) (View, error) {
	if len(data) >= headerBytes+blockBytes {
		h := (*[headerBytes]byte)(data)
		w := binary.LittleEndian.Uint64(h[8:])
		n := binary.LittleEndian.Uint64(h[24:])
		if plausible(h, w, n) && uint64(len(data)) == headerBytes+blockBytes*n {
			return View{unsafe.Pointer(&data[headerBytes]), n, binary.LittleEndian.Uint64(h[16:]), traitsOf(uint8(w>>16), uint8(w>>24), active) | viewContainer}, nil
		}
	}
	return View{}, implausible(data)
}

// implausible says why OpenViewUnverified refuses data.
func implausible(data []byte) error {
	if len(data) >= headerBytes {
		h := (*[headerBytes]byte)(data)
		if err := headerError(h, false); err != nil {
			return err
		}
		return sizeError(len(data), binary.LittleEndian.Uint64(h[24:]))
	}
	_, err := checkContainer(data)
	return err
}

// View returns a view of the filter's memory. It sees what is added later, and must not be used while something is, nor after another filter has been read into this one. Of a zero Filter it is a zero View.
func (f *Filter) View() View {
	if f.blocks == 0 {
		return View{}
	}
	return View{f.bits, f.blocks, f.seed, traitsOf(f.k, f.hashCode(), f.kernel)}
}

// Clone returns a Filter with a copy of the view's blocks; a zero Filter for a zero View.
func (v View) Clone() *Filter {
	f := v.filter()
	return f.Clone()
}

// Geometry returns the filter's shape; the zero Geometry for a zero View.
func (v View) Geometry() Geometry { return Geometry{Blocks: v.blocks, K: int(v.traits.k())} }

// Seed returns the seed of the hash.
func (v View) Seed() uint64 { return v.seed }

// CallerHash reports whether the filter was made WithCallerHash. Then only the methods that take hashes know anything.
func (v View) CallerHash() bool { return v.blocks != 0 && !v.keyed() }

// CallerHash reports whether the filter was made WithCallerHash.
func (f *Filter) CallerHash() bool { return f.callerHash }

// Keys returns how many keys the container says were added; 0 where it does not say. It is only informative: a [Builder] writes it, a Filter does not. See Cardinality for
// an estimate from the bits.
func (v View) Keys() uint64 {
	if v.traits&viewContainer == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64((*[headerBytes]byte)(unsafe.Add(v.bits, -headerBytes))[32:])
}

// Hash returns the hash of key with the filter's seed: XXH3-64.
func (v View) Hash(key []byte) uint64 { return xxh3.HashSeed(key, v.seed) }

// HashString returns the hash of a string's bytes.
func (v View) HashString(key string) uint64 { return xxh3.HashStringSeed(key, v.seed) }

// HashUint64 returns the hash of a uint64's eight little-endian bytes.
func (v View) HashUint64(key uint64) uint64 { return hashUint64(key, flipOf(v.seed)) }

// MayContain reports whether key may have been added: false is certain, true is wrong with the filter's false positive rate. It costs the hash and one block.
func (v View) MayContain(key []byte) bool {
	return !v.keyed() || v.MayContainHash(xxh3.HashSeed(key, v.seed))
}

// MayContainString is MayContain for the bytes of a string, without a copy.
func (v View) MayContainString(key string) bool {
	return !v.keyed() || v.MayContainHash(xxh3.HashStringSeed(key, v.seed))
}

// MayContainUint64 is MayContain for the eight little-endian bytes of a uint64.
func (v View) MayContainUint64(key uint64) bool {
	return !v.keyed() || v.MayContainHash(hashUint64(key, flipOf(v.seed)))
}

// MayContainHash is MayContain for the key that has hash h, with the filter's seed.
func (v View) MayContainHash(h uint64) bool {
	if v.blocks == 0 {
		return true
	}
	var f header
	v.header(&f)
	if raceEnabled {
		f.raceBlock(h, raceRead)
	}
	return contains(&f, h)
}

// MayContainHashes sets dst[i] to whether the key with hash hs[i] may have been added. It panics if len(dst) < len(hs), and leaves what dst has beyond that alone.
func (v View) MayContainHashes(dst []bool, hs []uint64) {
	if v.blocks == 0 {
		setAll(dst[:len(hs)])
		return
	}
	var f header
	v.header(&f)
	f.containsAll(dst[:len(hs)], hs)
}

// MayContainKeys sets dst[i] to whether keys[i] may have been added. It panics if len(dst) < len(keys).
func (v View) MayContainKeys(dst []bool, keys [][]byte) {
	if !v.keyed() {
		setAll(dst[:len(keys)])
		return
	}
	f := v.filter()
	f.MayContainKeys(dst, keys)
}

// MayContainStrings sets dst[i] to whether the bytes of keys[i] may have been added. It panics if len(dst) < len(keys).
func (v View) MayContainStrings(dst []bool, keys []string) {
	if !v.keyed() {
		setAll(dst[:len(keys)])
		return
	}
	f := v.filter()
	f.MayContainStrings(dst, keys)
}

// MayContainUint64s sets dst[i] to whether keys[i], as eight little-endian bytes, may have been added. It panics if len(dst) < len(keys).
func (v View) MayContainUint64s(dst []bool, keys []uint64) {
	if !v.keyed() {
		setAll(dst[:len(keys)])
		return
	}
	f := v.filter()
	f.MayContainUint64s(dst, keys)
}

// SelectHashes appends to sel the positions i, in rising order, of those hs[i] that may have been added, and returns the extended slice: a selection vector. It allocates only
// where the capacity of sel beyond its length is less than len(hs), which must be below 2^32.
func (v View) SelectHashes(sel []uint32, hs []uint64) []uint32 {
	if v.blocks == 0 {
		return selectAll(sel, len(hs))
	}
	f := v.filter()
	return f.SelectHashes(sel, hs)
}

// SelectKeys appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (v View) SelectKeys(sel []uint32, keys [][]byte) []uint32 {
	if !v.keyed() {
		return selectAll(sel, len(keys))
	}
	f := v.filter()
	return f.SelectKeys(sel, keys)
}

// SelectStrings appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (v View) SelectStrings(sel []uint32, keys []string) []uint32 {
	if !v.keyed() {
		return selectAll(sel, len(keys))
	}
	f := v.filter()
	return f.SelectStrings(sel, keys)
}

// SelectUint64s appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (v View) SelectUint64s(sel []uint32, keys []uint64) []uint32 {
	if !v.keyed() {
		return selectAll(sel, len(keys))
	}
	f := v.filter()
	return f.SelectUint64s(sel, keys)
}

func setAll(dst []bool) {
	for i := range dst {
		dst[i] = true
	}
}

func selectAll(sel []uint32, n int) []uint32 {
	sel = slices.Grow(sel, n)
	for i := range n {
		sel = append(sel, uint32(i))
	}
	return sel
}
