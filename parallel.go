package blocked

import (
	"math/bits"
	"runtime"
	"sync"
	"unsafe"
)

// Building one filter on all processors. Blocks are divided among the goroutines by range, so that no two touch the same block, and no atomic operation is needed. Since a block's number grows with the hash,
// a range of blocks is a range of hashes: each goroutine reads all hashes and picks those of its range, at a fraction of a nanosecond a hash with AVX-512.

const (
	// parallelLeast is how many hashes make it worth starting goroutines.
	parallelLeast = 1 << 14
	// pickStep is how many hashes are looked through at once, pickRoom how many are picked before they are added.
	pickStep = 512
	pickRoom = 2048
)

// AddHashesParallel adds what AddHashes adds, on up to goroutines goroutines, or GOMAXPROCS of them if that is below 1; fewer where it would not pay. It returns when all are done. As with AddHashes, nothing else may use
// the filter meanwhile. Every goroutine reads all of hs, so that the gain levels off as they become many; it was
// measured with two.
func (f *Filter) AddHashesParallel(hs []uint64, goroutines int) {
	if goroutines < 1 {
		goroutines = runtime.GOMAXPROCS(0)
	}
	goroutines = min(goroutines, len(hs)/parallelLeast)
	if uint64(max(goroutines, 1)) > f.blocks {
		goroutines = int(f.blocks)
	}
	if goroutines < 2 {
		f.AddHashes(hs)
		return
	}
	var wg sync.WaitGroup
	first := uint64(0)
	for i := range uint64(goroutines) {
		from, next := first, firstHash(f.blocks*(i+1)/uint64(goroutines), f.blocks) // 0, which is 2^64, after the last block
		wg.Go(func() { f.header.addRange(hs, from, next-from) })
		first = next
	}
	wg.Wait()
}

// firstHash returns the least hash whose block is number i of n; 0 for i = n, since that is 2^64.
func firstHash(i, n uint64) uint64 {
	if i >= n {
		return 0
	}
	h, rest := bits.Div64(i, 0, n)
	if rest > 0 {
		h++
	}
	return h
}

// addRange adds the hashes h for which h-first, modulo 2^64, is below size.
func (f *header) addRange(hs []uint64, first, size uint64) {
	var picked [pickRoom + pickStep + batchWidth]uint64
	n := 0
	for len(hs) > 0 {
		part := hs[:min(len(hs), pickStep)]
		hs = hs[len(part):]
		n += pickRange(f, picked[n:], part, first, size)
		if n >= pickRoom {
			whole := n &^ (batchWidth - 1)
			f.addAll(picked[:whole])
			n = copy(picked[:batchWidth], picked[whole:n])
		}
	}
	f.addAll(picked[:n])
}

// pickRange copies the hashes h of hs for which h-first is below size to dst, which has batchWidth places more than hs, and returns how many they are. What dst has behind them is lost.
func pickRange(f *header, dst, hs []uint64, first, size uint64) int {
	if raceEnabled {
		raceRead(unsafe.Pointer(unsafe.SliceData(hs)), 8*len(hs))
	}
	done, n := pickRangeVector(f, dst, hs, first, size)
	for _, h := range hs[done:] {
		dst[n] = h
		_, below := bits.Sub64(h-first, size, 0)
		n += int(below)
	}
	return n
}
