// Command lsm shows what a table filter is worth in a Pebble database: with the filter of package blocked, with Pebble's own at the same bits a key, and with none.
//
// The data are the distinct lines of this machine's Go source tree. Half of them, by their hash, are stored in three databases on disk that differ in the filter only; the other half is
// held back. Then both halves are looked up, in rounds that take the databases in turn, each with the same keys in the same order:
//
//   - by DB.Get, with the tables as they were flushed: eight in L0, one over the other, so that a key that is not there is looked for in all of them;
//   - by SeekPrefixGE of an iterator with UseL6Filters, with the database compacted into the last level, where Pebble asks filters in no other way.
//
// It needs no network and a few hundred megabytes, takes about a minute, and removes what it wrote, also when it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

type config struct {
	bits    int
	src     string
	dir     string
	seconds float64
	smoke   bool
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	err := run(ctx, c)
	switch {
	case err == nil:
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "\nlsm: interrupted; the databases are removed")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "\nlsm:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config) (err error) {
	start := time.Now()
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
	fmt.Printf("%d distinct lines of %s: %d stored, %d held back. %d bits a key.\n", len(lines), tree, len(stored), len(held), c.bits)

	dir, err := os.MkdirTemp(c.dir, "blocked-lsm-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dbs, err := openAll(dir, c.bits)
	if err != nil {
		return err
	}
	defer func() {
		for _, db := range dbs {
			err = errors.Join(err, db.Close())
		}
	}()
	if err := fill(ctx, dbs, stored); err != nil {
		return err
	}
	sizes(dbs, len(stored))

	w := newWork(stored, held)
	flushed, err := lookUp(ctx, "lookups in the tables as flushed", dbs, w, c.seconds*0.6, byGet)
	if err != nil {
		return err
	}
	report(fmt.Sprintf("DB.Get, %d tables one over the other", parts), dbs, flushed)
	if err := compactAll(ctx, dbs); err != nil {
		return err
	}
	last, err := lookUp(ctx, "lookups in the last level", dbs, w, c.seconds*0.4, bySeek)
	if err != nil {
		return err
	}
	report("SeekPrefixGE with UseL6Filters, all in the last level", dbs, last)
	fmt.Print(legend)
	fmt.Printf("\n%s, %s %s/%s, %s, filter kernel %s, %s; %.0f seconds in all.\n", machine(), runtime.Version(), runtime.GOOS, runtime.GOARCH, system(), kernel(), start.UTC().Format("2006-01-02"), time.Since(start).Seconds())
	return nil
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
