package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/blockedbloom/blocked"
)

// measure runs all cases of a mode, each in a process of its own, one at a time, in rounds: the first round of all, then the second, so that
// what changes on the machine in the meantime does not fall on one library alone. It writes the raw results to path.
func measure(m Mode, only, path, command string, interrupted <-chan os.Signal) error {
	cases := m.cases(only)
	if len(cases) == 0 {
		return fmt.Errorf("no case is called anything like %q", only)
	}
	raw, err := createRaw(path)
	if err != nil {
		return err
	}
	defer raw.f.Close()
	if err := raw.write(describe(m, command)); err != nil {
		return err
	}

	var best Calibration
	skipped := make(map[Case]bool)
	took := make(map[Case]time.Duration)
	start := time.Now()
	for round := 1; round <= m.Rounds; round++ {
		for i, c := range cases {
			if skipped[c] || c.Kind == kindSizing && round > 1 {
				continue // the search for a size is long, counts nothing in time, and rests on many positives
			}
			if round > 1 && time.Since(start)+took[c] > m.Total || round > 2 && took[c] > m.Long {
				continue // the report says how many rounds a case has
			}
			fmt.Printf("round %d of %d, case %d of %d, %s gone%s: %v\n", round, m.Rounds, i+1, len(cases), clock(time.Since(start)),
				rest(m, cases[i:], cases, round, took), c)
			began := time.Now()
			res, err := runCase(childSpec{c, m, round, best}, interrupted)
			if errors.Is(err, errInterrupted) {
				return err
			}
			took[c] = time.Since(began)
			if err != nil {
				res = &Result{Type: "result", Case: c, Round: round, Skip: err.Error()}
			}
			if res.Skip != "" {
				fmt.Println("  not measured:", res.Skip)
				skipped[c] = true
			} else {
				best.lower(res.Calibration)
			}
			if err := raw.write(res); err != nil {
				return err
			}
		}
	}
	fmt.Println("measured in", clock(time.Since(start)))
	return nil
}

// rest tells how long the rest takes, once every case has been run.
func rest(m Mode, now, all []Case, round int, took map[Case]time.Duration) string {
	if round == 1 {
		return ""
	}
	left := time.Duration(0)
	for _, c := range now {
		if c.Kind != kindSizing {
			left += took[c]
		}
	}
	for _, c := range all {
		if c.Kind != kindSizing {
			left += took[c] * time.Duration(m.Rounds-round)
		}
	}
	return ", " + clock(left) + " to go"
}

func clock(d time.Duration) string { return d.Round(time.Second).String() }

var errInterrupted = errors.New("interrupted")

// runCase runs a case in a child process. An error is a reason not to try the case again.
func runCase(spec childSpec, interrupted <-chan os.Signal) (*Result, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), spec.Mode.Limit)
	defer cancel()
	cmd, err := self(ctx, spec.Case.Kernel)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, childVariable+"="+string(text))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case <-interrupted:
		cancel()
		<-done
		return nil, errInterrupted
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("took longer than %v", spec.Mode.Limit)
	case err != nil:
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return nil, fmt.Errorf("%v: %s", err, lines[0])
	}
	var res Result
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		return nil, fmt.Errorf("what the child wrote: %w", err)
	}
	return &res, nil
}

// self returns a command that runs this program anew, with the kernel chosen.
func self(ctx context.Context, kernel string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, kernelVariable+"=") && !strings.HasPrefix(v, childVariable+"=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if kernel != "" {
		cmd.Env = append(cmd.Env, kernelVariable+"="+kernel)
	}
	return cmd, nil
}

// kernelVariable is the package's own way to choose a kernel.
const kernelVariable = "BLOCKED_KERNEL"

// workingKernels lists the kernels that work here, the one chosen by default first.
func workingKernels() []string {
	kernels := []string{blocked.Kernel()}
	for _, k := range []string{"avx512", "avx2", "neon", "generic"} {
		if k == kernels[0] {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		cmd, err := self(ctx, k)
		if err == nil {
			cmd.Env = append(cmd.Env, childVariable+"="+kernelQuestion)
			if out, err := cmd.Output(); err == nil && string(out) == k {
				kernels = append(kernels, k)
			}
		}
		cancel()
	}
	return kernels
}

// kernelQuestion makes a child say which kernel it uses, and nothing else.
const kernelQuestion = "kernel"
