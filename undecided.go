package blocked

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Batches that are looked up in several filters, one after the other, what one has found no more in the next.

// undecidedSize is how many hashes go from filter to filter together: enough to fetch ahead for, few enough for the stack.
const undecidedSize = growingWindow

// askRest looks up, in n filters one after the other from the last to the first, those of at most kernelPart hashes for which dst is false, and sets it where one may contain them.
func askRest(dst []bool, hs []uint64, n int, filter func(i int) *header) {
	var u undecided
	for next := 0; next < len(hs); {
		u.n = 0
		for ; next < len(hs) && u.n < undecidedSize; next++ {
			u.hs[u.n], u.at[u.n] = hs[next], uint16(next)
			u.n += 1 - int(*(*uint8)(unsafe.Pointer(&dst[next])))
		}
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
}

var _ = binary.NativeEndian
var _ = bits.OnesCount64
