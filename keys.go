package blocked

import "unsafe"

// Batches of keys: hashed a few at a time into a buffer on the stack, then handed to the batch kernels.

// AddKeys adds keys.
func (f *Filter) AddKeys(keys [][]byte) {
	var w hashWindow
	w.f = &f.header // not through a method: what is stored through a pointer would count as escaping, and with it a View on the caller's stack
	for len(keys) > 0 {
		hs := w.room(len(keys))
		f.hashKeys(hs, keys)
		keys = keys[len(hs):]
		w.add(len(hs))
	}
	w.addRest()
}

// AddStrings adds the bytes of strings.
func (f *Filter) AddStrings(keys []string) {
	var w hashWindow
	w.f = &f.header
	for len(keys) > 0 {
		hs := w.room(len(keys))
		f.hashStrings(hs, keys)
		keys = keys[len(hs):]
		w.add(len(hs))
	}
	w.addRest()
}

// AddUint64s adds the eight little-endian bytes of each key.
func (f *Filter) AddUint64s(keys []uint64) {
	var w hashWindow
	w.f = &f.header
	for len(keys) > 0 {
		hs := w.room(len(keys))
		f.hashUint64s(hs, keys)
		keys = keys[len(hs):]
		w.add(len(hs))
	}
	w.addRest()
}

// MayContainKeys sets dst[i] to whether keys[i] may have been added. It panics if len(dst) < len(keys).
func (f *Filter) MayContainKeys(dst []bool, keys [][]byte) {
	dst = dst[:len(keys)]
	var w hashWindow
	w.f = &f.header
	for len(keys) > 0 {
		hs := w.room(len(keys))
		f.hashKeys(hs, keys)
		keys = keys[len(hs):]
		dst = dst[w.contains(dst, len(hs)):]
	}
	w.containsRest(dst)
}

// MayContainStrings sets dst[i] to whether the bytes of keys[i] may have been added. It panics if len(dst) < len(keys).
func (f *Filter) MayContainStrings(dst []bool, keys []string) {
	dst = dst[:len(keys)]
	var w hashWindow
	w.f = &f.header
	for len(keys) > 0 {
		hs := w.room(len(keys))
		f.hashStrings(hs, keys)
		keys = keys[len(hs):]
		dst = dst[w.contains(dst, len(hs)):]
	}
	w.containsRest(dst)
}

// MayContainUint64s sets dst[i] to whether keys[i], as eight little-endian bytes, may have been added. It panics if len(dst) < len(keys).
func (f *Filter) MayContainUint64s(dst []bool, keys []uint64) {
	dst = dst[:len(keys)]
	var w hashWindow
	w.f = &f.header
	for len(keys) > 0 {
		hs := w.room(len(keys))
		f.hashUint64s(hs, keys)
		keys = keys[len(hs):]
		dst = dst[w.contains(dst, len(hs)):]
	}
	w.containsRest(dst)
}

// SelectKeys appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (f *Filter) SelectKeys(sel []uint32, keys [][]byte) []uint32 {
	var may [selectPart]bool
	for base := 0; base < len(keys); base += selectPart {
		part := keys[base:min(len(keys), base+selectPart)]
		f.MayContainKeys(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// SelectStrings appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (f *Filter) SelectStrings(sel []uint32, keys []string) []uint32 {
	var may [selectPart]bool
	for base := 0; base < len(keys); base += selectPart {
		part := keys[base:min(len(keys), base+selectPart)]
		f.MayContainStrings(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// SelectUint64s appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (f *Filter) SelectUint64s(sel []uint32, keys []uint64) []uint32 {
	var may [selectPart]bool
	for base := 0; base < len(keys); base += selectPart {
		part := keys[base:min(len(keys), base+selectPart)]
		f.MayContainUint64s(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// hashKeys sets hs[i] to the hash of keys[i].
func (f *Filter) hashKeys(hs []uint64, keys [][]byte) {
	keys = keys[:len(hs)]
	for i, key := range keys {
		hs[i] = f.Hash(key)
	}
}

func (f *Filter) hashStrings(hs []uint64, keys []string) {
	keys = keys[:len(hs)]
	for i, key := range keys {
		hs[i] = f.HashString(key)
	}
}

func (f *Filter) hashUint64s(hs, keys []uint64) {
	keys = keys[:len(hs)]
	if raceEnabled {
		raceRead(unsafe.Pointer(unsafe.SliceData(keys)), 8*len(keys))
	}
	flip := f.flip
	for i := hashUint64sVector(&f.header, hs, unsafe.Pointer(unsafe.SliceData(keys)), flip); i < len(hs); i++ {
		hs[i] = hashUint64(keys[i], flip)
	}
}

// windowSize is how many hashes a hashWindow holds: in a large filter half of them are looked up while the kernel fetches ahead for the other half.
const windowSize = 2 * prefetchWindow

// A hashWindow holds hashes between their computation and their use. In a large filter the last prefetchWindow of them are kept back until more have come, so that fetching
// ahead goes on without a break. Methods that take a number of hashes take that many from the last room.
type hashWindow struct {
	f       *header
	shared  *Concurrent // or nil: who adds
	n       int         // hashes in hs
	fetched bool        // the blocks of hs[:prefetchWindow] have been asked for
	hs      [windowSize]uint64
}

// room returns the place for the next hashes, of at most n keys; there is always some.
func (w *hashWindow) room(n int) []uint64 { return w.hs[w.n:min(w.n+n, windowSize)] }

// due counts n more hashes and returns those that are to be used now, with those behind them that may be fetched, and how many they are.
func (w *hashWindow) due(n int) ([]uint64, int) {
	w.n += n
	if w.n < windowSize {
		return nil, 0
	}
	if !w.f.large() {
		return w.hs[:], windowSize
	}
	if !w.fetched {
		w.fetched = true
		prefetchBatch(w.f, &w.hs[0], prefetchWindow)
	}
	return w.hs[:], windowSize - prefetchWindow
}

// used drops the first n hashes.
func (w *hashWindow) used(n int) { w.n = copy(w.hs[:], w.hs[n:w.n]) }

func (w *hashWindow) add(n int) {
	if hs, n := w.due(n); n > 0 {
		w.addPart(hs, n)
		w.used(n)
	}
}

func (w *hashWindow) addPart(hs []uint64, n int) {
	if w.shared != nil {
		w.shared.addPart(hs, n)
		return
	}
	w.f.addPart(hs, n)
}

func (w *hashWindow) addRest() {
	if !w.fetched {
		w.f.prefetchFirst(w.hs[:w.n])
	}
	w.addPart(w.hs[:w.n], w.n)
}

// contains looks up what is due and returns how many of dst it has written.
func (w *hashWindow) contains(dst []bool, n int) int {
	hs, n := w.due(n)
	if n > 0 {
		w.f.containsPart(dst[:n], hs, n)
		w.used(n)
	}
	return n
}

func (w *hashWindow) containsRest(dst []bool) {
	if !w.fetched {
		w.f.prefetchFirst(w.hs[:w.n])
	}
	w.f.containsPart(dst[:w.n], w.hs[:w.n], w.n)
}
