package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tree makes a directory with Go files of n lines in all.
func tree(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	for pack := range 4 {
		var text bytes.Buffer
		for i := range n / 4 {
			fmt.Fprintf(&text, "const x%d_%d = %d\n\n", pack, i, i*i)
		}
		path := filepath.Join(dir, fmt.Sprint("p", pack), "x.go")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// left returns what is in dir.
func left(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestSymbolicLink: GOROOT/src is a link in some distributions.
func TestSymbolicLink(t *testing.T) {
	src := tree(t, 40)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(src, link); err != nil {
		t.Skip(err)
	}
	want, err1 := readLines(t.Context(), src, false)
	have, err2 := readLines(t.Context(), link, false)
	if err1 != nil || err2 != nil || len(want) != 40 || !slices.Equal(have, want) {
		t.Fatalf("%d lines, %v; by the link %d, %v", len(want), err1, len(have), err2)
	}
	if !slices.ContainsFunc(have, func(l line) bool { return l.place == filepath.Join("p3", "x.go")+":1" }) {
		t.Errorf("places as %q", have[0].place)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), config{bits: 10, src: tree(t, 20000), dir: dir, seconds: 0.2}, &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n  misses "); n != 6 || !strings.Contains(out.String(), "20,000 distinct lines") {
		t.Errorf("%d rows of misses:\n%s", n, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > 121 && !strings.Contains(line, "distinct lines of") {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
	if paths := left(t, dir); paths != nil {
		t.Errorf("left: %q", paths)
	}
}

// fullDisk has no room for tables.
type fullDisk struct{ vfs.FS }

func (f fullDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".sst") {
		return nil, &os.PathError{Op: "create", Path: name, Err: syscall.ENOSPC}
	}
	return f.FS.Create(name, category)
}

// stuckDisk makes no table and no error.
type stuckDisk struct {
	vfs.FS
	until <-chan struct{}
}

func (f stuckDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".sst") {
		<-f.until
		return nil, syscall.EIO
	}
	return f.FS.Create(name, category)
}

// closedPipe takes so many writes.
type closedPipe struct{ writes int }

func (p *closedPipe) Write(b []byte) (int, error) {
	if p.writes--; p.writes < 0 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

// TestEnds: a full disk, an interrupt and a reader that goes away all end the run soon, and leave nothing.
func TestEnds(t *testing.T) {
	src := tree(t, 20000)
	for _, c := range []struct {
		name  string
		fs    vfs.FS
		after time.Duration // to the interrupt
		out   closedPipe
		want  error
	}{
		{"full disk", fullDisk{vfs.Default}, time.Minute, closedPipe{1000}, syscall.ENOSPC},
		{"interrupt", nil, time.Second, closedPipe{1000}, context.DeadlineExceeded},
		{"interrupt of a flush that has no end", stuckDisk{vfs.Default, t.Context().Done()}, time.Second, closedPipe{1000}, context.DeadlineExceeded},
		{"closed pipe at the beginning", nil, time.Minute, closedPipe{0}, syscall.EPIPE},
		{"closed pipe", nil, time.Minute, closedPipe{5}, syscall.EPIPE},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, stuck := c.fs.(stuckDisk); stuck && runtime.GOOS == "windows" {
				t.Skip("a file that is open cannot be removed")
			}
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), c.after)
			defer cancel()
			seconds := 60.0
			if c.want == syscall.EPIPE {
				seconds = 0.1
			}
			start := time.Now()
			err := run(ctx, config{bits: 10, src: src, dir: dir, seconds: seconds, fs: c.fs}, &c.out)
			if !errors.Is(err, c.want) || errors.Is(err, errLeft) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("it took %v", d)
			}
			if paths := left(t, dir); paths != nil {
				t.Errorf("left: %q", paths)
			}
		})
	}
}
