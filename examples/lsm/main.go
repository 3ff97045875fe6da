// Command lsm shows what a table filter is worth in a Pebble database: with the filter of package blocked, with Pebble's own at the same bits a key, and with none.
//
// The data are the distinct lines of this machine's Go source tree. Half of them, by their hash, are stored in three databases on disk that differ in the filter only; the other half is
// held back. Then both halves are looked up, in rounds that take the databases in turn, each with the same keys in the same order:
//
//   - by DB.Get, with the tables as they were flushed: eight in L0, one over the other, so that a key that is not there is looked for in all of them;
//   - by SeekPrefixGE of an iterator with UseL6Filters, with the database compacted into the last level, where Pebble asks filters in no other way.
//
// It needs a few hundred megabytes of disk and takes about a minute; the first time go run downloads and compiles Pebble before, which takes minutes. It removes what it wrote, also when it is
// interrupted, when the terminal or the reader of its output goes away, and when the disk is full.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

type config struct {
	bits    int
	src     string
	dir     string
	seconds float64
	smoke   bool
	fs      vfs.FS // nil is the system's
}

func main() {
	var c config
	flag.IntVar(&c.bits, "bits", 10, "bits a key of both filters, 1 to 30")
	flag.StringVar(&c.src, "src", "", "the tree whose lines are the keys (default: GOROOT/src)")
	flag.StringVar(&c.dir, "dir", "", "where to put the databases' temporary directory (default: the system's)")
	flag.Float64Var(&c.seconds, "seconds", 30, "how long to look keys up, in all")
	flag.BoolVar(&c.smoke, "smoke", false, "a small part of the tree and one second, only to see that it works")
	flag.Parse()
	if flag.NArg() > 0 || c.bits < 1 || c.bits > 30 || !(c.seconds > 0 && c.seconds <= 3600) {
		fmt.Fprintln(os.Stderr, "lsm: no arguments; -bits is 1 to 30, -seconds above 0 and at most 3600")
		flag.Usage()
		os.Exit(2)
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)   // a second interrupt ends the process at once
	signal.Ignore(syscall.SIGPIPE) // so that a write to a closed pipe is an error, not the end
	err := run(ctx, c, os.Stdout)
	switch {
	case err == nil:
	case ctx.Err() == nil:
		fmt.Fprintln(os.Stderr, "\nlsm:", err)
		os.Exit(1)
	case errors.Is(err, errLeft):
		fmt.Fprintln(os.Stderr, "\nlsm: interrupted:", err)
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "\nlsm: interrupted; nothing is left of the databases")
		os.Exit(130)
	}
}

// errLeft is the error where something could not be removed.
var errLeft = errors.New("not all of the databases is removed")

// sticky is a writer that keeps its first error.
type sticky struct {
	io.Writer
	err error
}

func (s *sticky) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.Writer.Write(b)
	if err != nil {
		s.err = fmt.Errorf("writing the report: %w", err)
	}
	return n, err
}

func run(ctx context.Context, c config, w io.Writer) (err error) {
	start := time.Now()
	out := &sticky{Writer: w}
	tree := c.src
	if c.src == "" {
		tree = "GOROOT/src"
		if c.src, err = goSource(ctx); err != nil {
			return err
		}
	}
	if c.smoke {
		c.seconds = min(c.seconds, 1)
	}
	lines, err := readLines(ctx, c.src, c.smoke)
	if err != nil {
		return err
	}
	stored, held := halves(lines)
	if min(len(stored), len(held)) < 1000 {
		return fmt.Errorf("%s has %d distinct lines of Go, too few to show anything", c.src, len(lines))
	}
	fmt.Fprintf(out, "%s distinct lines of %s: %s stored, %s held back. %d bits a key.\n",
		thousands(len(lines)), tree, thousands(len(stored)), thousands(len(held)), c.bits)
	if out.err != nil {
		return out.err
	}

	// An error in the background of a database, such as a full disk, ends the run as an interrupt does: Pebble itself would try again for ever.
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	dir, err := os.MkdirTemp(c.dir, "blocked-lsm-")
	if err != nil {
		return err
	}
	var dbs []*database
	defer func() {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // whatever it made of other steps
		}
		err = errors.Join(err, closeAll(dbs), remove(dir))
	}()
	dbs, err = openAll(dir, c, fail)
	if err != nil {
		return err
	}
	if err := fill(ctx, dbs, stored); err != nil {
		return err
	}
	if err := sizes(out, dbs, len(stored)); err != nil {
		return err
	}

	todo := newWork(stored, held)
	flushed, err := lookUp(ctx, "lookups in the tables as flushed", dbs, todo, c.seconds*0.6, byGet)
	if err != nil {
		return err
	}
	if err := report(out, fmt.Sprintf("DB.Get, %d tables one over the other", parts), dbs, flushed); err != nil {
		return err
	}
	if err := compactAll(ctx, dbs); err != nil {
		return err
	}
	last, err := lookUp(ctx, "lookups in the last level", dbs, todo, c.seconds*0.4, bySeek)
	if err != nil {
		return err
	}
	if err := report(out, "SeekPrefixGE with UseL6Filters, all in the last level", dbs, last); err != nil {
		return err
	}
	fmt.Fprint(out, legend)
	fmt.Fprintf(out, "\n%s, %s %s/%s, %s,\nfilter kernel %s, %s; %.0f seconds in all.\n", machine(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		system(), kernel(), start.UTC().Format("2006-01-02"), time.Since(start).Seconds())
	return out.err
}

// await calls do and waits for it, but not after the end of ctx: a flush to a full disk has no end. The database is stuck then.
func await(ctx context.Context, db *database, do func() error) error {
	done := make(chan error, 1)
	db.busy = done
	go func() { done <- do(); close(done) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const patience = 5 * time.Second // with a step that was given up, and with a Close

// closeAll closes databases, but for those that do not come to rest.
func closeAll(dbs []*database) error {
	done := make(chan error, len(dbs))
	for _, db := range dbs {
		go func() {
			if db.busy != nil {
				for range db.busy { // until it is closed
				}
			}
			done <- db.Close()
		}()
	}
	var err error
	late := time.After(patience)
	for range dbs {
		select {
		case e := <-done:
			err = errors.Join(err, e)
		case <-late:
			return err // the process ends; what matters is that the files go
		}
	}
	return err
}

// remove removes the databases. One that could not be closed may still make a file or two.
func remove(dir string) error {
	var err error
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%w: %w", errLeft, err)
}

// goSource finds the source tree of the Go that runs this, or else of the one that built it.
func goSource(ctx context.Context) (string, error) {
	root := os.Getenv("GOROOT")
	if root == "" {
		out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return "", fmt.Errorf("go env GOROOT: %w; name a tree of Go files with -src", err)
		}
		root = strings.TrimSpace(string(out))
	}
	src := filepath.Join(root, "src")
	if _, err := os.Stat(filepath.Join(src, "fmt")); err != nil {
		return "", fmt.Errorf("the Go installation has no source tree: %w; name a tree of Go files with -src", err)
	}
	return src, nil
}
