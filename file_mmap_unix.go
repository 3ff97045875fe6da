//go:build unix

package blocked

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first size bytes of file, size above 0, and returns what ends that.
func mapFile(file *os.File, size int) ([]byte, func([]byte) error, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var data []byte
	var mapErr error
	err = conn.Control(func(fd uintptr) {
		data, mapErr = unix.Mmap(int(fd), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	})
	if err != nil {
		return nil, nil, err
	}
	if mapErr != nil {
		return nil, nil, os.NewSyscallError("mmap", mapErr)
	}
	return data, unix.Munmap, nil
}
