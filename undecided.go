package blocked

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Batches that are looked up in several filters, one after the other: what one has found is not asked of the next.

// undecidedSize is how many hashes go from filter to filter together: enough to fetch ahead for, few enough for the stack.
const undecidedSize = 512

// undecided are hashes that no filter has so far, with their places in the batch.
type undecided struct {
	n     int
	hs    [undecidedSize]uint64
	at    [undecidedSize]uint16
	may   [undecidedSize]bool // answers of the last filter asked
	found [undecidedSize]bool // answers of all filters since the last drop
	count int                 // of found, where no two filters found the same
}

// ask looks the hashes up in f. Where f has so many of them that the next ones have less to do without, they are to be dropped.
func (u *undecided) ask(f *header) (drop bool) {
	f.containsAll(u.may[:u.n], u.hs[:u.n])
	// Eight answers at a time; most often all of them are no.
	clear(u.may[u.n:min(undecidedSize, (u.n+7)&^7)])
	for i := 0; i < u.n; i += 8 {
		w := *(*uint64)(unsafe.Pointer(&u.may[i]))
		if w != 0 {
			*(*uint64)(unsafe.Pointer(&u.found[i])) |= w
			u.count += bits.OnesCount64(w)
		}
	}
	return u.count >= max(1, u.n/8)
}

// dropFound drops the hashes that were found.
func (u *undecided) dropFound() {
	if u.count == 0 {
		return
	}
	m := 0
	// Every hash is written, and the next one over it where this one was found: no branch that could be predicted wrong.
	for i, found := range u.found[:u.n] {
		u.hs[m], u.at[m] = u.hs[i], u.at[i]
		m += 1 - int(*(*uint8)(unsafe.Pointer(&found)))
	}
	clear(u.found[:u.n])
	u.n, u.count = m, 0
}

// tell sets dst where hashes were found.
func (u *undecided) tell(dst []bool) {
	if u.count == 0 {
		return
	}
	for i, found := range u.found[:u.n] {
		*(*uint8)(unsafe.Pointer(&dst[u.at[i]])) |= *(*uint8)(unsafe.Pointer(&found))
	}
}

// dropFirst drops the first n hashes.
func (u *undecided) dropFirst(n int) {
	copy(u.hs[:], u.hs[n:u.n])
	copy(u.at[:], u.at[n:u.n])
	u.n -= n
}

// countTrue returns how many of bs are true.
func countTrue(bs []bool) (n int) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(bs))), len(bs)) // each is 0 or 1
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		n += bits.OnesCount64(binary.NativeEndian.Uint64(bytes))
	}
	for _, b := range bytes {
		n += int(b)
	}
	return n
}

// fewFilters is of how many all hashes are asked where most are undecided. With more it pays to drop those that one of the first has found.
const fewFilters = 3

// askRest looks up, in n filters one after the other from the last to the first, those of hs for which dst is false, and sets it where one may contain them.
func askRest(dst []bool, hs []uint64, n int, filter func(i int) *header) {
	if n == 0 {
		return
	}
	var u undecided
	for len(hs) > 0 {
		m := min(len(hs), undecidedSize)
		if rest := m - countTrue(dst[:m]); n <= fewFilters && rest >= m-m/4 {
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
			for i := n - 1; i >= 0 && u.n > 0; i-- {
				if u.ask(filter(i)) {
					u.tell(dst)
					u.dropFound()
				}
			}
			u.tell(dst)
			u.dropFound()
		}
		dst, hs = dst[m:], hs[m:]
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
