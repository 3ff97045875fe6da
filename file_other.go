//go:build !unix && !windows

package blocked

import (
	"io"
	"os"
)

// mapFile reads the first size bytes of file, since this system cannot map it.
func mapFile(file *os.File, size int) ([]byte, func([]byte) error, error) {
	data := alignedBytes(size)
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, nil, err
	}
	return data, func([]byte) error { return nil }, nil
}
