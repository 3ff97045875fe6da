package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// line is a distinct line and where it stands first.
type line struct {
	text  string
	place string
	hash  uint64
}

// readLines returns the distinct lines of the .go files under root that are not empty, in the order of their hashes, which is none to a database and the same in every run. For a smoke test it
// stops early.
func readLines(ctx context.Context, root string, smoke bool) ([]line, error) {
	// In some distributions GOROOT/src is a symbolic link, which WalkDir would not follow.
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	var paths []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".go") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if smoke {
		paths = paths[:min(len(paths), 300)]
	}
	bar := newBar("reading Go files", len(paths))
	seen := map[string]struct{}{}
	var lines []line
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(path, root+string(filepath.Separator))
		number := 0
		for text := range bytes.Lines(data) {
			number++
			text = bytes.TrimRight(text, "\r\n")
			if len(text) == 0 {
				continue
			}
			if _, ok := seen[string(text)]; !ok {
				s := string(text)
				seen[s] = struct{}{}
				lines = append(lines, line{s, fmt.Sprintf("%s:%d", name, number), hash(text)})
			}
		}
		bar.add(1)
	}
	bar.done()
	slices.SortFunc(lines, func(a, b line) int {
		if a.hash != b.hash {
			if a.hash < b.hash {
				return -1
			}
			return 1
		}
		return strings.Compare(a.text, b.text)
	})
	return lines, nil
}

// hash has nothing in common with the filters'.
func hash(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b)
	x := h.Sum64() // its low bits are poor
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// halves parts the lines by a bit of their hashes.
func halves(lines []line) (stored, held []line) {
	for _, l := range lines {
		if l.hash&1 == 0 {
			stored = append(stored, l)
		} else {
			held = append(held, l)
		}
	}
	return stored, held
}
