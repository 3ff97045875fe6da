//go:build !linux

package baseline

func advise(mem []byte, huge bool) bool { return false }

// HugeBytes returns 0: the system does not tell.
func HugeBytes(mem []byte) uint64 { return 0 }
