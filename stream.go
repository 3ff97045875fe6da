package blocked

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/zeebo/xxh3"
)

// Containers in streams.

const (
	// streamFirst is how much memory a header's word alone gets, where nothing tells how long the stream is.
	streamFirst = 64 << 10
	// streamGrowth is the step from there on: a sixteenth of the filter is copied and there twice for a moment, and a stream that lies about its length costs at most sixteen times
	// the bytes that it has.
	streamGrowth = 16
)

// WriteTo writes the filter's container, the bytes of AppendBinary, to w and returns how many bytes were written. It allocates the header and no more. The error is w's, wrapped, or wraps
// ErrParameter for a zero Filter.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	if err := f.zeroError(); err != nil {
		return 0, err
	}
	var h [headerBytes]byte
	f.containerHeader().put(&h, f.Bits())
	var written int64
	for _, part := range [][]byte{h[:], f.Bits()} {
		n, err := w.Write(part)
		written += int64(n)
		if err == nil && n < len(part) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return written, fmt.Errorf("blocked: writing a filter: %w", err)
		}
	}
	return written, nil
}

// ReadFrom reads one container from r and makes f the filter that it holds. It takes the container's bytes from r and not one more, so that several may stand in one stream, and
// returns how many bytes it took. The filter's memory is used again where the new blocks fit in; copies of f share it and must not be used any more.
//
// Where r is at its end, the error wraps io.EOF and nothing else. Otherwise it wraps what UnmarshalBinary's does, r's own error, or both ErrCorrupt and io.ErrUnexpectedEOF for
// a container cut short, or ErrTooLarge for one that the platform cannot hold. Where blocks have been read into the filter's memory by then, f reports every key as possibly contained until it is
// read or reset again: what it had is lost, and it must not call anything absent. Otherwise f is as it was.
//
// Memory: none where the blocks fit into f; exactly the filter's where r is a *bytes.Reader, *bytes.Buffer, *strings.Reader or a regular *os.File that has the bytes; from
// other readers, which may end at any moment whatever the header says, at most 16 times the bytes received plus 64 KiB, and while reading at most a sixteenth more than the filter.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	h := new([headerBytes]byte)
	n, err := io.ReadFull(r, h[:])
	if err != nil {
		if err == io.EOF {
			return 0, fmt.Errorf("blocked: no filter at the end of the stream: %w", err)
		}
		return int64(n), readError(err, n, headerBytes, "header")
	}
	read := int64(n)
	var c containerHeader
	if err := c.check(h); err != nil {
		return read, err
	}
	if err := f.checkHash(c.hash); err != nil {
		return read, err
	}
	if c.geometry().Bytes() > platformBytes {
		return read, fmt.Errorf("blocked: %w: %d blocks are %d bytes, the platform's maximum is %d", ErrTooLarge, c.blocks, c.geometry().Bytes(), platformBytes)
	}
	mem := f.memory(c.blocks)
	own := mem != nil
	if own {
		n, err = io.ReadFull(r, mem)
		if err != nil {
			err = readError(err, n, len(mem), "blocks")
		}
	} else {
		mem, n, err = readBlocks(r, int(c.geometry().Bytes()), f.small)
	}
	read += int64(n)
	if err == nil {
		if have, want := binary.LittleEndian.Uint64(h[48:]), xxh3.Hash(mem); have != want {
			err = blocksError(have, want)
		}
	}
	if err != nil {
		if own && n > 0 {
			fill(f.Bits(), 0xff)
		}
		return read, err
	}
	f.become(c, mem)
	return read, nil
}

// readBlocks reads size bytes into new memory, which grows with what has come unless r is known to have them.
func readBlocks(r io.Reader, size int, small bool) (mem []byte, n int, err error) {
	first := size
	if !has(r, int64(size)) {
		// Counted from the end, so that the last step is a whole one.
		for first > streamFirst {
			first = (first-1)/streamGrowth + 1
		}
	}
	mem = filterBytes(first, small)
	for {
		m, err := io.ReadFull(r, mem[n:])
		n += m
		if err != nil {
			return nil, n, readError(err, n, size, "blocks")
		}
		if n == size {
			return mem, n, nil
		}
		larger := filterBytes(min(size, n*streamGrowth), small)
		copy(larger, mem)
		mem = larger
	}
}

// has reports whether r is of a kind that can be believed to have at least size bytes more.
func has(r io.Reader, size int64) bool {
	switch r := r.(type) {
	case *bytes.Reader:
		return int64(r.Len()) >= size
	case *bytes.Buffer:
		return int64(r.Len()) >= size
	case *strings.Reader:
		return int64(r.Len()) >= size
	case *os.File:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		at, err := r.Seek(0, io.SeekCurrent)
		return err == nil && info.Size()-at >= size
	}
	return false
}

// readError wraps a reader's error. The end of the stream inside a filter is damage; anything else may be better next time.
func readError(err error, n, want int, what string) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("blocked: %w: the stream ends after %d of the %d bytes of the %s: %w", ErrCorrupt, n, want, what, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("blocked: reading a filter: %w", err)
}

// fill sets every byte of b.
func fill(b []byte, x byte) {
	for i := range b {
		b[i] = x
	}
}
