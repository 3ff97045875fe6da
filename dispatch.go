package blocked

import (
	"math/bits"
	"os"
	"unsafe"
)

// The kernel contract.
//
// A kernel is one implementation of the operations on blocks. There are six:
//
//	contains(f, h)                        is every probe of h set?
//	add(f, h)                             set every probe of h
//	addIfAbsent(f, h)                     the same, and say whether one was not set before
//	containsBatch(f, dst, hs, n, ahead)   contains of hs[0:n] to dst[0:n]
//	addBatch(f, hs, n, ahead)             add of hs[0:n]
//	addIfAbsentBatch(f, dst, hs, n, ahead)
//
// and addShared(c, h), which is addIfAbsent in the midst of others and of lookups (concurrent.go); and prefetchBatch(f, hs, n), which fetches the blocks of hs[0:n] and has no other effect.
//
// The single ones take any k and the zero header. The batches need blocks, and n to be a multiple of batchWidth above 0. They work through hs in
// order, so that a key which stands in a batch twice is new only once. For the first ahead keys (a multiple of batchWidth too, at most
// n) they also fetch the block of the key that stands prefetchWindow further on. A kernel reads hs[0:n], hs[prefetchWindow:prefetchWindow+ahead]
// and nothing else, neither the byte before nor the byte after.
//
// Every kernel gives the bits of the reference in block_generic.go, whatever N, k and the alignment of the blocks.

// kernelID numbers the kernels. The numbers stand in the assembly too.
type kernelID uint8

const (
	kernelGeneric kernelID = 0
	kernelAVX2    kernelID = 1
	kernelAVX512  kernelID = 2
	kernelNEON    kernelID = 3
)

func (id kernelID) String() string {
	switch id {
	case kernelAVX2:
		return "avx2"
	case kernelAVX512:
		return "avx512"
	case kernelNEON:
		return "neon"
	}
	return "generic"
}

// kClass tells the kernels' three cases of k apart. The numbers stand in the assembly too.
type kClass uint8

const (
	classLow   kClass = 0 // k < 8: one round, k of the lanes
	classEight kClass = 1 // k = 8: one round, all lanes; the start lane is of no account
	classHigh  kClass = 2 // k > 8: a round of all lanes, then one of k-8 lanes
)

const (
	// batchWidth is how many keys a batch kernel takes a turn.
	batchWidth = 8

	// prefetchWindow is how many keys ahead of its use a block is fetched. A cache line takes some 100 ns to arrive from memory and a key 1 to 5 ns, so
	// that 16 keys ahead would be too late. The number stands in the assembly too.
	prefetchWindow = 128

	// prefetchBytes is the size of a filter from which batches prefetch. Below it the processor's own reordering hides the second-level cache.
	prefetchBytes = 1 << 20
)

// header is all that a kernel needs to know of a filter. The assembly knows its offsets.
type header struct {
	bits   unsafe.Pointer // the first block; nil in a zero Filter
	blocks uint64         // N
	lanes  *laneTable     // the lanes of the round that is not of all lanes
	kernel kernelID
	class  kClass
	k      uint8
	shared bool // of a Concurrent: that others write meanwhile is no race
}

// makeHeader describes blocks at p. The kernel is the one in use at this moment and stays with the header.
func makeHeader(p unsafe.Pointer, g Geometry) header {
	h := header{bits: p, blocks: g.Blocks, lanes: &laneTables[(g.K-1)&7], kernel: active, k: uint8(g.K)}
	switch {
	case g.K == 8:
		h.class = classEight
	case g.K > 8:
		h.class = classHigh
	}
	return h
}

// laneTable holds, for one number of probes and each of the eight start lanes, which lanes take part, in the forms that the kernels use.
// The assembly knows the offsets.
type laneTable struct {
	skip  [8]uint64 // byte l is 0 where lane l takes part, else 0x40: or-ed to a bit number it makes a shift of 64 or more, which gives no bit
	bits  [8]uint64 // bit l is set where lane l takes part
	split [8]uint64 // as bits, in the order 0, 1, 4, 5, 2, 3, 6, 7, as AVX2 interleaves the two halves of a block
	diag  [8]uint64 // bit 9l is set where lane l takes part: bit l of the l-th byte
}

// laneTables[m-1] is for m probes.
var laneTables = makeLaneTables()

func makeLaneTables() (ts [8]laneTable) {
	for m := range ts {
		t := &ts[m]
		for r := range 8 {
			lanes := bits.RotateLeft8(uint8(1<<(m+1)-1), r)
			t.bits[r] = uint64(lanes)
			for i, l := range [8]int{0, 1, 4, 5, 2, 3, 6, 7} {
				if lanes>>l&1 == 0 {
					t.skip[r] |= 0x40 << (8 * l)
				} else {
					t.split[r] |= 1 << i
					t.diag[r] |= 1 << (9 * l)
				}
			}
		}
	}
	return ts
}

// active is the kernel that new filters get.
var active = chooseKernel(availableKernels(), os.Getenv("BLOCKED_KERNEL"))

// chooseKernel returns the kernel called want, or the best one where there is no such kernel. The best one stands first.
func chooseKernel(available []kernelID, want string) kernelID {
	for _, id := range available {
		if id.String() == want {
			return id
		}
	}
	return available[0]
}

// Kernel names the implementation that this process uses for new filters: "avx512", "avx2", "neon" or "generic". It is chosen once, when the
// process starts: the fastest that the processor and the operating system support. The environment variable BLOCKED_KERNEL, set before the start, picks another of
// those that work here; any other value is ignored, and Kernel tells what was chosen instead. All kernels give the same bits. It is about the filter: the hash of keys above 240 bytes uses
// vector instructions of its own choice.
func Kernel() string { return active.String() }
