package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/blockedbloom/blocked"
	"github.com/blockedbloom/blocked/bench/baseline"
	"github.com/blockedbloom/blocked/bench/peers"
)

// childVariable holds a childSpec in a child's environment, and makes it one.
const childVariable = "BLOCKED_BENCH_CHILD"

// A childSpec is what the parent tells a child.
type childSpec struct {
	Case  Case
	Mode  Mode
	Round int
	Best  Calibration // of the run so far
}

// errSkip is a reason why a case is not measured that is no failure of the benchmark.
var errSkip = errors.New("skipped")

// runChild measures one case and writes its Result to the standard output.
func runChild(text string) {
	if text == kernelQuestion {
		fmt.Print(blocked.Kernel())
		return
	}
	runtime.LockOSThread()
	var spec childSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		fail(err)
	}
	start := time.Now()
	s := newSampler(spec.Mode, spec.Best)
	res := Result{Type: "result", Case: spec.Case, Round: spec.Round, Kernel: blocked.Kernel()}
	var err error
	if spec.Case.Kernel != "" && blocked.Kernel() != spec.Case.Kernel {
		err = fmt.Errorf("%w: asked for the kernel %s, got %s", errSkip, spec.Case.Kernel, blocked.Kernel())
	} else {
		switch spec.Case.Kind {
		case kindFilter:
			err = measureFilter(&spec, s, &res)
		case kindLines:
			err = measureLines(&spec, s, &res)
		case kindHash:
			err = measureHash(s, &res)
		case kindSizing:
			err = measureSizing(&spec, &res)
		case kindRatios:
			err = measureRatios(&spec, s, &res)
		default:
			err = fmt.Errorf("no kind of case %q", spec.Case.Kind)
		}
	}
	if errors.Is(err, errSkip) || errors.Is(err, peers.ErrNoOption) {
		res.Skip, err = err.Error(), nil
	}
	if err != nil {
		fail(fmt.Errorf("%v: %w", spec.Case, err))
	}
	res.Calibration, res.CalibrationMedian = s.quantile(0.1), s.quantile(0.5)
	res.Seconds = time.Since(start).Seconds()
	if err := json.NewEncoder(os.Stdout).Encode(&res); err != nil {
		fail(err)
	}
}

// slowBuild is how many nanoseconds a library's first way of building may take before its other ways are only measured in the first round.
const slowBuild = 4e9

// measureFilter builds a library's filter and measures all its operations.
func measureFilter(spec *childSpec, s *sampler, res *Result) error {
	c := spec.Case
	lib, err := peers.Find(c.Library)
	if err != nil {
		return err
	}
	if lib.MaxKeys > 0 && c.N > lib.MaxKeys {
		return fmt.Errorf("%w: at most %s keys are tried: %s", errSkip, count(lib.MaxKeys), lib.Limit)
	}
	src := newKeySource(c.N, lib.HashOf, uint64(spec.Round))
	size := peers.Size{N: c.N, Rate: c.Rate, Pages: c.Pages}

	before, held := heap(), src.bytes()
	f, first, err := measureBuild(lib.Builds[0], size, s, src)
	if err != nil {
		return fmt.Errorf("%w: %v", errSkip, err)
	}
	res.Builds = append(res.Builds, first)
	res.Bytes = f.Bytes
	if f.Bytes == 0 {
		res.Bytes = heap() - before - src.bytes() + held
	}
	res.HugeBytes = f.Huge()
	large := res.Bytes > smallRun*baseline.LineBytes

	if err := findsAll(f, src, c.N); err != nil {
		return err
	}
	if !lib.Exact {
		measureRate(spec.Mode, f, src, res)
	}
	s.deadline = time.Now().Add(spec.Mode.Soft)
	for _, op := range f.Lookups {
		for _, which := range []set{absent, present, mixed} {
			if which == present && op.Input == peers.Uint64 || which == mixed && op.Input == peers.Uint64 {
				continue // the filter holds the 16-byte keys
			}
			if (op.Kind == peers.Chain || op.Kind == peers.Cores) && which == present || op.Size > smallRun/2 && !large {
				continue
			}
			res.Series = append(res.Series, s.lookups(op, which, src, large))
		}
	}
	for _, op := range f.Adds {
		if op.Size > smallRun/2 && !large {
			continue
		}
		res.Series = append(res.Series, s.lookups(op, fresh, src, large))
	}
	runtime.KeepAlive(f)
	f = nil

	for _, b := range lib.Builds[1:] {
		if spec.Round > 1 && summarize(append(first.NS, first.Disturbed...)).Min*float64(c.N) > slowBuild {
			break
		}
		_, series, err := measureBuild(b, size, s, src)
		if err != nil {
			return err
		}
		res.Builds = append(res.Builds, series)
	}
	return nil
}

// measureBuild takes the time from nothing to a filter with all its keys, without that of preparing the keys, and returns the last filter made.
func measureBuild(b peers.Build, size peers.Size, s *sampler, src *keySource) (*peers.Filter, Series, error) {
	var f *peers.Filter
	var keys *peers.Keys
	once := func() (time.Duration, error) {
		f = nil
		start := time.Now()
		add, finish, err := b.Begin(size)
		took := time.Since(start)
		if err != nil {
			return 0, err
		}
		if keys == nil {
			src.start()
		}
		for left := size.N; left > 0; {
			run := keys
			if run == nil {
				run = src.fill(inOrder, b.Input, int(min(left, maxRun)))
			}
			start = time.Now()
			add(run)
			took += time.Since(start)
			left -= uint64(run.Len())
		}
		start = time.Now()
		f, err = finish()
		return took + time.Since(start), err
	}

	r := Series{Op: b.Name + "/" + string(b.Input), Set: inOrder, Keys: int(size.N)}
	samples, times := s.samples, 1
	if size.N > 5_000_000 {
		samples = 1
	}
	if size.N <= smallRun {
		// Small filters are built several times in one sample, of keys that are prepared once.
		src.start()
		keys = src.fill(inOrder, b.Input, int(size.N))
		once()
		took, err := once()
		if err != nil {
			return nil, r, err
		}
		times = max(1, min(int(s.time/max(took, 1)), 1000))
		r.Keys *= times
	}
	started := time.Now()
	for i := 0; i < samples && (i < 2 || time.Since(started) < 25*s.time); i++ {
		runtime.GC()
		quiet := s.calibrate()
		total := time.Duration(0)
		for range times {
			took, err := once()
			if err != nil {
				return nil, r, err
			}
			total += took
		}
		quiet = s.calibrate() && quiet
		r.add(float64(total)/float64(r.Keys), quiet)
	}
	src.skip()
	return f, r, nil
}

// findsAll checks that keys of the filter are found.
func findsAll(f *peers.Filter, src *keySource, n uint64) error {
	for _, op := range f.Lookups {
		if op.Kind == peers.Batch || op.Kind == peers.Cores || op.Input == peers.Uint64 {
			continue
		}
		keys := src.fill(present, op.Input, 10_000)
		if got := op.Do(keys); got != keys.Len() {
			return fmt.Errorf("%s finds %d of %d keys that were added", op.ID(), got, keys.Len())
		}
	}
	return nil
}

// measureRate counts the positives among absent keys.
func measureRate(m Mode, f *peers.Filter, src *keySource, res *Result) {
	op := f.Lookups[0]
	started := time.Now()
	for res.Lookups < uint64(m.RateKeys) && time.Since(started) < m.RateTime {
		keys := src.fill(absent, op.Input, smallRun)
		res.Positives += uint64(op.Do(keys))
		res.Lookups += smallRun
	}
}

// heap returns the bytes of the heap that are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// measureLines measures reading a random cache line a key from an array of the size of our filter.
func measureLines(spec *childSpec, s *sampler, res *Result) error {
	c := spec.Case
	g, err := blocked.Plan(c.N, c.Rate)
	if err != nil {
		return err
	}
	mem, ok := baseline.Lines(int(g.Bytes()), c.Pages == pagesHuge)
	if c.Pages == pagesHuge && !ok {
		return fmt.Errorf("%w: no huge pages are to be had", errSkip)
	}
	res.Bytes = g.Bytes()
	res.HugeBytes = baseline.HugeBytes(mem)
	lib, err := peers.Find(peers.OursName)
	if err != nil {
		return err
	}
	src := newKeySource(c.N, lib.HashOf, uint64(spec.Round))
	large := res.Bytes > smallRun*baseline.LineBytes
	for _, op := range []peers.Op{
		{Name: "plain", Input: peers.Hash, Kind: peers.Single, Size: 1, Do: func(k *peers.Keys) int {
			sink += baseline.ReadLines(mem, k.Hashes)
			return 0
		}},
		{Name: "prefetched", Input: peers.Hash, Kind: peers.Single, Size: 1, Do: func(k *peers.Keys) int {
			sink += baseline.ReadLinesPrefetched(mem, k.Hashes)
			return 0
		}},
	} {
		res.Series = append(res.Series, s.lookups(op, absent, src, large))
	}
	return nil
}

// measureHash measures what precedes every lookup: a call, and the hash.
func measureHash(s *sampler, res *Result) error {
	lib, err := peers.Find(peers.OursName)
	if err != nil {
		return err
	}
	f, err := blocked.New(1, 0.01)
	if err != nil {
		return err
	}
	src := newKeySource(1, lib.HashOf, 0)
	for _, op := range []peers.Op{
		{Name: "empty call", Input: peers.Hash, Kind: peers.Single, Size: 1, Do: func(k *peers.Keys) int {
			baseline.Calls(k.Len())
			return 0
		}},
		{Name: "Hash", Input: peers.Key16, Kind: peers.Single, Size: 1, Do: func(k *peers.Keys) int {
			sum := uint64(0)
			for col := k.Column; len(col) >= peers.KeyBytes; col = col[peers.KeyBytes:] {
				sum += f.Hash(col[:peers.KeyBytes:peers.KeyBytes])
			}
			sink += sum
			return 0
		}},
		{Name: "HashString", Input: peers.Str16, Kind: peers.Single, Size: 1, Do: func(k *peers.Keys) int {
			sum := uint64(0)
			for _, key := range k.Strings {
				sum += f.HashString(key)
			}
			sink += sum
			return 0
		}},
		{Name: "HashUint64", Input: peers.Uint64, Kind: peers.Single, Size: 1, Do: func(k *peers.Keys) int {
			sum := uint64(0)
			for _, key := range k.Numbers {
				sum += f.HashUint64(key)
			}
			sink += sum
			return 0
		}},
	} {
		res.Series = append(res.Series, s.lookups(op, absent, src, false))
	}
	return nil
}
