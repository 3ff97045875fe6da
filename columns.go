package blocked

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"
)

// Columns: keys that stand one after the other in one buffer, as storage and query engines hold them.

// AddColumn adds the keys of a column of fixed width: buf[0:width], buf[width:2*width] and so on. width is at least 1, in bytes, and len(buf) a multiple of it; otherwise the error
// wraps ErrParameter and nothing is added. A column of width 8 has the keys that AddUint64 adds for its little-endian numbers.
func (f *Filter) AddColumn(buf []byte, width int) error {
	n, err := columnLength(buf, width)
	if err != nil {
		return err
	}
	var w hashWindow
	w.f = &f.header
	for n > 0 {
		hs := w.room(n)
		f.hashColumn(hs, buf, width)
		buf = buf[len(hs)*width:]
		n -= len(hs)
		w.add(len(hs))
	}
	w.addRest()
	return nil
}

// MayContainColumn sets dst[i] to whether key i of a column of fixed width, buf[i*width:(i+1)*width], may have been added. It panics if dst has fewer places than the column keys. Errors are those of
// AddColumn; dst is then as it was.
func (f *Filter) MayContainColumn(dst []bool, buf []byte, width int) error {
	n, err := columnLength(buf, width)
	if err != nil {
		return err
	}
	dst = dst[:n]
	var w hashWindow
	w.f = &f.header
	for n > 0 {
		hs := w.room(n)
		f.hashColumn(hs, buf, width)
		buf = buf[len(hs)*width:]
		n -= len(hs)
		dst = dst[w.contains(dst, len(hs)):]
	}
	w.containsRest(dst)
	return nil
}

// AddBinaryColumn adds the keys of a column of variable width in Arrow's form (binary and utf8): key i is data[offsets[i]:offsets[i+1]], so that there is one offset more than there are keys, or none at
// all. Offsets are from 0 to len(data) and do not decrease; otherwise the error wraps ErrParameter and nothing is added.
func (f *Filter) AddBinaryColumn(data []byte, offsets []int32) error {
	return addBinary(f, data, offsets)
}

// AddLargeBinaryColumn is AddBinaryColumn with offsets of 64 bits (Arrow's large binary and large utf8).
func (f *Filter) AddLargeBinaryColumn(data []byte, offsets []int64) error {
	return addBinary(f, data, offsets)
}

// MayContainBinaryColumn sets dst[i] to whether key i of a column of variable width may have been added; see AddBinaryColumn for its form and errors, after which dst is as it was. It panics if dst has fewer
// places than the column keys.
func (f *Filter) MayContainBinaryColumn(dst []bool, data []byte, offsets []int32) error {
	return mayContainBinary(f, dst, data, offsets)
}

// MayContainLargeBinaryColumn is MayContainBinaryColumn with offsets of 64 bits.
func (f *Filter) MayContainLargeBinaryColumn(dst []bool, data []byte, offsets []int64) error {
	return mayContainBinary(f, dst, data, offsets)
}

// columnLength returns how many keys a column of fixed width has.
func columnLength(buf []byte, width int) (int, error) {
	if width < 1 {
		return 0, fmt.Errorf("blocked: %w: width = %d, must be at least 1", ErrParameter, width)
	}
	if len(buf)%width != 0 {
		return 0, fmt.Errorf("blocked: %w: len(buf) = %d, must be a multiple of width = %d", ErrParameter, len(buf), width)
	}
	return len(buf) / width, nil
}

// hashColumn sets hs[i] to the hash of key i at buf.
func (f *Filter) hashColumn(hs []uint64, buf []byte, width int) {
	if width != 8 {
		for i := range hs {
			hs[i] = f.Hash(buf[:width:width])
			buf = buf[width:]
		}
		return
	}
	buf = buf[:8*len(hs)]
	if raceEnabled {
		raceRead(unsafe.Pointer(unsafe.SliceData(buf)), len(buf))
	}
	for i := hashUint64sVector(&f.header, hs, unsafe.Pointer(unsafe.SliceData(buf)), f.flip); i < len(hs); i++ {
		hs[i] = hashUint64(binary.LittleEndian.Uint64(buf[8*i:]), f.flip)
	}
}

type offset interface{ int32 | int64 }

// checkOffsets returns how many keys offsets delimit in data.
func checkOffsets[O offset](data []byte, offsets []O) (int, error) {
	if len(offsets) == 0 {
		return 0, nil
	}
	last := O(0)
	for i, at := range offsets {
		if at < last {
			return 0, fmt.Errorf("blocked: %w: offsets[%d] = %d, must be at least %d", ErrParameter, i, at, last)
		}
		last = at
	}
	if uint64(last) > uint64(len(data)) {
		i := slices.Index(offsets, last)
		return 0, fmt.Errorf("blocked: %w: offsets[%d] = %d, must be at most len(data) = %d", ErrParameter, i, last, len(data))
	}
	return len(offsets) - 1, nil
}

// hashBinary sets hs[i] to the hash of data[offsets[i]:offsets[i+1]].
func hashBinary[O offset](f *Filter, hs []uint64, data []byte, offsets []O) {
	from := offsets[0]
	for i, to := range offsets[1 : len(hs)+1] {
		hs[i] = f.Hash(data[from:to])
		from = to
	}
}

func addBinary[O offset](f *Filter, data []byte, offsets []O) error {
	n, err := checkOffsets(data, offsets)
	if err != nil {
		return err
	}
	var w hashWindow
	w.f = &f.header
	for n > 0 {
		hs := w.room(n)
		hashBinary(f, hs, data, offsets)
		offsets = offsets[len(hs):]
		n -= len(hs)
		w.add(len(hs))
	}
	w.addRest()
	return nil
}

func mayContainBinary[O offset](f *Filter, dst []bool, data []byte, offsets []O) error {
	n, err := checkOffsets(data, offsets)
	if err != nil {
		return err
	}
	dst = dst[:n]
	var w hashWindow
	w.f = &f.header
	for n > 0 {
		hs := w.room(n)
		hashBinary(f, hs, data, offsets)
		offsets = offsets[len(hs):]
		n -= len(hs)
		dst = dst[w.contains(dst, len(hs)):]
	}
	w.containsRest(dst)
	return nil
}

// MayContainColumn sets dst[i] to whether key i of a column of fixed width may have been added, as [Filter.MayContainColumn] does.
func (v View) MayContainColumn(dst []bool, buf []byte, width int) error {
	n, err := columnLength(buf, width)
	if err != nil {
		return err
	}
	if !v.keyed() {
		setAll(dst[:n])
		return nil
	}
	f := v.filter()
	return f.MayContainColumn(dst, buf, width)
}

// MayContainBinaryColumn sets dst[i] to whether key i of a column of variable width may have been added, as [Filter.MayContainBinaryColumn] does.
func (v View) MayContainBinaryColumn(dst []bool, data []byte, offsets []int32) error {
	return viewMayContainBinary(v, dst, data, offsets)
}

// MayContainLargeBinaryColumn is MayContainBinaryColumn with offsets of 64 bits.
func (v View) MayContainLargeBinaryColumn(dst []bool, data []byte, offsets []int64) error {
	return viewMayContainBinary(v, dst, data, offsets)
}

func viewMayContainBinary[O offset](v View, dst []bool, data []byte, offsets []O) error {
	if v.keyed() {
		f := v.filter()
		return mayContainBinary(&f, dst, data, offsets)
	}
	n, err := checkOffsets(data, offsets)
	if err == nil {
		setAll(dst[:n])
	}
	return err
}
