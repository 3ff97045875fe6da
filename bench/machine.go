package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// describe returns the header of a run that starts now.
func describe(m Mode, command string) Header {
	h := Header{
		Type: "run", Mode: m.Name, Rounds: m.Rounds,
		Command: strings.TrimSpace(command), Date: time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		CPU: cpuid.CPU.BrandName, CPUs: runtime.NumCPU(), Caches: caches(),
		OS: osName(), Release: osRelease(), Arch: runtime.GOARCH, Go: runtime.Version(),
		Modules: make(map[string]string), Pages: pageSetting(), Memory: memoryBytes(),
	}
	if h.CPU == "" {
		h.CPU = "unknown " + runtime.GOARCH
	}
	// What the brand name leaves out in virtual machines.
	if cpuid.CPU.Family > 0 {
		h.CPU += ", family " + itoa(cpuid.CPU.Family) + " model " + itoa(cpuid.CPU.Model)
	}
	h.Kernels = workingKernels()
	h.Kernel = h.Kernels[0]
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			h.Modules[d.Path] = d.Version
		}
	}
	if out, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		h.Commit = strings.TrimSpace(string(out))
	}
	return h
}

// caches lists the caches of the first processor as Linux tells them.
func caches() string {
	var all []string
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	for _, d := range dirs {
		kind, level := readLine(d+"/type"), readLine(d+"/level")
		if size := readLine(d + "/size"); size != "" && kind != "Instruction" {
			all = append(all, "L"+level+" "+size)
		}
	}
	return strings.Join(all, ", ")
}

func osName() string {
	for _, line := range strings.Split(readAll("/etc/os-release"), "\n") {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return runtime.GOOS + " (" + strings.Trim(name, `"`) + ")"
		}
	}
	return runtime.GOOS
}

func osRelease() string { return readLine("/proc/sys/kernel/osrelease") }

// pageSetting tells how Linux gives out huge pages: the word in brackets.
func pageSetting() string {
	text := readLine("/sys/kernel/mm/transparent_hugepage/enabled")
	if from, to := strings.Index(text, "["), strings.Index(text, "]"); from >= 0 && to > from {
		return text[from+1 : to]
	}
	return ""
}

func memoryBytes() uint64 {
	for _, line := range strings.Split(readAll("/proc/meminfo"), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			return atoi(f[1]) << 10
		}
	}
	return 0
}

func readAll(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

func readLine(path string) string {
	line, _, _ := strings.Cut(readAll(path), "\n")
	return line
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}
