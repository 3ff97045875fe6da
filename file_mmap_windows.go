//go:build windows

package blocked

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps the first size bytes of file, size above 0, and returns what ends that.
func mapFile(file *os.File, size int) ([]byte, func([]byte) error, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var p uintptr
	var mapErr error
	err = conn.Control(func(fd uintptr) {
		// The mapping is as large as the file; the view keeps it alive after its handle is closed.
		mapping, err := windows.CreateFileMapping(windows.Handle(fd), nil, windows.PAGE_READONLY, 0, 0, nil)
		if err != nil {
			mapErr = os.NewSyscallError("CreateFileMapping", err)
			return
		}
		defer windows.CloseHandle(mapping)
		p, err = windows.MapViewOfFile(mapping, windows.FILE_MAP_READ, 0, 0, uintptr(size))
		if err != nil {
			mapErr = os.NewSyscallError("MapViewOfFile", err)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if mapErr != nil {
		return nil, nil, mapErr
	}
	// The address is none of the Go heap's, so the conversion, which vet would not have, is right.
	data := unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), size)
	return data, func(data []byte) error {
		return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(data)))))
	}, nil
}
