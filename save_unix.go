//go:build unix

package blocked

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the renaming of a file in dir last. File systems that cannot sync a directory do not promise more.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EBADF) {
		return nil
	}
	return err
}
