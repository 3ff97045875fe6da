package blocked

import (
	"slices"
	"unsafe"
)

// Batches. A lookup in a filter that is larger than the caches is a wait for memory; a batch has many such waits under way at once, and in the cache it saves
// the call. Kernels take multiples of batchWidth keys; what is left over goes through a buffer, so that nothing is read outside the caller's slices.

// AddHashes adds the keys that have the hashes hs, with the filter's seed. hs is only read.
func (f *Filter) AddHashes(hs []uint64) { f.header.addAll(hs) }

// AddIfAbsentHashes adds the keys that have the hashes hs, in order, and sets added[i] where adding hs[i] changed the filter: where it stands in hs twice, at most
// its first place. It panics if len(added) < len(hs).
func (f *Filter) AddIfAbsentHashes(added []bool, hs []uint64) {
	f.header.addAllIfAbsent(added[:len(hs)], hs)
}

// MayContainHashes sets dst[i] to whether the key with hash hs[i] may have been added. It panics if len(dst) < len(hs), and leaves what dst has beyond that alone.
func (f *Filter) MayContainHashes(dst []bool, hs []uint64) {
	f.header.containsAll(dst[:len(hs)], hs)
}

// SelectHashes appends to sel the positions i, in rising order, of those hs[i] that may have been added, and returns the extended slice: a selection vector. It
// allocates only where the capacity of sel beyond its length is less than len(hs), which must be below 2^32, and may overwrite what there is in that capacity.
func (f *Filter) SelectHashes(sel []uint32, hs []uint64) []uint32 {
	var may [selectPart]bool
	for base := 0; base < len(hs); base += selectPart {
		part := hs[base:]
		n := min(len(part), selectPart)
		if base == 0 {
			f.header.prefetchFirst(part)
		}
		f.header.containsPart(may[:n], part, n)
		sel = appendSelected(sel, may[:n], base, len(part))
	}
	return sel
}

// selectPart is how many keys a selection decides before it writes their positions.
const selectPart = 256

// appendSelected appends base+i for every may[i]. sel gets room for rest more, if it has none.
func appendSelected(sel []uint32, may []bool, base, rest int) []uint32 {
	sel = slices.Grow(sel, rest)
	// Every position is written, and the next one over it where this one was not selected: no branch that could be predicted wrong.
	out := sel[len(sel) : len(sel)+len(may)]
	n := 0
	for i, m := range may {
		out[n] = uint32(base + i)
		n += int(*(*uint8)(unsafe.Pointer(&m)))
	}
	return sel[:len(sel)+n]
}

// large reports whether the filter is so large that batches should prefetch.
func (f *header) large() bool { return f.blocks >= prefetchBytes/blockBytes }

// prefetchFirst fetches the blocks of the first keys of a batch, which no kernel has been ahead of.
func (f *header) prefetchFirst(hs []uint64) {
	if n := min(len(hs), prefetchWindow) &^ (batchWidth - 1); n > 0 && f.large() {
		prefetchBatch(f, &hs[0], n)
	}
}

// aheadOf returns for how many of the first n keys of hs a kernel can fetch the block of the key prefetchWindow further on.
func (f *header) aheadOf(hs []uint64, n int) int {
	if !f.large() {
		return 0
	}
	return max(0, min(n, (len(hs)-prefetchWindow)&^(batchWidth-1)))
}

// kernelPart is how many keys a kernel is given at once. The runtime cannot interrupt assembly: a garbage collection, and with it every other goroutine, waits for the end of the call, some ten to a few hundred
// microseconds.
const kernelPart = 1 << 14

func (f *header) containsAll(dst []bool, hs []uint64) {
	f.prefetchFirst(hs)
	for len(hs) > kernelPart {
		f.containsPart(dst[:kernelPart], hs, kernelPart)
		dst, hs = dst[kernelPart:], hs[kernelPart:]
	}
	f.containsPart(dst, hs, len(hs))
}

// containsPart looks up the first n of hs and fetches blocks for those that follow. n is len(hs) or a multiple of batchWidth.
func (f *header) containsPart(dst []bool, hs []uint64, n int) {
	if f.blocks == 0 {
		clear(dst)
		return
	}
	if raceEnabled {
		f.raceBatch(dst, hs[:n], raceRead)
	}
	whole := n &^ (batchWidth - 1)
	if whole > 0 {
		containsBatch(f, &dst[0], &hs[0], whole, f.aheadOf(hs, whole))
	}
	if whole < n {
		var rest [batchWidth]uint64
		var may [batchWidth]bool
		padRest(&rest, hs[whole:n])
		containsBatch(f, &may[0], &rest[0], batchWidth, 0)
		copy(dst[whole:n], may[:])
	}
}

func (f *header) addAll(hs []uint64) {
	f.prefetchFirst(hs)
	for len(hs) > kernelPart {
		f.addPart(hs, kernelPart)
		hs = hs[kernelPart:]
	}
	f.addPart(hs, len(hs))
}

// addPart adds the first n of hs and fetches blocks for those that follow. n is len(hs) or a multiple of batchWidth.
func (f *header) addPart(hs []uint64, n int) {
	if n == 0 {
		return
	}
	if f.blocks == 0 {
		addGeneric(f, hs[0]) // panics
	}
	if raceEnabled {
		f.raceBatch(nil, hs[:n], raceWrite)
	}
	whole := n &^ (batchWidth - 1)
	if whole > 0 {
		addBatch(f, &hs[0], whole, f.aheadOf(hs, whole))
	}
	if whole < n {
		var rest [batchWidth]uint64
		padRest(&rest, hs[whole:n])
		addBatch(f, &rest[0], batchWidth, 0)
	}
}

func (f *header) addAllIfAbsent(added []bool, hs []uint64) {
	f.prefetchFirst(hs)
	for len(hs) > kernelPart {
		f.addIfAbsentPart(added[:kernelPart], hs, kernelPart)
		added, hs = added[kernelPart:], hs[kernelPart:]
	}
	f.addIfAbsentPart(added, hs, len(hs))
}

// addIfAbsentPart does so for the first n of hs and fetches blocks for those that follow. n is len(hs) or a multiple of batchWidth.
func (f *header) addIfAbsentPart(added []bool, hs []uint64, n int) {
	if n == 0 {
		return
	}
	if f.blocks == 0 {
		addGeneric(f, hs[0]) // panics
	}
	if raceEnabled {
		f.raceBatch(added, hs[:n], raceWrite)
	}
	whole := n &^ (batchWidth - 1)
	if whole > 0 {
		addIfAbsentBatch(f, &added[0], &hs[0], whole, f.aheadOf(hs, whole))
	}
	if whole < n {
		var rest [batchWidth]uint64
		var was [batchWidth]bool
		padRest(&rest, hs[whole:n])
		addIfAbsentBatch(f, &was[0], &rest[0], batchWidth, 0)
		copy(added[whole:n], was[:])
	}
}

// padRest fills rest with hs, which is neither empty nor longer, and then with the last of hs again: adding it once more changes nothing.
func padRest(rest *[batchWidth]uint64, hs []uint64) {
	for i := copy(rest[:], hs); i < batchWidth; i++ {
		rest[i] = hs[len(hs)-1]
	}
}

// raceBatch tells the race detector what a batch kernel reads and writes.
func (f *header) raceBatch(dst []bool, hs []uint64, access func(unsafe.Pointer, int)) {
	raceWrite(unsafe.Pointer(unsafe.SliceData(dst)), len(dst))
	raceRead(unsafe.Pointer(unsafe.SliceData(hs)), 8*len(hs))
	for _, h := range hs {
		f.raceBlock(h, access)
	}
}
