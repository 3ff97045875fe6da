package baseline

import (
	"math/bits"
	"testing"
)

func TestReadLines(t *testing.T) {
	const lines = 77
	mem, _ := Lines(lines*LineBytes, true)
	for i := range mem {
		mem[i] = byte(i * i >> 3)
	}
	for _, n := range []int{0, 1, 3, 4, 5, 127, 128, 129, 131, 132, 133, 260, 1000} {
		hashes := make([]uint64, n)
		want := uint64(0)
		for i := range hashes {
			hashes[i] = uint64(i+1) * 0x9e3779b97f4a7c15
			line, _ := bits.Mul64(hashes[i], lines)
			for j := range 8 {
				want += uint64(mem[line*LineBytes+uint64(j)]) << (8 * j)
			}
		}
		if got := ReadLines(mem, hashes); got != want {
			t.Errorf("ReadLines of %d keys: %#x, want %#x", n, got, want)
		}
		if got := ReadLinesPrefetched(mem, hashes); got != want {
			t.Errorf("ReadLinesPrefetched of %d keys: %#x, want %#x", n, got, want)
		}
	}
}
