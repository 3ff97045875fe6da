package blocked

import "unsafe"

// Batches of keys: hashed a few at a time into a buffer on the stack, then handed to the batch kernels.

// AddKeys adds keys.
func (f *Filter) AddKeys(keys [][]byte) {
	var w hashWindow
	w.f = &f.header
	w.init()
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
	w.init()
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
	w.init()
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
	w.init()
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
	w.init()
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
	w.init()
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

const (
	// windowStep is how many keys are hashed before their blocks are fetched: few enough to keep the waits spread out.
	windowStep = 32
	windowSize = prefetchWindow + windowStep
)

// A hashWindow holds the hashes between the one that was computed last, whose block has been asked for, and the one that is used next. In a filter that needs no
// prefetch it holds one step at a time, a long one. Methods that take a number of hashes take that many from the last room.
type hashWindow struct {
	f    *header
	step int // hashes to a step, a divisor of windowSize
	lag  int // hashes to keep back
	head int // total put in
	tail int // total used; head - tail <= lag + step
	hs   [windowSize]uint64
}

// init is called when f is set. It does not set it, for what is stored through a pointer would count as escaping, and with it a View on the caller's stack.
func (w *hashWindow) init() {
	w.step = windowSize
	if w.f.large() {
		w.step, w.lag = windowStep, prefetchWindow
	}
}

// room returns the place for the next hashes, of at most n keys.
func (w *hashWindow) room(n int) []uint64 {
	at := w.head % windowSize
	return w.hs[at : at+min(n, w.step)]
}

// put fetches the blocks of the n hashes that have been written, and reports whether a step is due.
func (w *hashWindow) put(n int) bool {
	if w.lag > 0 && n == windowStep { // what is shorter is the end, and used at once
		prefetchBatch(w.f, &w.hs[w.head%windowSize], n)
	}
	w.head += n
	return w.head-w.tail > w.lag
}

// next returns the oldest hashes: a step, or what is left.
func (w *hashWindow) next() []uint64 {
	at := w.tail % windowSize
	n := min(w.step, w.head-w.tail)
	w.tail += n
	return w.hs[at : at+n]
}

func (w *hashWindow) add(n int) {
	if w.put(n) {
		w.f.addPart(w.next())
	}
}

func (w *hashWindow) addRest() {
	for w.tail < w.head {
		w.f.addPart(w.next())
	}
}

// contains looks up one step where it is due and returns how many of dst it has written.
func (w *hashWindow) contains(dst []bool, n int) int {
	if !w.put(n) {
		return 0
	}
	hs := w.next()
	w.f.containsPart(dst[:len(hs)], hs, len(hs))
	return len(hs)
}

func (w *hashWindow) containsRest(dst []bool) {
	for w.tail < w.head {
		hs := w.next()
		w.f.containsPart(dst[:len(hs)], hs, len(hs))
		dst = dst[len(hs):]
	}
}
