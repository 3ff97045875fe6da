package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The raw results are lines of JSON: a Header, then a Result for each case and round. See README.md for what is in them.

// A Header says what was run, where and when.
type Header struct {
	Type    string            `json:"type"` // "run"
	Mode    string            `json:"mode"`
	Command string            `json:"command"`
	Date    string            `json:"date"`
	CPU     string            `json:"cpu"`
	CPUs    int               `json:"cpus"`
	Caches  string            `json:"caches,omitempty"`
	OS      string            `json:"os"`
	Release string            `json:"release,omitempty"` // of the operating system's kernel
	Arch    string            `json:"arch"`
	Go      string            `json:"go"`
	Kernel  string            `json:"kernel"`  // blocked.Kernel() by default
	Kernels []string          `json:"kernels"` // all that work here
	Pages   string            `json:"pages,omitempty"`
	Memory  uint64            `json:"memory,omitempty"`
	Modules map[string]string `json:"modules"` // and their versions
	Commit  string            `json:"commit,omitempty"`
	Rounds  int               `json:"rounds"`
}

// A Result is what one child measured.
type Result struct {
	Type   string `json:"type"` // "result"
	Case   Case   `json:"case"`
	Round  int    `json:"round"`
	Kernel string `json:"kernel,omitempty"` // blocked.Kernel() in the child
	// Skip says why the case was not measured.
	Skip string `json:"skip,omitempty"`

	Bytes     uint64  `json:"bytes,omitempty"`
	HugeBytes uint64  `json:"huge_bytes,omitempty"` // of Bytes, where the system tells
	Lookups   uint64  `json:"lookups,omitempty"`    // of absent keys, for the rate
	Positives uint64  `json:"positives,omitempty"`
	Bits      float64 `json:"bits,omitempty"` // a key, at the rate of a sizing case

	Series []Series `json:"series,omitempty"`
	Builds []Series `json:"builds,omitempty"`
	// Calibration is the tenth part from below of the child's calibrations, CalibrationMedian their median.
	Calibration       Calibration `json:"calibration"`
	CalibrationMedian Calibration `json:"calibration_median"`
	Seconds           float64     `json:"seconds,omitempty"`
}

// A Run is the contents of a file of raw results.
type Run struct {
	Header  Header
	Results []Result
}

func readRun(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	run, err := decodeRun(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return run, nil
}

func decodeRun(r io.Reader) (*Run, error) {
	var run Run
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			if err := json.Unmarshal(lines.Bytes(), &run.Header); err != nil {
				return nil, fmt.Errorf("line 1: %w", err)
			}
			if run.Header.Type != "run" {
				return nil, fmt.Errorf("line 1 is no header of a run")
			}
			continue
		}
		var res Result
		if err := json.Unmarshal(lines.Bytes(), &res); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		run.Results = append(run.Results, res)
	}
	if run.Header.Type == "" && lines.Err() == nil {
		return nil, fmt.Errorf("empty")
	}
	return &run, lines.Err()
}

// A rawFile is where a run's lines are written as they come.
type rawFile struct {
	f *os.File
}

func createRaw(path string) (*rawFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	return &rawFile{f}, err
}

func (r *rawFile) write(line any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = r.f.Write(append(b, '\n'))
	return err
}
