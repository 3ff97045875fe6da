package blocked

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks for huge pages. Any refusal is as well: the memory is the same.
func adviseHuge(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

// hugeBytesOf sums what the mappings that b is in have in huge pages; of a mapping that is larger than the part of b in it, at most that part.
func hugeBytesOf(b []byte) (n uint64, known bool) {
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, false
	}
	defer file.Close()
	first := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	last := first + uint64(len(b))
	inside := uint64(0)
	for s := bufio.NewScanner(file); s.Scan(); {
		line := s.Text()
		if from, to, ok := mapping(line); ok {
			from, to = max(from, first), min(to, last)
			inside = to - min(from, to)
		} else if size, ok := strings.CutPrefix(line, "AnonHugePages:"); ok && inside > 0 {
			kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(size, "kB")), 10, 64)
			if err == nil {
				n += min(kib<<10, inside)
				known = true
			}
		}
	}
	return n, known
}

// mapping parses the first line of a mapping in smaps, "from-to permissions ...", in hexadecimal.
func mapping(line string) (from, to uint64, ok bool) {
	addresses, _, _ := strings.Cut(line, " ")
	a, b, ok := strings.Cut(addresses, "-")
	if !ok {
		return 0, 0, false
	}
	from, err := strconv.ParseUint(a, 16, 64)
	if err != nil {
		return 0, 0, false
	}
	to, err = strconv.ParseUint(b, 16, 64)
	return from, to, err == nil
}
