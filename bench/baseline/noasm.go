//go:build (!amd64 && !arm64) || purego

package baseline

import (
	"math/bits"
	"unsafe"
)

// Assembly reports whether the baselines are in assembly.
const Assembly = false

//go:noinline
func empty() {}

func readLines(mem *byte, lines uint64, hashes *uint64, n int) uint64 {
	sum := uint64(0)
	for _, h := range unsafe.Slice(hashes, n) {
		line, _ := bits.Mul64(h, lines)
		sum += *(*uint64)(unsafe.Add(unsafe.Pointer(mem), line*LineBytes))
	}
	return sum
}

// There is no portable prefetch.
func readLinesPrefetched(mem *byte, lines uint64, hashes *uint64, n int) uint64 {
	return readLines(mem, lines, hashes, n)
}
