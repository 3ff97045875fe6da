package baseline

import (
	"bufio"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func advise(mem []byte, huge bool) bool {
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	return unix.Madvise(mem, advice) == nil
}

// HugeBytes returns how many bytes of mem lie on huge pages, as the system tells it: it knows the huge pages of a whole mapping, so that the number is exact where mem
// is all of the mapping, and otherwise at most that.
func HugeBytes(mem []byte) uint64 {
	if len(mem) == 0 {
		return 0
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0
	}
	defer f.Close()
	from := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
	to := from + uint64(len(mem))
	huge, inside := uint64(0), false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		var a, b, kib uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &a, &b); n == 2 {
			inside = a < to && from < b
		} else if n, _ := fmt.Sscanf(line, "AnonHugePages: %d kB", &kib); n == 1 && inside {
			huge += kib << 10
		}
	}
	return min(huge, uint64(len(mem)))
}
