package blocked

import (
	"os"
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
