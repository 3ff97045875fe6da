package blocked

import "unsafe"

// alignedBytes returns n zero bytes, n above 0, that start on a cache line. They are ordinary memory of the Go heap.
func alignedBytes(n int) []byte {
	b := make([]byte, n+blockBytes-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % blockBytes)
	return b[skip : skip+n : skip+n]
}
