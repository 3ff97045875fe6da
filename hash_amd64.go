//go:build !purego

package blocked

import "unsafe"

// hashUint64sVector sets the first of dst to the hashes of the eight-byte keys that stand at keys and returns how many it did: none where the kernel has no way to do several at once.
// Only AVX-512 has a multiplication of 64-bit lanes.
func hashUint64sVector(f *header, dst []uint64, keys unsafe.Pointer, flip uint64) int {
	n := len(dst) &^ (batchWidth - 1)
	if f.kernel != kernelAVX512 || n == 0 {
		return 0
	}
	hashUint64sAVX512(&dst[0], keys, n, flip^flipZero)
	return n
}

//go:noescape
func hashUint64sAVX512(dst *uint64, keys unsafe.Pointer, n int, flip uint64)

// pickRangeVector does the first of hs for pickRange, and returns how many it looked through and how many it picked.
func pickRangeVector(f *header, dst, hs []uint64, first, size uint64) (done, n int) {
	done = len(hs) &^ (batchWidth - 1)
	if f.kernel != kernelAVX512 || done == 0 {
		return 0, 0
	}
	_ = dst[done+batchWidth-1]
	return done, pickRangeAVX512(&dst[0], &hs[0], done, first, size)
}

//go:noescape
func pickRangeAVX512(dst, hs *uint64, n int, first, size uint64) int
