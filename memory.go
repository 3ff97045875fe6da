package blocked

import (
	"math"
	"runtime"
	"unsafe"
)

// Memory is ordinary memory of the Go heap: nothing has to be closed, and no finalizer runs.

// platformBytes is the most bytes that the platform could give one slice, blocks and what surrounds them: of a 32-bit address space, and of WebAssembly's, about half.
var platformBytes = func() uint64 {
	if runtime.GOARCH == "wasm" {
		return 1 << 31
	}
	return math.MaxInt - 4*blockBytes
}()

const (
	// hugePage is the size of a huge page where the system has that size, and hugeBytes the size of a filter from which it is worth asking for some: two pages have at least one
	// inside that is aligned.
	hugePage  = 2 << 20
	hugeBytes = 2 * hugePage
)

// alignedBytes returns n zero bytes, n above 0, that start on a cache line.
func alignedBytes(n int) []byte {
	b := make([]byte, n+blockBytes-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % blockBytes)
	return b[skip : skip+n : skip+n]
}

// filterBytes is alignedBytes for a filter's blocks. Unless small is set, the system is asked to back many of them by huge pages: a lookup in a filter of gigabytes otherwise waits for
// the page's address as long as for the block.
func filterBytes(n int, small bool) []byte {
	b := alignedBytes(n)
	if !small && n >= hugeBytes {
		// Before it is touched: the system gives huge pages when a page is first written, and a large slice of the heap most often has not been.
		adviseHuge(hugeInside(b))
	}
	return b
}

// hugeInside returns the part of b that consists of whole, aligned huge pages.
func hugeInside(b []byte) []byte {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	first := int(-at % hugePage)
	if first+hugePage > len(b) {
		return nil
	}
	return b[first : first+(len(b)-first)/hugePage*hugePage]
}

// HugePageBytes returns how many bytes of the filter's memory are in huge pages, and whether the system tells: only Linux does. Pages that have not been written to since the
// filter was made may not be there yet, and count for nothing. It reads the process's memory map, which takes about a millisecond.
func (f *Filter) HugePageBytes() (n uint64, known bool) { return hugeBytesOf(f.Bits()) }
