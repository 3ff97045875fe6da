package blocked

import (
	"encoding/binary"
	"unsafe"
)

// Batches that are looked up in several filters, one after the other, what one has found no more in the next.

// undecidedSize is how many hashes go from filter to filter together: enough to fetch ahead for, few enough for the stack.
const undecidedSize = growingWindow

// askRest looks up, in n filters one after the other from the last to the first, those of at most kernelPart hashes for which dst is false, and sets it where one may contain them.
func askRest(dst []bool, hs []uint64, n int, filter func(i int) *header) {
	var u undecided
	for len(hs) > 0 {
		m := min(len(hs), undecidedSize)
		if rest := m - countTrue(dst[:m]); rest >= m-m/4 {
			// Most are undecided, as where most keys are absent: all are asked, which costs less than to sort out those that need it.
			for i := n - 1; i >= 0; i-- {
				filter(i).containsAll(u.may[:m], hs[:m])
				orBools(dst[:m], u.may[:m])
			}
		} else if rest > 0 {
			u.n = 0
			for i, h := range hs[:m] {
				u.hs[u.n], u.at[u.n] = h, uint16(i)
				u.n += 1 - int(*(*uint8)(unsafe.Pointer(&dst[i])))
			}
			u.askAll(dst[:m], n, filter)
		}
		dst, hs = dst[m:], hs[m:]
	}
}

// askAll looks the hashes up in n filters one after the other from the last to the first, and sets dst at the place of one that is found.
func (u *undecided) askAll(dst []bool, n int, filter func(i int) *header) {
	for i := n - 1; i >= 0 && u.n > 0; i-- {
		u.ask(filter(i))
		found := countTrue(u.may[:u.n])
		if found == 0 {
			continue
		}
		for j, may := range u.may[:u.n] {
			*(*uint8)(unsafe.Pointer(&dst[u.at[j]])) |= *(*uint8)(unsafe.Pointer(&may))
		}
		if found >= u.n/8 { // fewer are asked again for less than it takes to close the gaps
			u.dropFound()
		}
	}
}

// orBools sets dst[i] where src[i] is set.
func orBools(dst, src []bool) {
	d := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(src)) // each is 0 or 1
	s := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(src))), len(src))
	ne := binary.NativeEndian
	for ; len(s) >= 8; d, s = d[8:], s[8:] {
		ne.PutUint64(d, ne.Uint64(d)|ne.Uint64(s))
	}
	for i, b := range s {
		d[i] |= b
	}
}
