//go:build race

package blocked

import (
	"runtime"
	"unsafe"
)

// The race detector does not see what assembly reads and writes. These tell it.

const raceEnabled = true

func raceRead(p unsafe.Pointer, n int) {
	if n > 0 {
		runtime.RaceReadRange(p, n)
	}
}

func raceWrite(p unsafe.Pointer, n int) {
	if n > 0 {
		runtime.RaceWriteRange(p, n)
	}
}
