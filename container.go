package blocked

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// The container: a header of one block's size and then the blocks, so that a filter in a mapped file has its blocks on cache lines and a file of N blocks is 64*(N+1)
// bytes. All integers are little-endian. FORMAT.md describes it for other languages.
//
//	 0  magic        8 bytes
//	 8  version      2 bytes, 1
//	10  k            1 byte
//	11  hash         1 byte: hashXXH3 or hashCaller
//	12  flags        4 bytes, 0
//	16  seed         8 bytes
//	24  N            8 bytes
//	32  keys         8 bytes: how many the writer says were added, 0 if it does not say
//	40  reserved     8 bytes, 0
//	48  blocks' sum  8 bytes: XXH3-64 of the blocks
//	56  header's sum 8 bytes: XXH3-64 of bytes 0 to 55

const (
	headerBytes = blockBytes

	// magic is 89 42 4C 4B 0D 0A 1A 0A as a little-endian number: 0x89 is in no text, "BLK", and line ends of both kinds around a DOS end of file, so that a
	// transfer in text mode shows in the first eight bytes, as in PNG.
	magic = 0x0A1A0A0D4B4C4289

	formatVersion = 1

	hashCaller = 0 // the caller's own 64-bit hash
	hashXXH3   = 1 // XXH3-64 of the key with the seed
)

// A containerHeader is what a header says.
type containerHeader struct {
	blocks, seed, keys uint64
	k                  uint8
	hash               uint8
}

func (c containerHeader) geometry() Geometry { return Geometry{Blocks: c.blocks, K: int(c.k)} }

// putHeader writes the header for blocks into h.
func (c containerHeader) put(h *[headerBytes]byte, blocks []byte) {
	le := binary.LittleEndian
	le.PutUint64(h[0:], magic)
	le.PutUint64(h[8:], formatVersion|uint64(c.k)<<16|uint64(c.hash)<<24)
	le.PutUint64(h[16:], c.seed)
	le.PutUint64(h[24:], c.blocks)
	le.PutUint64(h[32:], c.keys)
	le.PutUint64(h[40:], 0)
	le.PutUint64(h[48:], xxh3.Hash(blocks))
	le.PutUint64(h[56:], xxh3.Hash(h[:56]))
}

// parse reads a header's fields and reports whether they are plausible. It does not look at the sums.
func (c *containerHeader) parse(h *[headerBytes]byte) bool {
	le := binary.LittleEndian
	w := le.Uint64(h[8:])
	*c = containerHeader{blocks: le.Uint64(h[24:]), seed: le.Uint64(h[16:]), keys: le.Uint64(h[32:]), k: uint8(w >> 16), hash: uint8(w >> 24)}
	return plausible(h, w, c.blocks)
}

// plausible is the part of parsing that is done for every lookup. w is the header's second word and n the number of blocks.
func plausible(h *[headerBytes]byte, w, n uint64) bool {
	le := binary.LittleEndian
	// Version 1 and no flags: nothing is set beside k's five bits and the hash's one.
	return le.Uint64(h[0:]) == magic && w&^(0x1f<<16|1<<24) == formatVersion && uint8(w>>16)-1 < 16 && n-1 < MaxBlocks && le.Uint64(h[40:]) == 0
}

// check is parse with the header's sum, and with an error that says what is wrong: of all that may be, the first that a reader of the error wants to know.
func (c *containerHeader) check(h *[headerBytes]byte) error {
	if c.parse(h) && binary.LittleEndian.Uint64(h[56:]) == xxh3.Hash(h[:56]) {
		return nil
	}
	return headerError(h, true)
}

// headerError says what is wrong with a header, and nil where nothing is. sum is whether its sum counts.
func headerError(h *[headerBytes]byte, sum bool) error {
	le := binary.LittleEndian
	if le.Uint64(h[0:]) != magic {
		return fmt.Errorf("blocked: %w: it begins with % x, must be 89 42 4c 4b 0d 0a 1a 0a", ErrCorrupt, h[:8])
	}
	if v := le.Uint16(h[8:]); v != formatVersion {
		return fmt.Errorf("blocked: %w: version = %d, must be %d", ErrVersion, v, formatVersion)
	}
	if have, want := le.Uint64(h[56:]), xxh3.Hash(h[:56]); sum && have != want {
		return fmt.Errorf("blocked: %w: the header's checksum is %#x, its bytes have %#x", ErrCorrupt, have, want)
	}
	if k := h[10]; k < 1 || k > 16 {
		return fmt.Errorf("blocked: %w: k = %d, must be 1 to 16", ErrCorrupt, k)
	}
	if hash := h[11]; hash > hashXXH3 {
		return fmt.Errorf("blocked: %w: hash = %d, must be 0 or 1", ErrVersion, hash)
	}
	if flags := le.Uint32(h[12:]); flags != 0 {
		return fmt.Errorf("blocked: %w: flags = %#x, must be 0", ErrVersion, flags)
	}
	if n := le.Uint64(h[24:]); n < 1 || n > MaxBlocks {
		return fmt.Errorf("blocked: %w: blocks = %d, must be 1 to %d", ErrCorrupt, n, uint64(MaxBlocks))
	}
	if x := le.Uint64(h[40:]); x != 0 {
		return fmt.Errorf("blocked: %w: reserved field = %#x, must be 0", ErrVersion, x)
	}
	return nil
}

// sizeError is for a container of another length than its header's N asks for.
func sizeError(n int, blocks uint64) error {
	return fmt.Errorf("blocked: %w: %d bytes, a filter of %d blocks has %d", ErrCorrupt, n, blocks, headerBytes+blockBytes*blocks)
}

// blocksError is for blocks with another checksum than the header's.
func blocksError(have, want uint64) error {
	return fmt.Errorf("blocked: %w: the blocks' checksum is %#x, their bytes have %#x", ErrCorrupt, have, want)
}

// checkContainer checks all of a container, both sums included.
func checkContainer(data []byte) (c containerHeader, err error) {
	if len(data) < headerBytes {
		return c, fmt.Errorf("blocked: %w: %d bytes, a header has %d", ErrCorrupt, len(data), headerBytes)
	}
	h := (*[headerBytes]byte)(data)
	if err := c.check(h); err != nil {
		return c, err
	}
	if uint64(len(data)) != headerBytes+blockBytes*c.blocks {
		return c, sizeError(len(data), c.blocks)
	}
	if have, want := binary.LittleEndian.Uint64(h[48:]), xxh3.Hash(data[headerBytes:]); have != want {
		return c, blocksError(have, want)
	}
	return c, nil
}

// hashCode is the filter's hash in files.
func (f *Filter) hashCode() uint8 {
	if f.callerHash {
		return hashCaller
	}
	return hashXXH3
}

// hashName names it in errors.
func hashName(code uint8) string {
	if code == hashCaller {
		return "the caller's own hash (WithCallerHash)"
	}
	return "XXH3-64"
}

// containerHeader describes the filter. The filter does not count its keys.
func (f *Filter) containerHeader() containerHeader {
	return containerHeader{blocks: f.blocks, seed: f.seed, k: f.k, hash: f.hashCode()}
}

// zeroError is for a zero Filter where blocks are needed.
func (f *Filter) zeroError() error {
	if f.blocks != 0 {
		return nil
	}
	return fmt.Errorf("blocked: %w: Blocks = 0, must be 1 to %d: a zero Filter has no bytes", ErrParameter, uint64(MaxBlocks))
}

// extend returns dst with n more bytes, all 0. Where dst has no memory yet, the bytes start on a cache line.
func extend(dst []byte, n uint64) ([]byte, error) {
	if n > platformBytes || uint64(len(dst)) > platformBytes-n {
		return dst, fmt.Errorf("blocked: %w: %d bytes to append to %d, the platform's maximum is %d", ErrTooLarge, n, len(dst), platformBytes)
	}
	if cap(dst) == 0 {
		return alignedBytes(int(n)), nil
	}
	at := len(dst)
	dst = slices.Grow(dst, int(n))[:at+int(n)]
	clear(dst[at:])
	return dst, nil
}

// AppendBinary appends the filter's container, 64*(Blocks+1) bytes, to dst and returns the extended slice: the format that FORMAT.md describes, the same bytes on every architecture. The
// field for the number of keys is 0, since a Filter does not count them. It fails only for a zero Filter, with an error that wraps ErrParameter, or where the slice
// would be larger than the platform allows; dst is returned as it was then. It costs about two copies of the memory.
func (f Filter) AppendBinary(dst []byte) ([]byte, error) { return f.appendBinary(dst, nil) }

// appendBinary is AppendBinary. The blocks are copied by copyTo, or by copy where that is nil.
func (f *Filter) appendBinary(dst []byte, copyTo func(blocks []byte)) ([]byte, error) {
	if err := f.zeroError(); err != nil {
		return dst, err
	}
	out, err := extend(dst, headerBytes+f.Geometry().Bytes())
	if err != nil {
		return dst, err
	}
	made := out[len(dst):]
	if copyTo != nil {
		copyTo(made[headerBytes:])
	} else {
		copy(made[headerBytes:], f.Bits())
	}
	f.containerHeader().put((*[headerBytes]byte)(made), made[headerBytes:])
	return out, nil
}

// MarshalBinary returns the filter's container, as AppendBinary does. encoding/gob calls it.
func (f Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// UnmarshalBinary makes f the filter whose container data is, and keeps no reference to data. The filter's memory is used again where the new blocks fit in; copies of f share
// it and must not be used any more.
//
// The error wraps ErrCorrupt where data is no container, is damaged, or has bytes before or after it; ErrVersion where it is of a later version; and ErrMismatch where its hash is
// the caller's own and f was not made WithCallerHash, or the reverse. f is as it was then. Nothing is allocated for data that is not whole.
func (f *Filter) UnmarshalBinary(data []byte) error {
	c, err := checkContainer(data)
	if err != nil {
		return err
	}
	if err := f.checkHash(c.hash); err != nil {
		return err
	}
	blocks := data[headerBytes:]
	mem := f.memory(c.blocks)
	if mem == nil {
		mem = filterBytes(len(blocks), f.small)
	}
	copy(mem, blocks)
	f.become(c, mem)
	return nil
}

// checkHash returns an error where a container's hash is not f's.
func (f *Filter) checkHash(hash uint8) error {
	if hash != f.hashCode() {
		return fmt.Errorf("blocked: %w: the bytes are of a filter with hash %d, %s, and are read into one with hash %d, %s", ErrMismatch, hash, hashName(hash), f.hashCode(), hashName(f.hashCode()))
	}
	return nil
}

// memory returns the filter's memory for n blocks, or nil where it has none or too little.
func (f *Filter) memory(n uint64) []byte {
	if n > max(f.blocks, f.room) {
		return nil
	}
	return unsafe.Slice((*byte)(f.bits), int(n*blockBytes))
}

// become makes f the filter that c describes, with the blocks in mem, which is f's own memory or new.
func (f *Filter) become(c containerHeader, mem []byte) {
	p := unsafe.Pointer(unsafe.SliceData(mem))
	room := uint64(0)
	if p == f.bits {
		room = max(f.blocks, f.room)
	}
	*f = Filter{header: makeHeader(p, c.geometry()), seed: c.seed, flip: flipOf(c.seed), room: room, callerHash: c.hash == hashCaller, small: f.small}
}
