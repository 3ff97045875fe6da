package blocked

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// stressTime is how long each stress test goes on: the environment variable BLOCKED_STRESS, a duration, or half a second.
func stressTime(t testing.TB) time.Duration {
	t.Helper()
	s := os.Getenv("BLOCKED_STRESS")
	if s == "" {
		return time.Second / 2
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("BLOCKED_STRESS: %v", err)
	}
	return d
}

// needsPreemption skips a test whose goroutines wait for each other in loops: on WebAssembly there is one thread, and nothing interrupts a goroutine.
func needsPreemption(t testing.TB) {
	t.Helper()
	if runtime.GOARCH == "wasm" {
		t.Skip("nothing runs at the same time here")
	}
}
