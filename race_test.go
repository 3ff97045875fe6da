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
	"add and union into a Filter": func(f *Filter) (one, two func()) {
		g := f.Clone()
		return func() { f.AddHash(0) }, func() { g.Union(f) }
	},
	"add if absent, in batches": func(f *Filter) (one, two func()) {
		do := func() { f.AddIfAbsentHashes(make([]bool, 9), make([]uint64, 9)) }
		return do, do
	},
	"add in parallel and lookup": func(f *Filter) (one, two func()) {
		return func() { f.AddHashesParallel(make([]uint64, 20), 2) }, func() { f.MayContainHash(0) }
	},
	"add and selection": func(f *Filter) (one, two func()) {
		return func() { f.AddHash(0) }, func() { f.SelectHashes(nil, make([]uint64, 9)) }
	},
	"add and cardinality":         func(f *Filter) (one, two func()) { return func() { f.AddHash(0) }, func() { f.Cardinality() } },
	"add and rate":                func(f *Filter) (one, two func()) { return func() { f.AddHash(0) }, func() { f.FalsePositiveRate() } },
	"add and fold":                func(f *Filter) (one, two func()) { return func() { f.AddHash(0) }, func() { f.Fold(1) } },
	"add and container":           func(f *Filter) (one, two func()) { return func() { f.AddHash(0) }, func() { f.MarshalBinary() } },
	"bytes and view":              racyView(func(v View) { v.MayContainHash(0) }),
	"bytes and view, in batches":  racyView(func(v View) { v.MayContainHashes(make([]bool, 9), make([]uint64, 9)) }),
	"bytes and view's statistics": racyView(func(v View) { v.Stats() }),
	"a Concurrent's answers": func(f *Filter) (one, two func()) {
		c := newConcurrent(f.Clone())
		may := make([]bool, 9)
		return func() { c.AddIfAbsentHashes(may, make([]uint64, 9)) }, func() { c.MayContainHashes(may, make([]uint64, 9)) }
	},
	"reset and lookup": func(f *Filter) (one, two func()) { return f.Reset, func() { f.MayContainHash(0) } },
}

// racyView writes to bytes while a view of them is asked.
func racyView(ask func(v View)) func(f *Filter) (one, two func()) {
	return func(f *Filter) (one, two func()) {
		data, err := f.MarshalBinary()
		if err != nil {
			panic(err)
		}
		v, err := OpenView(data)
		if err != nil {
			panic(err)
		}
		return func() { data[headerBytes]++ }, func() { ask(v) }
	}
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
			// On a machine with much else to do a race was once not reported: there are three chances.
			var out []byte
			var err error
			for try := 0; try < 3 && err == nil; try++ {
				cmd := exec.Command(exe, "-test.run=^TestRacesAreReported$")
				cmd.Env = append(os.Environ(), "BLOCKED_RACY_PROGRAM="+name, "BLOCKED_KERNEL="+id.String(), "BLOCKED_WANT_KERNEL=")
				out, err = cmd.CombinedOutput()
			}
			if err == nil || !strings.Contains(string(out), "DATA RACE") {
				t.Errorf("%v: %s: the race is not reported: %v\n%s", id, name, err, out)
			}
		}
	}
}
