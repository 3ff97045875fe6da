package blocked

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/zeebo/xxh3"
)

// The container of a Growing: a header, a table of the layers, and then each layer's own container. Every part is a multiple of 64 bytes, so that in a mapped file the blocks of all layers are on
// cache lines. All integers are little-endian. FORMAT.md describes it for other languages.
//
//	 0  magic         8 bytes
//	 8  version       2 bytes, 1
//	10  flags         1 byte: growingFixed or 0
//	11  hash          1 byte, as in a layer's header
//	12  expansion     4 bytes, 0 with growingFixed
//	16  seed          8 bytes
//	24  L             8 bytes: number of layers
//	32  p             8 bytes: IEEE 754
//	40  most bytes    8 bytes: WithMaxBytes, 0 if it was not given
//	48  reserved      8 bytes, 0
//	56  header's sum  8 bytes: XXH3-64 of bytes 0 to 55
//
// The table has 32 bytes a layer: N, capacity, items, and the sum of the layer's header; then zeros; and in its last 8 bytes the XXH3-64 of the header and of the table up to there. As a layer's header has the sum
// of its blocks, the table's sum is one of everything: layers of another file do not pass.

const (
	// growingMagic is 89 42 4C 47 0D 0A 1A 0A: as magic, with a G.
	growingMagic = 0x0A1A0A0D474C4289

	growingVersion = 1
	growingFixed   = 1 // WithNonScaling
	growingEntry   = 32

	// maxKeysPerBlock bounds what a layer's capacity can be: the highest rate below 1, at one probe a key, has some 19000 keys in a block. A file that says more could make the next layer of any size.
	maxKeysPerBlock = 1 << 15
)

var (
	_ encoding.BinaryAppender    = Growing{}
	_ encoding.BinaryMarshaler   = Growing{}
	_ encoding.BinaryUnmarshaler = (*Growing)(nil)
	_ encoding.TextAppender      = Growing{}
	_ encoding.TextMarshaler     = Growing{}
	_ encoding.TextUnmarshaler   = (*Growing)(nil)
	_ io.WriterTo                = (*Growing)(nil)
	_ io.ReaderFrom              = (*Growing)(nil)
)

// A growingHeader is what a header says.
type growingHeader struct {
	flags, hash uint8
	expansion   uint32
	seed        uint64
	layers      uint64
	p           float64
	maxBytes    uint64
}

// A tableEntry is what the table says of a layer.
type tableEntry struct{ blocks, capacity, items, sum uint64 }

func (e tableEntry) size() uint64 { return headerBytes + blockBytes*e.blocks }

func entryAt(table []byte, i int) tableEntry {
	le, b := binary.LittleEndian, table[i*growingEntry:]
	return tableEntry{le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])}
}

// tableBytes returns the size of the table of n layers, with its sum: a multiple of 64.
func tableBytes(n uint64) uint64 { return (n*growingEntry + 8 + blockBytes - 1) &^ (blockBytes - 1) }

func (c growingHeader) put(h *[headerBytes]byte) {
	le := binary.LittleEndian
	le.PutUint64(h[0:], growingMagic)
	le.PutUint64(h[8:], growingVersion|uint64(c.flags)<<16|uint64(c.hash)<<24|uint64(c.expansion)<<32)
	le.PutUint64(h[16:], c.seed)
	le.PutUint64(h[24:], c.layers)
	le.PutUint64(h[32:], math.Float64bits(c.p))
	le.PutUint64(h[40:], c.maxBytes)
	le.PutUint64(h[48:], 0)
	le.PutUint64(h[56:], xxh3.Hash(h[:56]))
}

// check reads a header's fields. The error says of all that may be wrong the first that its reader wants to know.
func (c *growingHeader) check(h *[headerBytes]byte) error {
	le := binary.LittleEndian
	if le.Uint64(h[0:]) != growingMagic {
		return fmt.Errorf("blocked: %w: it begins with % x, must be 89 42 4c 47 0d 0a 1a 0a", ErrCorrupt, h[:8])
	}
	if v := le.Uint16(h[8:]); v != growingVersion {
		return fmt.Errorf("blocked: %w: version = %d of a growing filter, must be %d", ErrVersion, v, growingVersion)
	}
	if have, want := le.Uint64(h[56:]), xxh3.Hash(h[:56]); have != want {
		return fmt.Errorf("blocked: %w: the header's checksum is %#x, its bytes have %#x", ErrCorrupt, have, want)
	}
	*c = growingHeader{flags: h[10], hash: h[11], expansion: le.Uint32(h[12:]), seed: le.Uint64(h[16:]), layers: le.Uint64(h[24:]), p: math.Float64frombits(le.Uint64(h[32:])), maxBytes: le.Uint64(h[40:])}
	switch {
	case c.flags > growingFixed:
		return fmt.Errorf("blocked: %w: flags = %#x, must be 0 or 1", ErrVersion, c.flags)
	case c.hash > hashXXH3:
		return fmt.Errorf("blocked: %w: hash = %d, must be 0 or 1", ErrVersion, c.hash)
	case le.Uint64(h[48:]) != 0:
		return fmt.Errorf("blocked: %w: reserved field = %#x, must be 0", ErrVersion, le.Uint64(h[48:]))
	case c.flags == growingFixed && c.expansion != 0:
		return fmt.Errorf("blocked: %w: expansion = %d of a filter that does not scale, must be 0", ErrCorrupt, c.expansion)
	case c.flags == 0 && (c.expansion < 1 || c.expansion > maxExpansion):
		return fmt.Errorf("blocked: %w: expansion = %d, must be 1 to %d", ErrCorrupt, c.expansion, maxExpansion)
	case c.flags == growingFixed && c.layers != 1:
		return fmt.Errorf("blocked: %w: layers = %d of a filter that does not scale, must be 1", ErrCorrupt, c.layers)
	case c.layers < 1 || c.layers > maxLayers:
		return fmt.Errorf("blocked: %w: layers = %d, must be 1 to %d", ErrCorrupt, c.layers, maxLayers)
	case !(c.p > 0 && c.p < 1):
		return fmt.Errorf("blocked: %w: p = %v, must be above 0 and below 1", ErrCorrupt, c.p)
	}
	return nil
}

// checkTable checks the table's sum and what it says of each layer, and returns the number of bytes that all layers' containers have.
func (c *growingHeader) checkTable(h *[headerBytes]byte, table []byte) (size uint64, err error) {
	var sum xxh3.Hasher
	sum.Write(h[:])
	end := len(table) - 8
	sum.Write(table[:end])
	if have, want := binary.LittleEndian.Uint64(table[end:]), sum.Sum64(); have != want {
		return 0, fmt.Errorf("blocked: %w: the table's checksum is %#x, its bytes have %#x", ErrCorrupt, have, want)
	}
	for _, b := range table[c.layers*growingEntry : end] {
		if b != 0 {
			return 0, fmt.Errorf("blocked: %w: the table of %d layers is followed by %#x, must be 0", ErrCorrupt, c.layers, b)
		}
	}
	for i := range int(c.layers) {
		e := entryAt(table, i)
		switch {
		case e.blocks < 1 || e.blocks > MaxBlocks:
			return 0, fmt.Errorf("blocked: %w: layer %d: blocks = %d, must be 1 to %d", ErrCorrupt, i, e.blocks, uint64(MaxBlocks))
		case e.capacity < 1 || e.capacity > maxKeysPerBlock*e.blocks:
			return 0, fmt.Errorf("blocked: %w: layer %d: capacity = %d, must be 1 to %d in %d blocks", ErrCorrupt, i, e.capacity, maxKeysPerBlock*e.blocks, e.blocks)
		case e.items > e.capacity:
			return 0, fmt.Errorf("blocked: %w: layer %d: items = %d, must be at most its capacity, %d", ErrCorrupt, i, e.items, e.capacity)
		}
		// 2^20 layers of 2^46 bytes would be more than a uint64 counts.
		if size += e.size(); size > platformBytes {
			return 0, fmt.Errorf("blocked: %w: the first %d layers of %d have %d bytes, the platform's maximum is %d", ErrTooLarge, i+1, c.layers, size, platformBytes)
		}
	}
	return size, nil
}

// checkLayer checks the header of layer i against the container's header and the table.
func (c *growingHeader) checkLayer(i int, e tableEntry, h *[headerBytes]byte) (l containerHeader, err error) {
	if err := l.check(h); err != nil {
		return l, fmt.Errorf("%w (layer %d)", err, i)
	}
	if sum := binary.LittleEndian.Uint64(h[56:]); sum != e.sum || l.blocks != e.blocks {
		return l, fmt.Errorf("blocked: %w: layer %d has %d blocks and the checksum %#x, the table has %d and %#x", ErrCorrupt, i, l.blocks, sum, e.blocks, e.sum)
	}
	if l.seed != c.seed || l.hash != c.hash {
		return l, fmt.Errorf("blocked: %w: layer %d has seed %#x and hash %d, the header has %#x and %d", ErrCorrupt, i, l.seed, l.hash, c.seed, c.hash)
	}
	return l, nil
}

// growingHeader describes g.
func (g *Growing) growingHeader() growingHeader {
	c := growingHeader{hash: g.hasher.hashCode(), expansion: uint32(g.expansion), seed: g.hasher.seed, layers: uint64(len(g.layers)), p: g.p}
	if g.expansion == 0 {
		c.flags = growingFixed
	}
	c.maxBytes = g.saidBytes
	return c
}

// zeroError is for a zero Growing where layers are needed.
func (g *Growing) zeroError() error {
	if len(g.layers) != 0 {
		return nil
	}
	return fmt.Errorf("blocked: %w: layers = 0, must be 1 to %d: a zero Growing has no bytes", ErrParameter, maxLayers)
}

// putFront writes all that stands before the layers, and each layer's header, headerBytes apart.
func (g *Growing) putFront(front, headers []byte) {
	le := binary.LittleEndian
	g.growingHeader().put((*[headerBytes]byte)(front))
	table := front[headerBytes:]
	for i := range g.layers {
		l := &g.layers[i]
		h := (*[headerBytes]byte)(headers[i*headerBytes:])
		c := l.containerHeader()
		c.keys = l.items
		c.put(h, l.Bits())
		e := table[i*growingEntry:]
		le.PutUint64(e, l.blocks)
		le.PutUint64(e[8:], l.capacity)
		le.PutUint64(e[16:], l.items)
		copy(e[24:32], h[56:])
	}
	le.PutUint64(table[len(table)-8:], xxh3.Hash(front[:len(front)-8]))
}

// frontBytes returns the size of all that stands before the layers.
func (g *Growing) frontBytes() int { return headerBytes + int(tableBytes(uint64(len(g.layers)))) }

// AppendBinary appends the container of g to dst and returns the extended slice: the format that FORMAT.md describes, the same bytes on every architecture, 64*L + 32*L more than the blocks of L layers and at most 128
// besides. It fails only for a zero Growing, with an error that wraps ErrParameter, or where the slice would be larger than the platform allows; dst is returned as it was then. It costs about two copies of the memory.
func (g Growing) AppendBinary(dst []byte) ([]byte, error) {
	if err := g.zeroError(); err != nil {
		return dst, err
	}
	front := g.frontBytes()
	out, err := extend(dst, uint64(front)+headerBytes*uint64(len(g.layers))+g.bytes)
	if err != nil {
		return dst, err
	}
	headers := make([]byte, headerBytes*len(g.layers))
	made := out[len(dst):]
	g.putFront(made[:front], headers)
	made = made[front:]
	for i := range g.layers {
		made = made[copy(made, headers[i*headerBytes:][:headerBytes]):]
		made = made[copy(made, g.layers[i].Bits()):]
	}
	return out, nil
}

// MarshalBinary returns the container of g, as AppendBinary does. encoding/gob calls it.
func (g Growing) MarshalBinary() ([]byte, error) { return g.AppendBinary(nil) }

// WriteTo writes the container of g, the bytes of AppendBinary, to w and returns how many bytes were written. It allocates 96 bytes a layer. The error is w's, wrapped, or wraps ErrParameter for a zero Growing.
func (g *Growing) WriteTo(w io.Writer) (int64, error) {
	if err := g.zeroError(); err != nil {
		return 0, err
	}
	front, headers := make([]byte, g.frontBytes()), make([]byte, headerBytes*len(g.layers))
	g.putFront(front, headers)
	var written int64
	write := func(part []byte) error {
		n, err := w.Write(part)
		written += int64(n)
		if err == nil && n < len(part) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return fmt.Errorf("blocked: writing a growing filter: %w", err)
		}
		return nil
	}
	if err := write(front); err != nil {
		return written, err
	}
	for i := range g.layers {
		if err := write(headers[i*headerBytes:][:headerBytes]); err != nil {
			return written, err
		}
		if err := write(g.layers[i].Bits()); err != nil {
			return written, err
		}
	}
	return written, nil
}

// Save writes the container of g to the file at path, which is made or replaced as a whole, as [Filter.Save] does. [LoadGrowing] reads it.
func (g *Growing) Save(path string) error {
	if err := g.zeroError(); err != nil {
		return err
	}
	return save(path, func(w io.Writer) error {
		_, err := g.WriteTo(w)
		return err
	})
}

// become makes g the filter that c and layers describe.
func (g *Growing) become(c growingHeader, layers []layer) {
	h := g.hasher
	h.seed, h.flip, h.kernel = c.seed, flipOf(c.seed), active
	n := Growing{layers: layers, hasher: h, p: c.p, expansion: int(c.expansion), maxBytes: defaultMaxBytes, saidBytes: c.maxBytes, ownBudget: g.ownBudget}
	switch {
	case g.ownBudget:
		n.maxBytes, n.saidBytes = g.maxBytes, g.saidBytes
	case c.maxBytes != 0:
		n.maxBytes = min(c.maxBytes, defaultMaxBytes) // a file may ask for less than a process gives by itself, and not for more
	}
	for i := range layers {
		n.bytes += layers[i].Geometry().Bytes()
		n.olderItems += layers[i].items
	}
	n.olderItems -= layers[len(layers)-1].items
	*g = n
}

// checkFor returns an error where g does not take the container that c describes, with blocks of so many bytes in all.
func (g *Growing) checkFor(c growingHeader, bytes uint64) error {
	if err := g.hasher.checkHash(c.hash); err != nil {
		return err
	}
	if g.ownBudget && bytes > g.maxBytes {
		return fmt.Errorf("blocked: %w: %d layers of %d bytes in all, the maximum is %d (WithMaxBytes)", ErrTooLarge, c.layers, bytes, g.maxBytes)
	}
	if bytes > platformBytes {
		return fmt.Errorf("blocked: %w: %d layers of %d bytes in all, the platform's maximum is %d", ErrTooLarge, c.layers, bytes, platformBytes)
	}
	return nil
}

// UnmarshalBinary makes g the filter whose container data is, and keeps no reference to data nor to what g had. Rate, expansion and seed are then those of data, and so is WithMaxBytes, up to its default, where g was not made with
// it. How large the next layer is follows from data too: give a Growing that reads bytes from outside a WithMaxBytes.
//
// The error wraps ErrCorrupt where data is no container of a Growing, is damaged, or has bytes before or after it; ErrVersion where it is of a later version; ErrMismatch where its hash is the
// caller's own and g was not made WithCallerHash, or the reverse; and ErrTooLarge where g was made WithMaxBytes and that is less than the layers have. g is as it was then. Nothing is allocated for data that is not
// whole.
func (g *Growing) UnmarshalBinary(data []byte) error {
	if len(data) < headerBytes {
		return fmt.Errorf("blocked: %w: %d bytes, a header has %d", ErrCorrupt, len(data), headerBytes)
	}
	h := (*[headerBytes]byte)(data)
	var c growingHeader
	if err := c.check(h); err != nil {
		return err
	}
	rest := data[headerBytes:]
	n := tableBytes(c.layers)
	if uint64(len(rest)) < n {
		return fmt.Errorf("blocked: %w: %d bytes, the header and the table of %d layers have %d", ErrCorrupt, len(data), c.layers, headerBytes+n)
	}
	table, rest := rest[:n], rest[n:]
	size, err := c.checkTable(h, table)
	if err != nil {
		return err
	}
	if size != uint64(len(rest)) {
		return fmt.Errorf("blocked: %w: %d bytes, the %d layers of the table have %d", ErrCorrupt, len(data), c.layers, headerBytes+n+size)
	}
	if err := g.checkFor(c, size-headerBytes*c.layers); err != nil {
		return err
	}
	at := rest
	for i := range int(c.layers) {
		e := entryAt(table, i)
		if _, err := c.checkLayer(i, e, (*[headerBytes]byte)(at)); err != nil {
			return err
		}
		if have, want := binary.LittleEndian.Uint64(at[48:]), xxh3.Hash(at[headerBytes:e.size()]); have != want {
			return fmt.Errorf("%w (layer %d)", blocksError(have, want), i)
		}
		at = at[e.size():]
	}
	layers := make([]layer, c.layers)
	for i := range layers {
		e := entryAt(table, i)
		var l containerHeader
		l.parse((*[headerBytes]byte)(rest))
		mem := filterBytes(int(blockBytes*e.blocks), g.hasher.small)
		copy(mem, rest[headerBytes:])
		layers[i] = g.loaded(l, e, mem)
		rest = rest[e.size():]
	}
	g.become(c, layers)
	return nil
}

// loaded returns the layer with the blocks in mem.
func (g *Growing) loaded(c containerHeader, e tableEntry, mem []byte) layer {
	l := layer{Filter: Filter{small: g.hasher.small}, capacity: e.capacity, items: e.items}
	l.become(c, mem)
	return l
}

// ReadFrom reads one container of a Growing from r and makes g the filter that it holds, as UnmarshalBinary does. It takes the container's bytes from r and not one more, so that several may stand in one stream, and
// returns how many bytes it took. On any error g is as it was.
//
// Where r is at its end, the error wraps io.EOF and nothing else. Otherwise it wraps what UnmarshalBinary's does, r's own error, or both ErrCorrupt and io.ErrUnexpectedEOF for a container cut short.
//
// Memory: that of the layers and 32 bytes a layer more where r is of a kind that [Filter.ReadFrom] knows to have the bytes; from other readers at most 16 times the bytes received plus 128 KiB. What g had is dropped when all has been read.
func (g *Growing) ReadFrom(r io.Reader) (int64, error) {
	h := new([headerBytes]byte)
	n, err := io.ReadFull(r, h[:])
	if err != nil {
		if err == io.EOF {
			return 0, fmt.Errorf("blocked: no filter at the end of the stream: %w", err)
		}
		return int64(n), readError(err, n, headerBytes, "header")
	}
	read := int64(n)
	var c growingHeader
	if err := c.check(h); err != nil {
		return read, err
	}
	if err := g.hasher.checkHash(c.hash); err != nil {
		return read, err
	}
	table, n, err := readBlocks(r, int(tableBytes(c.layers)), true)
	read += int64(n)
	if err != nil {
		return read, fmt.Errorf("%w (the table)", err)
	}
	size, err := c.checkTable(h, table)
	if err != nil {
		return read, err
	}
	if err := g.checkFor(c, size-headerBytes*c.layers); err != nil {
		return read, err
	}
	var layers []layer // grows with what comes
	for i := range int(c.layers) {
		e := entryAt(table, i)
		n, err := io.ReadFull(r, h[:])
		read += int64(n)
		if err != nil {
			return read, readError(err, n, headerBytes, fmt.Sprintf("header of layer %d", i))
		}
		l, err := c.checkLayer(i, e, h)
		if err != nil {
			return read, err
		}
		mem, n, err := readBlocks(r, int(blockBytes*e.blocks), g.hasher.small)
		read += int64(n)
		if err != nil {
			return read, fmt.Errorf("%w (layer %d)", err, i)
		}
		if have, want := binary.LittleEndian.Uint64(h[48:]), xxh3.Hash(mem); have != want {
			return read, fmt.Errorf("%w (layer %d)", blocksError(have, want), i)
		}
		layers = append(layers, g.loaded(l, e, mem))
	}
	g.become(c, layers)
	return read, nil
}

// LoadGrowing reads the Growing that [Growing.Save] wrote to the file at path. WithMaxBytes, WithCallerHash and WithoutHugePages are as in NewGrowing and [Growing.UnmarshalBinary]; the rest is in the file, and an option that says it again is an
// error that wraps ErrParameter.
//
// The error wraps the operating system's; ErrParameter where path is no regular file; or UnmarshalBinary's.
func LoadGrowing(path string, opts ...Option) (*Growing, error) {
	o := options{maxBytes: defaultMaxBytes}
	for _, opt := range opts {
		opt(&o)
	}
	if o.seed != 0 || o.expands || o.nonScaling {
		return nil, fmt.Errorf("blocked: %w: WithSeed, WithExpansion and WithNonScaling are not for LoadGrowing: the file has them", ErrParameter)
	}
	// The look before the opening keeps a named pipe from hanging it.
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("blocked: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("blocked: %w: path = %q, must be a regular file and is %v", ErrParameter, path, info.Mode())
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("blocked: %w", err)
	}
	defer file.Close()
	g := &Growing{maxBytes: o.maxBytes, ownBudget: o.budget, hasher: Filter{callerHash: o.callerHash, small: o.small}}
	if o.budget {
		g.saidBytes = o.maxBytes
	}
	if _, err := g.ReadFrom(file); err != nil {
		if errors.Is(err, io.EOF) { // an empty file is none
			err = fmt.Errorf("blocked: %w: 0 bytes, a header has %d", ErrCorrupt, headerBytes)
		}
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	switch n, err := file.Read(make([]byte, 1)); {
	case n > 0:
		return nil, fmt.Errorf("blocked: %w: bytes after the filter (%s)", ErrCorrupt, path)
	case err != io.EOF:
		return nil, fmt.Errorf("blocked: reading %s: %w", path, err)
	}
	return g, nil
}

// AppendText appends the container of g in standard base64 with padding to dst. Errors are those of AppendBinary: a zero Growing has no text, so a struct field that may be zero wants the JSON option omitzero, or to
// be a pointer.
func (g Growing) AppendText(dst []byte) ([]byte, error) {
	b, err := g.MarshalBinary()
	if err != nil {
		return dst, err
	}
	return textEncoding.AppendEncode(dst, b), nil
}

// MarshalText returns the container of g in base64, as AppendText does. encoding/json makes it a string.
func (g Growing) MarshalText() ([]byte, error) { return g.AppendText(nil) }

// UnmarshalText reads what MarshalText writes, with UnmarshalBinary's errors. While it works it needs the bytes of one container more.
func (g *Growing) UnmarshalText(text []byte) error {
	data, err := decodeText(text)
	if err != nil {
		return err
	}
	return g.UnmarshalBinary(data)
}
