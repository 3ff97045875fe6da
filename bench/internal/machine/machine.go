// Package machine says in one line what a figure was measured on.
package machine

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/blockedbloom/blocked"
	"github.com/klauspost/cpuid/v2"
)

// Line names the processor, the operating system, the Go version, the kernel of package blocked, the date and the commit.
func Line() string {
	cpu := cpuid.CPU.BrandName
	if cpu == "" {
		cpu = "unknown " + runtime.GOARCH
	}
	if cpuid.CPU.Family > 0 {
		cpu += fmt.Sprintf(", family %d model %d", cpuid.CPU.Family, cpuid.CPU.Model)
	}
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	line := fmt.Sprintf("%s, %d CPUs; %s %s; %s %s; `Kernel()` = %s; %s", cpu, runtime.NumCPU(), runtime.GOOS, strings.TrimSpace(string(release)), runtime.Version(), runtime.GOARCH,
		blocked.Kernel(), time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	if out, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		line += "; commit " + strings.TrimSpace(string(out))
	}
	return line
}
