package blocked

import (
	"runtime"
	"testing"
	"unsafe"
)

func TestHugeInside(t *testing.T) {
	mem := make([]byte, 5*hugePage)
	for _, from := range []int{0, 1, 64, 4096, hugePage - 1, hugePage, hugePage + 1} {
		for _, n := range []int{0, 1, hugePage - 1, hugePage, hugePage + 1, 2*hugePage - 1, 2 * hugePage, 3*hugePage + 77} {
			b := mem[from : from+n]
			in := hugeInside(b)
			if len(in) == 0 {
				if n >= 2*hugePage {
					t.Errorf("%d bytes have no whole huge page inside", n)
				}
				continue
			}
			at, start := uintptr(unsafe.Pointer(&in[0])), uintptr(unsafe.Pointer(&b[0]))
			if at%hugePage != 0 || len(in)%hugePage != 0 || at < start || at+uintptr(len(in)) > start+uintptr(n) || n-len(in) >= 2*hugePage {
				t.Errorf("of %d bytes at %#x, %d at %#x are the inside", n, start, len(in), at)
			}
		}
	}
}

// TestHugePages fills a filter of 64 MiB with and without and looks what the system says. Where huge pages are off there is nothing to see.
func TestHugePages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 128 MiB")
	}
	var bytes [2]uint64
	for i, opts := range [][]Option{nil, {WithoutHugePages()}} {
		f, err := NewGeometry(Geometry{1 << 20, 8}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		b := f.Bits()
		for at := 0; at < len(b); at += 4096 {
			b[at] = 1
		}
		n, known := f.HugePageBytes()
		if known != (runtime.GOOS == "linux") && runtime.GOOS != "linux" {
			t.Errorf("known is %v", known)
		}
		if n > uint64(len(b)) {
			t.Errorf("%d of %d bytes are in huge pages", n, len(b))
		}
		bytes[i] = n
	}
	t.Logf("of 64 MiB, %d bytes are in huge pages by default, %d WithoutHugePages", bytes[0], bytes[1])
	if small := mustNew(t, 10, 0.01); small != nil {
		if n, _ := small.HugePageBytes(); n > uint64(len(small.Bits())) {
			t.Errorf("a block has %d bytes in huge pages", n)
		}
	}
	if n, _ := (&Filter{}).HugePageBytes(); n != 0 {
		t.Errorf("a zero Filter has %d bytes in huge pages", n)
	}
}
