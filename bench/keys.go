package main

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/blockedbloom/blocked/bench/peers"
)

// Keys are computed from their number, so that any of them can be had at any time and no list of a hundred million has to be kept. Key i is 16 bytes that look random. A
// filter for n keys holds those numbered 0 to n-1; all beyond are absent.

// A set says which keys are asked for.
type set string

const (
	absent  set = "absent"
	present set = "present"
	mixed   set = "mixed"  // each absent or present at random
	inOrder set = "build"  // the keys of the filter, each once
	fresh   set = "adding" // keys that are in no filter yet
)

// maxRun is the most keys that are prepared at a time, and smallRun how many are where the filter is small. Keys are read one after the other, which the processor
// fetches by itself; they are prepared anew for every sample of a large filter, so that blocks do not stay cached because they were asked for before.
const (
	maxRun   = 1 << 20
	smallRun = 1 << 16
)

// A keySource prepares runs of keys, in memory that it keeps.
type keySource struct {
	n      uint64
	hash   func([]byte) uint64
	random uint64
	next   uint64 // of the keys in order, or of the absent ones

	hashes  []uint64
	column  []byte
	slices  [][]byte
	strings []string
	numbers []uint64
	found   []bool
	sel     []uint32
}

// newKeySource returns a source for filters of n keys. Sources with different salts ask for different absent keys.
func newKeySource(n uint64, hash func([]byte) uint64, salt uint64) *keySource {
	return &keySource{n: n, hash: hash, random: mix(salt + 77), next: n + salt<<40, found: make([]bool, 1<<16), sel: make([]uint32, 0, 1<<16)}
}

// start makes the keys in order begin anew.
func (s *keySource) start() { s.next = 0 }

// skip makes the next keys absent ones that were not asked for before.
func (s *keySource) skip() { s.random = mix(s.random); s.next = s.n + s.random>>8 }

// bytes returns how much memory the prepared keys take.
func (s *keySource) bytes() uint64 {
	return uint64(8*cap(s.hashes) + cap(s.column) + 24*cap(s.slices) + 16*cap(s.strings) + 8*cap(s.numbers))
}

// fill prepares count keys in the form that in takes.
func (s *keySource) fill(which set, in peers.Input, count int) *peers.Keys {
	k := &peers.Keys{Found: s.found, Sel: s.sel}
	if in == peers.Uint64 {
		s.numbers = grow(s.numbers, count)
		for i := range s.numbers {
			s.numbers[i] = mix(s.number(which) ^ 0x5555555555555555)
		}
		k.Numbers = s.numbers
		return k
	}
	if in == peers.Hash {
		s.hashes = grow(s.hashes, count)
		var key [peers.KeyBytes]byte
		for i := range s.hashes {
			putKey(&key, s.number(which))
			s.hashes[i] = s.hash(key[:])
		}
		k.Hashes = s.hashes
		return k
	}
	s.column = grow(s.column, count*peers.KeyBytes)
	for i := range count {
		putKey((*[peers.KeyBytes]byte)(s.column[i*peers.KeyBytes:]), s.number(which))
	}
	k.Column = s.column
	if in == peers.Str16 {
		s.strings = grow(s.strings, count)
		for i := range s.strings {
			s.strings[i] = unsafe.String(&s.column[i*peers.KeyBytes], peers.KeyBytes)
		}
		k.Strings = s.strings
		return k
	}
	s.slices = grow(s.slices, count)
	for i := range s.slices {
		s.slices[i] = s.column[i*peers.KeyBytes : (i+1)*peers.KeyBytes : (i+1)*peers.KeyBytes]
	}
	k.Slices = s.slices
	return k
}

// number returns the number of the next key.
func (s *keySource) number(which set) uint64 {
	if which == present || which == mixed {
		s.random += 0x9e3779b97f4a7c15
		r := mix(s.random)
		if which == present || r&1 == 0 {
			at, _ := bits.Mul64(r, s.n)
			return at
		}
	}
	s.next++
	return s.next - 1
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// putKey writes key number i.
func putKey(key *[peers.KeyBytes]byte, i uint64) {
	a := mix(i * 0xd1342543de82ef95)
	binary.LittleEndian.PutUint64(key[:8], a)
	binary.LittleEndian.PutUint64(key[8:], (a^i)*0xda942042e4dd58b5)
}

// mix is the finalizer of SplitMix64: a permutation whose values look random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
