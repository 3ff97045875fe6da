//go:build linux || darwin

package blocked

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns memory of n bytes that ends at the last byte before a page that must not be touched, and memory that starts right after one.
func guarded(t *testing.T, n int) (end, start []byte) {
	t.Helper()
	page := os.Getpagesize()
	whole := (n + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, whole+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("mmap: %v", err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	for _, edge := range [][]byte{m[:page], m[page+whole:]} {
		if err := syscall.Mprotect(edge, syscall.PROT_NONE); err != nil {
			t.Skipf("mprotect: %v", err)
		}
	}
	return m[page+whole-n : page+whole : page+whole], m[page : page+n : page+n]
}

// TestNothingOutsideTheSlices puts hashes, answers and blocks at the edge of unreadable pages, at every length and for filters small and large: a kernel that reads, writes or
// computes a prefetch from outside ends the process.
func TestNothingOutsideTheSlices(t *testing.T) {
	const most = 300
	g := Geometry{Blocks: prefetchBytes/blockBytes + 1}
	hsEnd, hsStart := guarded(t, 8*most)
	dstEnd, dstStart := guarded(t, most)
	blocksEnd, _ := guarded(t, int(g.Bytes()))
	r := rand.New(rand.NewPCG(21, 22))
	eachKernel(t, func(t *testing.T) {
		for _, k := range []int{1, 7, 8, 9, 15, 16} {
			for _, blocks := range []uint64{1, 3, g.Blocks} {
				clear(blocksEnd)
				n := int(blocks * blockBytes)
				mem := blocksEnd[len(blocksEnd)-n:]
				f := &Filter{header: makeHeader(unsafe.Pointer(&mem[0]), Geometry{blocks, k})}
				for n := range most + 1 {
					for side, buf := range [][2][]byte{{hsEnd[len(hsEnd)-8*n:], dstEnd[len(dstEnd)-n:]}, {hsStart[:8*n], dstStart[:n]}} {
						hs := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(buf[0]))), n)
						dst := unsafe.Slice((*bool)(unsafe.Pointer(unsafe.SliceData(buf[1]))), n)
						for i := range hs {
							hs[i] = r.Uint64()
						}
						if n > 0 {
							hs[n-1] = ^uint64(0) // the last block
						}
						what := fmt.Sprintf("k = %d, %d blocks, %d hashes, side %d", k, blocks, n, side)
						f.MayContainHashes(dst, hs)
						f.AddIfAbsentHashes(dst, hs)
						f.AddHashes(hs)
						f.MayContainHashes(dst, hs)
						f.MayContainUint64s(dst, hs)
						f.AddUint64s(hs)
						f.MayContainHashes(dst, hs)
						for i, m := range dst {
							if !m {
								t.Fatalf("%s: hash %d is reported absent", what, i)
							}
						}
					}
				}
			}
			if testing.Short() {
				break
			}
		}
	})
}
