package blocked

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// mapsFiles is whether OpenFile maps, rather than reads, here.
var mapsFiles = func() bool {
	switch runtime.GOOS {
	case "js", "wasip1", "plan9":
		return false
	}
	return true
}()

// saved returns a file with a filter.
func saved(t *testing.T, f *Filter) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "filter")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenFile(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		f := fullFilter(Geometry{100, 8})
		path := saved(t, f)
		for _, open := range []func(string) (*File, error){OpenFile, OpenFileUnverified} {
			m, err := open(path)
			if err != nil {
				t.Fatal(err)
			}
			if !sameFilter(m.View, f) || !m.MayContainHash(12345) {
				t.Error("another filter")
			}
			if err := m.Verify(); err != nil {
				t.Error(err)
			}
			if same, err := f.Equal(m); err != nil || !same {
				t.Errorf("not equal: %v", err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if err := m.Close(); err != nil {
				t.Errorf("second Close: %v", err)
			}
			if !m.MayContainHash(54321) || m.Verify() == nil {
				t.Error("a closed file knows something")
			}
		}
	})
}

func TestOpenFileErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	data, _ := fullFilter(Geometry{200, 8}).MarshalBinary()
	for _, c := range []struct {
		path string
		want error
	}{
		{filepath.Join(dir, "missing"), fs.ErrNotExist},
		{dir, ErrParameter},
		{write("empty", nil), ErrCorrupt},
		{write("one", []byte{1}), ErrCorrupt},
		{write("header", data[:64]), ErrCorrupt},
		{write("cut", data[:len(data)-1]), ErrCorrupt},
		{write("page", data[:4096]), ErrCorrupt},
		{write("long", append(bytes.Clone(data), 0)), ErrCorrupt},
	} {
		for _, open := range []func(string) (*File, error){OpenFile, OpenFileUnverified} {
			if f, err := open(c.path); f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), filepath.Base(c.path)) {
				t.Errorf("%s: %v", c.path, err)
			}
		}
	}
	if os.PathSeparator == '/' && mapsFiles {
		if _, err := OpenFile("/dev/null"); !errors.Is(err, ErrParameter) {
			t.Errorf("/dev/null: %v", err)
		}
	}
	data[100] ^= 1
	path := write("flipped", data)
	if _, err := OpenFile(path); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a flipped bit: %v", err)
	}
	m, err := OpenFileUnverified(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Verify(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a flipped bit, found later: %v", err)
	}
}

// TestFileCutUnderMapping: what the library reads itself is an error, not the end of the process.
func TestFileCutUnderMapping(t *testing.T) {
	if !mapsFiles || runtime.GOOS == "windows" {
		t.Skip("a file cannot be cut under a mapping here")
	}
	path := saved(t, fullFilter(Geometry{10000, 8}))
	m, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, n := range []int64{300000, 4096, 0} {
		if err := os.Truncate(path, n); err != nil {
			t.Fatal(err)
		}
		if err := m.Verify(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

// TestSave replaces a file that is mapped, and leaves it alone after an error.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "filter")
	only := func(names ...string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, e := range entries {
			have = append(have, e.Name())
		}
		if strings.Join(have, " ") != strings.Join(names, " ") {
			t.Errorf("the directory has %q, want %q", have, names)
		}
	}
	first, second := fullFilter(Geometry{50, 8}), fullFilter(Geometry{70, 9})
	if err := first.Save(path); err != nil {
		t.Fatal(err)
	}
	only("filter")
	if runtime.GOOS != "windows" && mapsFiles {
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		m, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if err := second.Save(path); err != nil {
			t.Fatal(err)
		}
		if !sameFilter(m.View, first) {
			t.Error("the mapped file changed")
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("permissions: %v, %v", info.Mode(), err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if err := first.Save(link); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link was replaced: %v, %v", info, err)
		}
	}
	only("filter")
	for n := range 3 {
		err := save(path, func(w io.Writer) error {
			w.Write(make([]byte, n*100))
			return errFull
		})
		if !errors.Is(err, errFull) {
			t.Errorf("a failing write: %v", err)
		}
	}
	if m, err := OpenFile(path); err != nil {
		t.Error(err)
	} else {
		if !sameFilter(m.View, first) {
			t.Error("a failed Save changed the file")
		}
		m.Close()
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := first.Save(filepath.Join(dir, "sub")); err == nil {
		t.Error("a directory was replaced")
	}
	if err := first.Save(filepath.Join(dir, "missing", "filter")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if err := new(Filter).Save(path); !errors.Is(err, ErrParameter) {
		t.Errorf("a zero Filter: %v", err)
	}
	only("filter", "sub")
}

var errFull = errors.New("a disk that is full")
