package blocked

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// The reference kernel: the layout in plain Go. It has no build tag and is compiled on every target, so that any other kernel can be compared with it
// in one process.
//
// The race detector does not look into it, as it does not look into assembly: under every kernel it is told by the methods, which know whether others may write meanwhile.

const (
	blockBytes = 64 // a block is one cache line, whatever the platform's cache-line size: it is part of the format
	blockBits  = 8 * blockBytes

	// mul1 spreads the hash over the first round's bit numbers and the start lane: 2^64 divided by the golden ratio, made odd.
	mul1 = 0x9E3779B97F4A7C15
	// mul2 does so for the second round. The xor-shift before it matters: two plain odd multipliers share their low bits.
	mul2 = 0xC2B2AE3D27D4EB4F
)

// probes returns the two rounds' bit numbers, lane l's in the low six bits of byte l, and the first lane.
func probes(h uint64) (g1, g2 uint64, r int) {
	hi, g1 := bits.Mul64(h, mul1)
	g2 = (g1 ^ g1>>32) * mul2
	return g1, g2, int(hi & 7)
}

// blockIndex returns the number of h's block among n.
func blockIndex(h, n uint64) uint64 {
	i, _ := bits.Mul64(h, n)
	return i
}

// block returns h's block. The header must have blocks.
func (f *header) block(h uint64) *[blockBytes]byte {
	return (*[blockBytes]byte)(unsafe.Add(f.bits, uintptr(blockIndex(h, f.blocks))*blockBytes))
}

// lane returns lane l of b. Lanes are little-endian on every architecture.
func lane(b *[blockBytes]byte, l int) uint64 {
	return binary.LittleEndian.Uint64(b[8*l&56:])
}

// setLane ors mask into lane l of b.
func setLane(b *[blockBytes]byte, l int, mask uint64) {
	p := b[8*l&56:]
	binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)|mask)
}

// bitOf returns lane l's bit of the round g as a mask.
func bitOf(g uint64, l int) uint64 {
	return 1 << (g >> (8 * l & 56) & 63)
}

// containsGeneric reports whether every probe of h is set. A header without blocks contains nothing.
//
//go:norace
func containsGeneric(f *header, h uint64) bool {
	if f.blocks == 0 {
		return false
	}
	b := f.block(h)
	if f.class == classEight {
		// No early way out: about half of the bits are set, so that where a lookup would leave cannot be predicted.
		g := h * mul1
		v := lane(b, 0) >> (g & 63) & (lane(b, 1) >> (g >> 8 & 63)) & (lane(b, 2) >> (g >> 16 & 63)) & (lane(b, 3) >> (g >> 24 & 63)) &
			(lane(b, 4) >> (g >> 32 & 63)) & (lane(b, 5) >> (g >> 40 & 63)) & (lane(b, 6) >> (g >> 48 & 63)) & (lane(b, 7) >> (g >> 56 & 63))
		return v&1 != 0
	}
	g1, g2, r := probes(h)
	v := ^uint64(0)
	if f.class == classLow {
		for t := range int(f.k) {
			l := (r + t) & 7
			v &= lane(b, l) >> (g1 >> (8 * l) & 63)
		}
		return v&1 != 0
	}
	for l := range 8 {
		v &= lane(b, l) >> (g1 >> (8 * l) & 63)
	}
	for t := range int(f.k) - 8 {
		l := (r + t) & 7
		v &= lane(b, l) >> (g2 >> (8 * l) & 63)
	}
	return v&1 != 0
}

// addGeneric sets every probe of h.
//
//go:norace
func addGeneric(f *header, h uint64) {
	if f.blocks == 0 {
		panic("blocked: add to a zero Filter; make one with blocked.New or blocked.NewGeometry")
	}
	b := f.block(h)
	g1, g2, r := probes(h)
	if f.class == classLow {
		for t := range int(f.k) {
			l := (r + t) & 7
			setLane(b, l, bitOf(g1, l))
		}
		return
	}
	for l := range 8 {
		setLane(b, l, bitOf(g1, l))
	}
	for t := range int(f.k) - 8 {
		l := (r + t) & 7
		setLane(b, l, bitOf(g2, l))
	}
}

// masks returns the probes of h as a mask for each lane.
func (f *header) masks(h uint64) (m [8]uint64) {
	g1, g2, r := probes(h)
	if f.class == classLow {
		for t := range int(f.k) {
			l := (r + t) & 7
			m[l] = bitOf(g1, l)
		}
		return m
	}
	m = [8]uint64{1 << (g1 & 63), 1 << (g1 >> 8 & 63), 1 << (g1 >> 16 & 63), 1 << (g1 >> 24 & 63), 1 << (g1 >> 32 & 63), 1 << (g1 >> 40 & 63), 1 << (g1 >> 48 & 63), 1 << (g1 >> 56 & 63)}
	for t := range int(f.k) - 8 {
		l := (r + t) & 7
		m[l] |= bitOf(g2, l)
	}
	return m
}

// addIfAbsentGeneric sets every probe of h and reports whether one of them was not set before.
//
//go:norace
func addIfAbsentGeneric(f *header, h uint64) bool {
	if containsGeneric(f, h) {
		return false
	}
	addGeneric(f, h)
	return true
}

//go:norace
func containsBatchGeneric(f *header, dst *bool, hs *uint64, n, _ int) {
	d, s := unsafe.Slice(dst, n), unsafe.Slice(hs, n)
	for i, h := range s {
		d[i] = containsGeneric(f, h)
	}
}

//go:norace
func addBatchGeneric(f *header, hs *uint64, n, _ int) {
	for _, h := range unsafe.Slice(hs, n) {
		addGeneric(f, h)
	}
}

//go:norace
func addIfAbsentBatchGeneric(f *header, dst *bool, hs *uint64, n, _ int) {
	d, s := unsafe.Slice(dst, n), unsafe.Slice(hs, n)
	for i, h := range s {
		d[i] = addIfAbsentGeneric(f, h)
	}
}
