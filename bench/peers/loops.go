package peers

import (
	"runtime"
	"sync"
	"unsafe"
)

// The loops. Each is so small that it is inlined into its caller together with the function that it is given (TestLoopsAreInlined holds that), so that what is
// left is the loop with the library's own method.

// zero is 0, which the compiler does not know.
var zero int

// one returns 1 for true. The compiler makes it without a branch.
func one(b bool) int {
	n := 0
	if b {
		n = 1
	}
	return n
}

// count returns for how many keys contains is true.
func count[K any](keys []K, contains func(K) bool) int {
	n := 0
	for _, k := range keys {
		n += one(contains(k))
	}
	return n
}

// chain is count with a dependence: where the next key stands depends on the last answer, in a way that never changes the place.
func chain[K any](keys []K, contains func(K) bool) int {
	n, found, mask := 0, 0, zero
	for i := range keys {
		found = one(contains(keys[i+found&mask]))
		n += found
	}
	return n
}

// each calls f for every key.
func each[K any](keys []K, f func(K)) int {
	for _, k := range keys {
		f(k)
	}
	return 0
}

// countColumn is count for the 16-byte keys of a column.
func countColumn(col []byte, contains func([]byte) bool) int {
	n := 0
	for ; len(col) >= KeyBytes; col = col[KeyBytes:] {
		n += one(contains(col[:KeyBytes:KeyBytes]))
	}
	return n
}

// chainColumn is chain for the 16-byte keys of a column.
func chainColumn(col []byte, contains func([]byte) bool) int {
	n := 0
	for len(col) >= KeyBytes {
		found := one(contains(col[:KeyBytes:KeyBytes]))
		n += found
		col = col[KeyBytes+found&zero:]
	}
	return n
}

// eachColumn is each for the 16-byte keys of a column.
func eachColumn(col []byte, f func([]byte)) int {
	for ; len(col) >= KeyBytes; col = col[KeyBytes:] {
		f(col[:KeyBytes:KeyBytes])
	}
	return 0
}

// batches calls f for the keys in runs of size, the last may be shorter, and returns the sum.
func batches(k *Keys, size int, f func(*Keys) int) int {
	n, all, part := 0, k.Len(), *k
	for from := 0; from < all; from += size {
		part.part(k, from, min(all, from+size))
		n += f(&part)
	}
	return n
}

// CountTrue returns how many of found are true.
func CountTrue(found []bool) int {
	n := 0
	for _, b := range found {
		n += one(b)
	}
	return n
}

// uint128s returns the keys of a column as arrays.
func uint128s(col []byte) [][16]byte {
	return unsafe.Slice((*[16]byte)(unsafe.Pointer(unsafe.SliceData(col))), len(col)/KeyBytes)
}

// onAllCores divides the keys among as many goroutines as there are processors, each with answers of its own, and waits for all.
func onAllCores(k *Keys, f func(*Keys)) int {
	workers := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for w := range workers {
		part := k.Slice(k.Len()*w/workers, k.Len()*(w+1)/workers)
		part.Found = make([]bool, part.Len())
		all.Go(func() { f(part) })
	}
	all.Wait()
	return 0
}
