package blocked

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Save writes the filter's container to the file at path, which is made or replaced as a whole: it is written beside path under another name, synced to the disk, and renamed. After an
// error, a crash or a loss of power path is the old file or the new one, and never a part. Processes that have the old file mapped keep it. A symbolic link is followed.
//
// The new file has the old one's permissions; a first one has 0666 as the umask leaves it. On Windows a file that somebody has open or mapped may refuse to be
// replaced. The error wraps the operating system's, or ErrParameter for a zero Filter; what was written is removed then. After a crash a file called path plus "." plus sixteen
// digits plus ".tmp" can be left.
func (f *Filter) Save(path string) error {
	if err := f.zeroError(); err != nil {
		return err
	}
	return save(path, func(w io.Writer) error {
		_, err := f.WriteTo(w)
		return err
	})
}

// save replaces the file at path by what write writes.
func save(path string, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a rename would replace the link and leave the file
	}
	perm, old := fs.FileMode(0o666), false
	if info, err := os.Stat(path); err == nil {
		perm, old = info.Mode().Perm(), true
	}
	var file *os.File
	for try := 0; ; try++ {
		file, err = os.OpenFile(fmt.Sprintf("%s.%016x.tmp", path, rand.Uint64()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			break
		}
		if try == 100 || !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("blocked: saving a filter: %w", err)
		}
	}
	closed := false
	defer func() {
		if err != nil {
			if !closed {
				file.Close()
			}
			os.Remove(file.Name())
			err = fmt.Errorf("blocked: saving a filter: %w", err)
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if old { // the umask may have taken some away
		if err := file.Chmod(perm); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if err := file.Sync(); err != nil {
		return err
	}
	closed = true
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	// The new name is in the directory; until that is on the disk a crash may bring back the old file, which is whole as well.
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("the new file is in place, but syncing its directory failed: %w", err)
	}
	return nil
}
