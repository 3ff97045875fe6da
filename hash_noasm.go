//go:build !amd64 || purego

package blocked

import "unsafe"

func hashUint64sVector(*header, []uint64, unsafe.Pointer, uint64) int { return 0 }

func pickRangeVector(_ *header, _, _ []uint64, _, _ uint64) (done, n int) { return 0, 0 }
