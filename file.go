package blocked

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// File is a filter in a file that is mapped read-only: a [View] of it, and Close. The operating system reads the pages as lookups ask for them, and may drop them again. Where files cannot be mapped
// (WebAssembly, Plan 9) the file is read into memory.
//
// The file must not be changed in place or cut short while it is mapped. A lookup in a page that the file does not have any more, or that cannot be read, ends the process with a fault, as in every use of
// mmap. Replacing the file by renaming another over it, as [Filter.Save] does, is safe: the File keeps the old one. OpenFile and Verify turn such a fault into an error.
type File struct {
	View
	data  []byte
	unmap func([]byte) error
}

// OpenFile maps the container in the file at path. It checks everything as OpenView does and so reads all of the file.
//
// The error wraps the operating system's, as os.Open's does; ErrParameter where path is no regular file; ErrTooLarge where the file does not fit into the address space; or OpenView's.
func OpenFile(path string) (*File, error) {
	f, err := OpenFileUnverified(path)
	if err != nil {
		return nil, err
	}
	if err := f.Verify(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w (%s)", err, path), f.Close())
	}
	return f, nil
}

// OpenFileUnverified maps the container in the file at path and reads no more of it than the header, which it checks as OpenViewUnverified does. Damage of the blocks can make keys absent that are not: it
// is for storage that has checked the file already, or for a Verify later on.
func OpenFileUnverified(path string) (*File, error) {
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
	if info, err = file.Stat(); err != nil {
		return nil, fmt.Errorf("blocked: %w", err)
	}
	if uint64(info.Size()) > platformBytes {
		return nil, fmt.Errorf("blocked: %w: %s has %d bytes, the platform's maximum is %d", ErrTooLarge, path, info.Size(), platformBytes)
	}
	if info.Size() < headerBytes+blockBytes { // an empty file cannot be mapped
		return nil, fmt.Errorf("blocked: %w: %s has %d bytes, a filter of 1 block has %d", ErrCorrupt, path, info.Size(), headerBytes+blockBytes)
	}
	data, unmap, err := mapFile(file, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("blocked: mapping %s: %w", path, err)
	}
	f := &File{data: data, unmap: unmap}
	err = catchFault(func() (err error) {
		f.View, err = OpenViewUnverified(data)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w (%s)", err, path), f.Close())
	}
	return f, nil
}

// Verify checks all of the file again, as it is now. The error is OpenView's, with ErrCorrupt too where the file has been cut short or its storage fails. It reads all of the file.
func (f *File) Verify() error {
	return catchFault(func() error {
		_, err := OpenView(f.data)
		return err
	})
}

// Close ends the mapping. It may not run while a lookup does. Afterwards the File is as a zero View and reports every key as possibly contained; copies of its View
// must not be used any more. A second Close does nothing. A File that is not closed stays mapped until the process ends.
func (f *File) Close() error {
	data := f.data
	f.View, f.data = View{}, nil
	if data == nil {
		return nil
	}
	if err := f.unmap(data); err != nil {
		return fmt.Errorf("blocked: unmapping: %w", err)
	}
	return nil
}

// catchFault runs read and makes the fault of a page that its mapped file does not have an error.
func catchFault(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			// Not only the kind that has an address: a system that does not tell where the fault was, as an emulator, makes it look like a nil pointer. What runs here is a
			// look at bytes, which has no runtime error of its own.
			err = fmt.Errorf("blocked: %w: the file has been cut short under its mapping, or cannot be read: %w", ErrCorrupt, r)
		default:
			panic(r)
		}
	}()
	return read()
}
