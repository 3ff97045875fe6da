package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/blockedbloom/blocked/bench/peers"
)

// TestMain lets the test binary be its own child, as the command is.
func TestMain(m *testing.M) {
	if spec := os.Getenv(childVariable); spec != "" {
		runChild(spec)
		return
	}
	os.Exit(m.Run())
}

// TestReport makes tables and pictures of a small committed file of raw results.
func TestReport(t *testing.T) {
	run, err := readRun("testdata/tiny.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	written, err := writeReport(run, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(written) != 5 {
		t.Errorf("wrote %v", written)
	}
	for _, path := range written {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(path) == ".png" && !bytes.HasPrefix(b, []byte("\x89PNG")) {
			t.Errorf("%s is no PNG", path)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{
		"a made-up CPU", "`smoke` run", "| **blocked** | MayContainHash |", "| parquet-go | Check |", "| cuckoofilter | Lookup |", "✗", "0, exact",
		"memory at the measured rate 0.1%", "one hash a call, L1, k = 8", "too large for a test", "k = 16",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not have %q", want)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "%!", "<no value>"} {
		if strings.Contains(text, bad) {
			t.Errorf("the report has %q", bad)
		}
	}
}

// TestTargets checks the comparison on figures made up for it.
func TestTargets(t *testing.T) {
	result := func(library, kernel string, positives uint64, ops ...Series) Result {
		return Result{
			Type: "result", Case: Case{Kind: kindFilter, Library: library, Kernel: kernel, N: 10_000, Rate: 0.01}, Bytes: 12_000,
			Lookups: 1_000_000, Positives: positives, Series: ops,
		}
	}
	ns := func(op string, x float64) Series { return Series{Op: op, Set: absent, NS: []float64{x, x, x, x, x}} }
	d := collect(&Run{Header{Kernel: "fast", Kernels: []string{"fast"}}, []Result{
		result(peers.OursName, "fast", 10_000, ns("MayContainHashes/hash/batch1024", 1), ns("MayContainHash/hash/single", 3)),
		result("parquet-go", "", 12_400, ns("Check/hash/single", 4)),
		result("arrow-go", "", 12_600, ns("CheckHash/hash/single", 2)), // too many false positives to be compared
	}})
	if got := d.targetTable(); !strings.Contains(got, "(parquet-go Check) | 4.00 | 4.5 | **no** |") {
		t.Errorf("the target table is\n%s", got)
	}
	if got := d.Losses(); got != "None in this run.\n" {
		t.Errorf("the losses are\n%s", got)
	}
}

// TestChild runs a case of each kind in a process of its own.
func TestChild(t *testing.T) {
	m := smokeMode()
	m.Samples, m.SampleTime, m.RatioRounds, m.Positives = 1, 50*time.Microsecond, 1, 50
	for _, c := range []Case{
		{Kind: kindFilter, Library: peers.OursName, N: 3000, Rate: 0.01},
		{Kind: kindFilter, Library: "map[string]", N: 3000, Rate: 0.01},
		{Kind: kindLines, N: 3000, Rate: 0.01, Pages: pagesOrdinary},
		{Kind: kindHash},
		{Kind: kindSizing, Library: "parquet-go", N: 3000, Rate: 0.01},
		{Kind: kindRatios, N: 3000},
	} {
		res, err := runCase(childSpec{Case: c, Mode: m, Round: 1}, nil)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if c.Kind != kindSizing && len(res.Series) == 0 {
			t.Errorf("%v: no series", c)
		}
		if res.Case != c || res.Skip != "" {
			t.Errorf("%v: %+v", c, res)
		}
	}
	if res, err := runCase(childSpec{Case: Case{Kind: kindFilter, Library: peers.OursName, Kernel: "none", N: 10, Rate: 0.01}, Mode: m}, nil); err != nil || res.Skip == "" {
		t.Errorf("a kernel that does not exist was measured: %v, %v", res, err)
	}
	m.Limit = time.Millisecond
	if _, err := runCase(childSpec{Case: Case{Kind: kindHash}, Mode: m}, nil); err == nil {
		t.Error("a child that takes too long is no error")
	}
}

// TestKeys checks which keys a source hands out.
func TestKeys(t *testing.T) {
	const n = 1000
	hash := func(b []byte) uint64 { return uint64(len(b)) }
	src := newKeySource(n, hash, 1)
	src.start()
	in := make(map[string]bool)
	for _, key := range src.fill(inOrder, peers.Key16, n).Slices {
		in[string(key)] = true
	}
	if len(in) != n {
		t.Fatalf("%d different keys, want %d", len(in), n)
	}
	src.skip()
	seen := make(map[string]bool)
	for range 2 {
		for _, key := range src.fill(absent, peers.Key16, n).Slices {
			if in[string(key)] || seen[string(key)] {
				t.Fatal("an absent key is present, or was there before")
			}
			seen[string(key)] = true
		}
	}
	for _, key := range src.fill(present, peers.Key16, n).Slices {
		if !in[string(key)] {
			t.Fatal("a present key is absent")
		}
	}
	both := 0
	for _, key := range src.fill(mixed, peers.Str16, n).Strings {
		if in[key] {
			both++
		}
	}
	if both < n/3 || both > 2*n/3 {
		t.Errorf("%d of %d keys of the mix are present", both, n)
	}
}

// TestRaw checks that what is written can be read.
func TestRaw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "raw.jsonl")
	raw, err := createRaw(path)
	if err != nil {
		t.Fatal(err)
	}
	res := Result{Type: "result", Case: Case{Kind: kindHash}, Series: []Series{{Op: "x", NS: []float64{1, 2}, Disturbed: []float64{3}}}}
	for _, line := range []any{describe(smokeMode(), "test"), res} {
		if err := raw.write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := raw.f.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := readRun(path)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(res)
	b, _ := json.Marshal(run.Results[0])
	if len(run.Results) != 1 || !bytes.Equal(a, b) {
		t.Errorf("read %s, want %s", b, a)
	}
	if _, err := decodeRun(strings.NewReader("")); err == nil {
		t.Error("an empty file is no error")
	}
}

func TestSummarize(t *testing.T) {
	s := summarize([]float64{5, 1, 3, 2, 4})
	if s.Min != 1 || s.Q1 != 2 || s.Median != 3 || s.Q3 != 4 || s.Max != 5 {
		t.Errorf("%+v", s)
	}
}
