//go:build !linux

package blocked

func adviseHuge([]byte) {}

func hugeBytesOf([]byte) (n uint64, known bool) { return 0, false }
