package blocked

import (
	"encoding"
	"encoding/base64"
	"fmt"
	"io"
)

// Encodings of other packages. encoding/gob takes MarshalBinary and UnmarshalBinary; encoding/json, encoding/xml and the like take the text form. What writes has value receivers, so
// that a Filter in a struct field encodes as a *Filter does.

var (
	_ encoding.BinaryAppender    = Filter{}
	_ encoding.BinaryMarshaler   = Filter{}
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
	_ encoding.TextAppender      = Filter{}
	_ encoding.TextMarshaler     = Filter{}
	_ encoding.TextUnmarshaler   = (*Filter)(nil)
	_ io.WriterTo                = (*Filter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
)

// textEncoding is strict, so that two different texts are never the same filter.
var textEncoding = base64.StdEncoding.Strict()

// AppendText appends the filter's container in standard base64 with padding to dst. Errors are those of AppendBinary: a zero Filter has no text, so a struct field that may be
// zero wants the JSON option omitzero, or to be a pointer.
func (f Filter) AppendText(dst []byte) ([]byte, error) {
	b, err := f.MarshalBinary()
	if err != nil {
		return dst, err
	}
	return textEncoding.AppendEncode(dst, b), nil
}

// MarshalText returns the filter's container in base64, as AppendText does. encoding/json makes it a string.
func (f Filter) MarshalText() ([]byte, error) { return f.AppendText(nil) }

// UnmarshalText reads what MarshalText writes, with UnmarshalBinary's errors and its use of f's memory. While it works it needs the bytes of one filter, which become f's memory where its own does
// not do.
func (f *Filter) UnmarshalText(text []byte) error {
	data, err := decodeText(text)
	if err != nil {
		return err
	}
	c, err := checkContainer(data)
	if err != nil {
		return err
	}
	if err := f.checkHash(c.hash); err != nil {
		return err
	}
	blocks := data[headerBytes:]
	if mem := f.memory(c.blocks); mem != nil {
		copy(mem, blocks)
		blocks = mem
	}
	f.become(c, blocks)
	return nil
}

// decodeText returns the bytes of a container in base64, in memory that starts on a cache line.
func decodeText(text []byte) ([]byte, error) {
	if len(text) == 0 {
		return nil, fmt.Errorf("blocked: %w: 0 bytes of text", ErrCorrupt)
	}
	data := alignedBytes(textEncoding.DecodedLen(len(text)))
	n, err := textEncoding.Decode(data, text)
	if err != nil {
		return nil, fmt.Errorf("blocked: %w: %w", ErrCorrupt, err)
	}
	// The decoder steps over line ends, which we never write.
	if textEncoding.EncodedLen(n) != len(text) {
		return nil, fmt.Errorf("blocked: %w: the base64 has line ends", ErrCorrupt)
	}
	return data[:n], nil
}
