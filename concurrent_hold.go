package blocked

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Holding a block of a Concurrent.
//
// Whoever is to write to a block first exchanges its lane 0 with all ones. Had it something else, the block is held, and that something is what lane 0 really has; it is put back together with the new bits, and last, to let the block go. Had it
// all ones, somebody else holds the block. The lock so lies in the one cache line that an add touches anyway: locks of their own would be a second line for the processors to pass around, and an atomic OR a lane is up to eight
// locked instructions instead of one (bench/NOTES.md has the figures). Lookups do not see that a block is held; all ones are more than lane 0 has and never less. Adds must see it: what lane 0 has then proves nothing.
//
// A lane 0 that really is full, as in filters that have far more keys than they were planned for, looks as if its block were held for ever. Such blocks are known by their numbers, and are held by a mutex instead. A block becomes one
// of them under the hand of its holder, who enters its number and then leaves the lane as it is.

// held is what lane 0 of a block has while somebody writes to it.
const held = ^uint64(0)

// fullBlocks are the blocks with a full lane 0.
type fullBlocks struct {
	any     atomic.Bool // there are some
	mu      sync.Mutex  // holds them all
	numbers map[uint64]struct{}
}

func (b *fullBlocks) add(i uint64) {
	b.mu.Lock()
	if b.numbers == nil {
		b.numbers = map[uint64]struct{}{}
	}
	b.numbers[i] = struct{}{}
	b.any.Store(true)
	b.mu.Unlock()
}

// has reports whether lane 0 of block i is full. With hold it then has the mutex.
func (b *fullBlocks) has(i uint64, hold bool) bool {
	if !b.any.Load() {
		return false
	}
	b.mu.Lock()
	_, is := b.numbers[i]
	if !is || !hold {
		b.mu.Unlock()
	}
	return is
}

// laneZero returns lane 0 of block number i. Blocks that a Filter owns start on cache lines, so that it is where 64-bit atomic operations want it on every platform.
func (f *header) laneZero(i uint64) *uint64 {
	return (*uint64)(unsafe.Add(f.bits, uintptr(i)*blockBytes))
}

// nativeLane returns the number that has in memory the bytes of lane x, whose order is little-endian everywhere.
func nativeLane(x uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	return binary.NativeEndian.Uint64(b[:])
}

// hold waits for block number i and holds it. It returns what lane 0 has, or held where it is full.
func (c *Concurrent) hold(i uint64) uint64 {
	lane := c.f.laneZero(i)
	for try := 1; ; try++ {
		if was := atomic.LoadUint64(lane); was != held {
			if atomic.CompareAndSwapUint64(lane, was, held) {
				return was
			}
			continue
		}
		// A holder is done in some nanoseconds, or has been interrupted: then this goroutine's processor is better given to another.
		if try%16 == 0 {
			if c.full.has(i, true) {
				return held
			}
			runtime.Gosched()
		}
	}
}

// letGo lets block number i go, with what hold returned and the bits that lane 0 is to get.
func (c *Concurrent) letGo(i, was, more uint64) {
	switch {
	case was == held:
		c.full.mu.Unlock()
	case was|more == held:
		c.full.add(i)
	default:
		atomic.StoreUint64(c.f.laneZero(i), was|more)
	}
}

// addSharedGo is addShared in Go, for the kernels that have none of their own, and for all of them where a block is held or lane 0 is full.
//
//lint:ignore U1000 the assembly calls it
//go:norace
func addSharedGo(c *Concurrent, h uint64) (added bool) {
	f := &c.f.header
	if f.blocks == 0 {
		panic("blocked: add to a zero Concurrent; make one with blocked.NewConcurrent or blocked.NewConcurrentGeometry")
	}
	m := f.masks(h)
	i := blockIndex(h, f.blocks)
	if c.missing(i, &m) == 0 {
		return false
	}
	return c.or(i, &m)
}

// missing returns bits of x, in the lanes' order, that block number i has not: all of them, or some that others are setting, or 0 where there are certainly none. In a block that is held it cannot be told what lane 0 has, and something
// is missing.
//
//go:norace
func (c *Concurrent) missing(i uint64, x *[8]uint64) (missing uint64) {
	b := (*[blockBytes]byte)(unsafe.Pointer(c.f.laneZero(i)))
	missing = x[1]&^lane(b, 1) | x[2]&^lane(b, 2) | x[3]&^lane(b, 3) | x[4]&^lane(b, 4) | x[5]&^lane(b, 5) | x[6]&^lane(b, 6) | x[7]&^lane(b, 7)
	was := atomic.LoadUint64(c.f.laneZero(i))
	if was == held {
		return held
	}
	return missing | nativeLane(x[0])&^was
}

// certainly reports whether all probes of h are set, none of them only while a block is held, as a lookup can find them. It waits for a block that is held.
//
//go:norace
func (c *Concurrent) certainly(h uint64) bool {
	if !contains(&c.f.header, h) {
		return false
	}
	// The lookup may have met a holder's lane 0. The other lanes are as they were found, or have more.
	m := c.f.masks(h)
	return nativeLane(m[0])&^c.settled(blockIndex(h, c.f.blocks)) == 0
}

// or sets the bits x, in the lanes' order, in block number i and reports whether one was missing.
//
//go:norace
func (c *Concurrent) or(i uint64, x *[8]uint64) (added bool) {
	zero := nativeLane(x[0])
	was := c.hold(i)
	b := (*[blockBytes]byte)(unsafe.Pointer(c.f.laneZero(i)))
	missing := zero&^was | orLane(b, 1, x[1]) | orLane(b, 2, x[2]) | orLane(b, 3, x[3]) | orLane(b, 4, x[4]) | orLane(b, 5, x[5]) | orLane(b, 6, x[6]) | orLane(b, 7, x[7])
	c.letGo(i, was, zero)
	return missing != 0
}

// orLane ors mask into lane l of b and returns the bits that were missing.
//
//go:norace
func orLane(b *[blockBytes]byte, l int, mask uint64) (missing uint64) {
	is := lane(b, l)
	binary.LittleEndian.PutUint64(b[8*l&56:], is|mask)
	return mask &^ is
}

// union ors src, folded by a, into the blocks.
//
//go:norace
func (c *Concurrent) union(src []byte, a int) {
	for i := range c.f.blocks {
		x := foldBlock(src, a)
		src = src[a*blockBytes:]
		for l := range x {
			x[l] = nativeLane(x[l]) // foldBlock's are native; there and back is the same
		}
		if c.missing(i, &x) != 0 {
			c.or(i, &x)
		}
	}
}

// copyTo copies the blocks to dst. Lane 0 is copied apart, by an atomic load: what copies the rest may take a lane in pieces, and where one piece is a holder's ones and another is not, there would be bits that no key has set.
func (c *Concurrent) copyTo(dst []byte) {
	src := c.f.Bits()
	for i := uint64(0); i < c.f.blocks; {
		part := dst[i*blockBytes : min(i+copyBlocks, c.f.blocks)*blockBytes]
		if raceEnabled {
			copyUnseen(part, src[i*blockBytes:])
		} else {
			copy(part, src[i*blockBytes:])
		}
		for ; len(part) > 0; part = part[blockBytes:] {
			binary.NativeEndian.PutUint64(part, c.settled(i))
			i++
		}
	}
}

// copyBlocks is how many blocks copyTo copies at once: the first-level cache then still has their lanes 0.
const copyBlocks = 128

// settled returns lane 0 of block number i, and waits while it is held.
func (c *Concurrent) settled(i uint64) uint64 {
	for try := 1; ; try++ {
		is := atomic.LoadUint64(c.f.laneZero(i))
		if is != held {
			return is
		}
		if try%16 == 0 {
			if c.full.has(i, false) {
				return is
			}
			runtime.Gosched()
		}
	}
}

// copyUnseen copies so that the race detector does not see it; copy itself always tells.
//
//go:norace
func copyUnseen(dst, src []byte) {
	for i := range dst {
		dst[i] = src[i]
	}
}
