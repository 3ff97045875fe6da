// Package baseline holds what the filters are measured against: the call of an assembly function that does nothing, and reading one random cache line a key.
package baseline

// Ahead is how many keys ahead the prefetching loop fetches.
const Ahead = 128

// LineBytes is the size of a cache line.
const LineBytes = 64

// Calls calls an empty assembly function n times. The function is the least that a lookup in assembly can be.
func Calls(n int) {
	for range n {
		empty()
	}
}

// Chain multiplies n times, each product the next one's factor, and returns the last: a measure of the processor's clock.
func Chain(x uint64, n int) uint64 {
	for range n {
		x *= 0x9e3779b97f4a7c15
	}
	return x
}

// ReadLines reads a word of the line floor(h*lines/2^64) of mem for every h of hashes, in a plain loop, and returns the words' sum.
func ReadLines(mem []byte, hashes []uint64) uint64 {
	if len(hashes) == 0 || len(mem) < LineBytes {
		return 0
	}
	return readLines(&mem[0], uint64(len(mem)/LineBytes), &hashes[0], len(hashes))
}

// ReadLinesPrefetched is ReadLines with each line fetched Ahead keys before it is read, where the architecture has an instruction for that.
func ReadLinesPrefetched(mem []byte, hashes []uint64) uint64 {
	if len(hashes) == 0 || len(mem) < LineBytes {
		return 0
	}
	return readLinesPrefetched(&mem[0], uint64(len(mem)/LineBytes), &hashes[0], len(hashes))
}
