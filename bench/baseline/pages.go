package baseline

import "unsafe"

// hugeBytes is the size of a huge page, and what the memory is aligned to.
const hugeBytes = 2 << 20

// Lines returns n bytes, written to, that start on a huge page's boundary, and for which huge pages have been asked for or refused. It reports whether the system has
// such a choice. The memory is ordinary memory of the Go heap.
func Lines(n int, huge bool) (mem []byte, ok bool) {
	all := make([]byte, n+2*hugeBytes)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugeBytes)
	whole := (n + hugeBytes - 1) &^ (hugeBytes - 1)
	ok = advise(all[skip:skip+whole], huge)
	mem = all[skip : skip+n : skip+n]
	for i := range mem {
		mem[i] = byte(i)
	}
	return mem, ok
}
