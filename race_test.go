package blocked

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// racyPrograms use a filter as its documentation forbids.
var racyPrograms = map[string]func(f *Filter) (one, two func()){
	"add and lookup": func(f *Filter) (one, two func()) { return func() { f.AddHash(1) }, func() { f.MayContainHash(1) } },
	"add and add":    func(f *Filter) (one, two func()) { return func() { f.AddString("a") }, func() { f.AddString("a") } },
	"batch and lookup": func(f *Filter) (one, two func()) {
		return func() { f.AddHashes(make([]uint64, 20)) }, func() { f.MayContainHash(0) }
	},
	"add and batch lookup": func(f *Filter) (one, two func()) {
		return func() { f.AddHash(0) }, func() { f.MayContainHashes(make([]bool, 20), make([]uint64, 20)) }
	},
	"add if absent, twice": func(f *Filter) (one, two func()) {
		return func() { f.AddIfAbsentHash(0) }, func() { f.AddIfAbsentHash(0) }
	},
	"keys and keys": func(f *Filter) (one, two func()) {
		return func() { f.AddUint64s([]uint64{5}) }, func() { f.MayContainUint64s(make([]bool, 1), []uint64{5}) }
	},
	"add and statistics": func(f *Filter) (one, two func()) { return func() { f.AddHash(0) }, func() { f.Stats() } },
	"add and fill":       func(f *Filter) (one, two func()) { return func() { f.AddHash(0) }, func() { f.Fill() } },
	"add and copy":       func(f *Filter) (one, two func()) { return func() { f.AddHash(0) }, func() { f.Clone() } },
	"add and union into a Concurrent": func(f *Filter) (one, two func()) {
		c := newConcurrent(f.Clone())
		return func() { f.AddHash(0) }, func() { c.Union(f) }
	},
	"reset and lookup": func(f *Filter) (one, two func()) { return f.Reset, func() { f.MayContainHash(0) } },
}

// TestRacesAreReported runs each racy program in a process of its own: the race detector must see it, though it does not see assembly.
func TestRacesAreReported(t *testing.T) {
	if !raceEnabled {
		t.Skip("for the race detector")
	}
	if name := os.Getenv("BLOCKED_RACY_PROGRAM"); name != "" {
		f := mustNew(t, 1, 0.5)
		one, two := racyPrograms[name](f)
		start := make(chan bool)
		var wg sync.WaitGroup
		for _, do := range []func(){one, two} {
			wg.Go(func() { <-start; do() })
		}
		close(start)
		wg.Wait()
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	for _, id := range availableKernels() {
		for name := range racyPrograms {
			cmd := exec.Command(exe, "-test.run=^TestRacesAreReported$")
			cmd.Env = append(os.Environ(), "BLOCKED_RACY_PROGRAM="+name, "BLOCKED_KERNEL="+id.String(), "BLOCKED_WANT_KERNEL=")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "DATA RACE") {
				t.Errorf("%v: %s: the race is not reported: %v\n%s", id, name, err, out)
			}
		}
	}
}
