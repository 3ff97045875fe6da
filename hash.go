package blocked

import (
	"math/bits"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// The hash of a key is XXH3-64 with the filter's seed, on every architecture the same.

// flipOf returns what a seed makes of the secret for keys of 4 to 8 bytes, in the terms of the XXH3 specification the "bitflip", exclusive or that of seed 0. It is kept
// with the filter so that hashing a uint64 costs two multiplications and no branch.
func flipOf(seed uint64) uint64 {
	const secret8, secret16 = 0x1cad21f72c81017c, 0xdb979083e96dd4de // bytes 8 to 15 and 16 to 23 of the default secret
	seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
	return ((secret8 ^ secret16) - seed) ^ flipZero
}

// flipZero is the bitflip of seed 0. What is kept is the difference to it, so that a zero Filter hashes as one of seed 0 does.
const flipZero = 0x1cad21f72c81017c ^ 0xdb979083e96dd4de

// hashUint64 is XXH3-64 of x's eight little-endian bytes.
func hashUint64(x, flip uint64) uint64 {
	const mul = 0x9fb21c651e98df25
	h := bits.RotateLeft64(x, 32) ^ (flip ^ flipZero)
	h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
	h *= mul
	h ^= h>>35 + 8
	h *= mul
	return h ^ h>>28
}

// Hash returns the hash of key with this filter's seed: XXH3-64. Other filters with the same seed take it as well, so that a key that is looked up in many filters is
// hashed once.
func (f *Filter) Hash(key []byte) uint64 {
	if raceEnabled {
		raceRead(unsafe.Pointer(unsafe.SliceData(key)), len(key)) // long keys are hashed by assembly
	}
	return xxh3.HashSeed(key, f.seed) // with seed 0 the same as Hash, and short enough to be inlined
}

// HashString returns the hash of a string's bytes.
func (f *Filter) HashString(key string) uint64 {
	if raceEnabled {
		raceRead(unsafe.Pointer(unsafe.StringData(key)), len(key))
	}
	return xxh3.HashStringSeed(key, f.seed)
}

// HashUint64 returns the hash of a uint64's eight little-endian bytes: the key 1 is the []byte{1, 0, 0, 0, 0, 0, 0, 0} on every architecture.
func (f *Filter) HashUint64(key uint64) uint64 { return hashUint64(key, f.flip) }
