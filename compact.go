package blocked

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// The compact form: N blocks and eight bytes, for filters of a few blocks in storage that has a checksum of its own, where a header would be most of the filter.
//
//	0  version  1 byte, 1    (counted from the end of the blocks)
//	1  k        1 byte
//	2  hash     1 byte: hashXXH3 or hashCaller
//	3  flags    1 byte, 0
//	4  sum      4 bytes: the low half of XXH3-64 of the blocks, little-endian
//
// N follows from the length. The seed is not stored.

const trailerBytes = 8

// putTrailer writes the trailer for blocks into t.
func putTrailer(t *[trailerBytes]byte, k, hash uint8, blocks []byte) {
	*t = [trailerBytes]byte{formatVersion, k, hash, 0}
	binary.LittleEndian.PutUint32(t[4:], uint32(xxh3.Hash(blocks)))
}

// AppendCompact appends the filter's compact form, 64*Blocks+8 bytes, to dst and returns the extended slice. The reader has to know the seed. Errors are those of AppendBinary.
func (f *Filter) AppendCompact(dst []byte) ([]byte, error) {
	if err := f.zeroError(); err != nil {
		return dst, err
	}
	out, err := extend(dst, f.Geometry().Bytes()+trailerBytes)
	if err != nil {
		return dst, err
	}
	copy(out[len(dst):], f.Bits())
	putTrailer((*[trailerBytes]byte)(out[len(out)-trailerBytes:]), f.k, f.hashCode(), f.Bits())
	return out, nil
}

// OpenCompact returns a view of the filter whose compact form data is, without a copy. data must not change while the view is used. seed is the one that the
// filter was made with; it is not stored, and another one calls keys absent that are not.
//
// It checks the shape and the checksum, which costs about one pass over data. The error wraps ErrCorrupt, or ErrVersion for a later version. Damage of the eight bytes behind
// the blocks is found as far as it makes no other valid trailer: k has no checksum in this form but that of the storage.
func OpenCompact(data []byte, seed uint64) (View, error) {
	v, err := OpenCompactUnverified(data, seed)
	if err != nil {
		return View{}, err
	}
	blocks, t := data[:len(data)-trailerBytes], data[len(data)-trailerBytes:]
	if have, want := binary.LittleEndian.Uint32(t[4:]), uint32(xxh3.Hash(blocks)); have != want {
		return View{}, blocksError(uint64(have), uint64(want))
	}
	return v, nil
}

// OpenCompactUnverified is OpenCompact without the checksum, at a constant cost of a few nanoseconds: for storage that has checked data already. Of damage it sees only what makes the shape
// impossible.
func OpenCompactUnverified(data []byte, seed uint64) (View, error) {
	if n := len(data) - trailerBytes; n >= blockBytes && n%blockBytes == 0 {
		t := binary.LittleEndian.Uint32(data[n:])
		k := uint8(t >> 8)
		if t&^(0x1f<<8|1<<16) == formatVersion && k-1 < 16 {
			return View{unsafe.Pointer(unsafe.SliceData(data)), uint64(n) / blockBytes, seed, traitsOf(k, uint8(t>>16), active)}, nil
		}
	}
	return View{}, compactError(data)
}

// compactError says what is wrong with the shape of a compact form.
func compactError(data []byte) error {
	n := len(data) - trailerBytes
	if n < blockBytes || n%blockBytes != 0 {
		return fmt.Errorf("blocked: %w: %d bytes, a compact filter has 64 for each of its blocks and %d", ErrCorrupt, len(data), trailerBytes)
	}
	t := data[n:]
	switch {
	case t[0] != formatVersion:
		return fmt.Errorf("blocked: %w: version = %d, must be %d", ErrVersion, t[0], formatVersion)
	case t[2] > hashXXH3:
		return fmt.Errorf("blocked: %w: hash = %d, must be 0 or 1", ErrVersion, t[2])
	case t[3] != 0:
		return fmt.Errorf("blocked: %w: flags = %#x, must be 0", ErrVersion, t[3])
	}
	return fmt.Errorf("blocked: %w: k = %d, must be 1 to 16", ErrCorrupt, t[1])
}

// MayContainCompact looks up key in the filter whose compact form data is: OpenCompactUnverified and MayContain in one, about a tenth faster than the two (BenchmarkCompactLookup), for storage that has the filter's bytes at
// hand anew for each lookup. ok reports whether data has the shape of a compact filter that knows keys (one made WithCallerHash does not); where it has not, may is true. Damage is seen as
// far as OpenCompactUnverified sees it. It does not allocate. Any number of goroutines may call it at once.
func MayContainCompact(data []byte, seed uint64, key []byte) (may, ok bool) {
	n := len(data) - trailerBytes
	if n < blockBytes || n%blockBytes != 0 {
		return true, false
	}
	t := binary.LittleEndian.Uint32(data[n:])
	k := uint8(t >> 8)
	if t&^(0x1f<<8) != formatVersion|hashXXH3<<16 || k-1 >= 16 {
		return true, false
	}
	h := xxh3.HashSeed(key, seed)
	var f header
	View{unsafe.Pointer(unsafe.SliceData(data)), uint64(n) / blockBytes, seed, traitsOf(k, hashXXH3, active)}.header(&f)
	if raceEnabled {
		f.raceBlock(h, raceRead)
	}
	return contains(&f, h), true
}
