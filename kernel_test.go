package blocked

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"unsafe"
)

// eachKernel runs test under every kernel that this machine can run, and puts the choice back.
func eachKernel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	saved := active
	defer func() { active = saved }()
	for _, id := range availableKernels() {
		for name, set := range kernelVariants(id) {
			t.Run(name, func(t *testing.T) {
				active = id
				defer set()()
				test(t)
			})
		}
	}
}

// TestWantedKernel fails a run that was meant to test another kernel than the one in use.
func TestWantedKernel(t *testing.T) {
	want := os.Getenv("BLOCKED_WANT_KERNEL")
	if want == "" {
		t.Skip("BLOCKED_WANT_KERNEL names no kernel")
	}
	if Kernel() != want {
		t.Fatalf("Kernel() = %q, BLOCKED_WANT_KERNEL = %q", Kernel(), want)
	}
}

func TestChooseKernel(t *testing.T) {
	all := []kernelID{kernelAVX512, kernelAVX2, kernelGeneric}
	for want, got := range map[string]kernelID{
		"": kernelAVX512, "avx2": kernelAVX2, "generic": kernelGeneric, "avx512": kernelAVX512,
		"neon": kernelAVX512, "AVX2": kernelAVX512, "sse": kernelAVX512, "generic ": kernelAVX512,
	} {
		if id := chooseKernel(all, want); id != got {
			t.Errorf("chooseKernel(all, %q) = %v, want %v", want, id, got)
		}
	}
	if id := chooseKernel([]kernelID{kernelGeneric}, "avx2"); id != kernelGeneric {
		t.Errorf("a kernel that the machine has not was chosen: %v", id)
	}
}

// reference is the layout once more, as the specification says it and nothing else: bit by bit, without the kernels' code.
type reference struct {
	bits   []byte
	blocks uint64
	k      int
}

func (r reference) probes(h uint64) (at [][2]uint64) { // byte offset, bit
	i, _ := mul64(h, r.blocks)
	hi, g1 := mul64(h, 0x9E3779B97F4A7C15)
	g2 := (g1 ^ g1>>32) * 0xC2B2AE3D27D4EB4F
	probe := func(g, lane uint64) {
		bit := g >> (8 * lane) & 63
		at = append(at, [2]uint64{i*64 + lane*8 + bit/8, bit % 8})
	}
	first := hi % 8
	if r.k <= 8 {
		for t := range uint64(r.k) {
			probe(g1, (first+t)%8)
		}
		return at
	}
	for lane := range uint64(8) {
		probe(g1, lane)
	}
	for t := range uint64(r.k - 8) {
		probe(g2, (first+t)%8)
	}
	return at
}

// mul64 is the 64x64 multiply by halves, so as not to depend on math/bits.
func mul64(x, y uint64) (hi, lo uint64) {
	x0, x1, y0, y1 := x&0xffffffff, x>>32, y&0xffffffff, y>>32
	mid := x1*y0 + x0*y0>>32
	mid2 := x0*y1 + mid&0xffffffff
	return x1*y1 + mid>>32 + mid2>>32, x * y
}

func (r reference) contains(h uint64) bool {
	for _, p := range r.probes(h) {
		if r.bits[p[0]]>>p[1]&1 == 0 {
			return false
		}
	}
	return true
}

func (r reference) add(h uint64) (added bool) {
	added = !r.contains(h)
	for _, p := range r.probes(h) {
		r.bits[p[0]] |= 1 << p[1]
	}
	return added
}

// fenced returns n bytes at the given offset from a cache line, with a pattern on both sides, and a check that the pattern is whole.
func fenced(n, offset int) (b []byte, check func() error) {
	const fence = 192
	mem := alignedBytes(n + offset + 2*fence)
	for i := range mem {
		mem[i] = byte(i*7 + 3)
	}
	b = mem[fence+offset : fence+offset+n]
	clear(b)
	return b, func() error {
		for i, c := range mem {
			if (i < fence+offset || i >= fence+offset+n) && c != byte(i*7+3) {
				return fmt.Errorf("byte %d of memory that is not the filter's was written", i-fence-offset)
			}
		}
		return nil
	}
}

// hashesFor makes n hashes that fall often on the same blocks and on the first and last ones, with repetitions.
func hashesFor(r *rand.Rand, n int) []uint64 {
	hs := make([]uint64, n)
	for i := range hs {
		switch r.IntN(8) {
		case 0:
			hs[i] = uint64(r.IntN(16)) // block 0
		case 1:
			hs[i] = ^uint64(r.IntN(16)) // the last block
		case 2:
			hs[i] = hs[r.IntN(i+1)]
		case 3:
			if i > 0 { // most likely the block of the key before, other bits
				hs[i] = hs[i-1] + uint64(r.IntN(1000))
			}
		default:
			hs[i] = r.Uint64()
		}
	}
	return hs
}

// TestKernels compares every kernel with the reference: whole bit arrays, fences, answers.
func TestKernels(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for k := 1; k <= 16; k++ {
			for _, blocks := range []uint64{1, 2, 3, 7, 97, 1023, 20000} {
				for _, n := range []int{1, 7, 8, 9, 31, 32, 33, 128, 136, 200, 333, 520} {
					checkKernel(t, Geometry{blocks, k}, hashesFor(r, n), r.IntN(64))
				}
				if testing.Short() && blocks > 97 {
					break
				}
			}
		}
	})
}

func checkKernel(t *testing.T, g Geometry, hs []uint64, offset int) {
	t.Helper()
	fail := func(what string, err error) {
		t.Helper()
		t.Fatalf("%s: %v (k %d, blocks %d, %d hashes, offset %d)", what, err, g.K, g.Blocks, len(hs), offset)
	}
	ref := reference{make([]byte, g.Bytes()), g.Blocks, g.K}
	var hds [4]header
	var mems [4][]byte
	var checks [4]func() error
	for i := range hds {
		mems[i], checks[i] = fenced(int(g.Bytes()), offset)
		hds[i] = makeHeader(unsafe.Pointer(&mems[i][0]), g)
	}
	// A filter that is half full: the second half of the hashes, and some more, stay out.
	half := hs[:(len(hs)+1)/2]
	added := make([]bool, len(half)+2)
	added[len(half)] = true
	hds[1].addAll(half)
	hds[3].addAllIfAbsent(added[:len(half)], half)
	for i, h := range half {
		was := ref.add(h)
		add(&hds[0], h)
		if got := addIfAbsent(&hds[2], h); got != was {
			fail(fmt.Sprintf("addIfAbsent of hash %d, %#x", i, h), fmt.Errorf("%v, want %v", got, was))
		}
		if added[i] != was {
			fail(fmt.Sprintf("batch add-if-absent of hash %d, %#x", i, h), fmt.Errorf("%v, want %v", added[i], was))
		}
	}
	if !added[len(half)] || added[len(half)+1] {
		fail("batch add-if-absent", fmt.Errorf("wrote behind its answers"))
	}
	for i, what := range []string{"add", "batch add", "add-if-absent", "batch add-if-absent"} {
		if !bytes.Equal(mems[i], ref.bits) {
			fail(what, fmt.Errorf("other bits than the reference's"))
		}
		if err := checks[i](); err != nil {
			fail(what, err)
		}
	}
	asked := append(slices.Clone(hs), hs[0], hs[0]^1<<40, ^hs[0])
	may := make([]bool, len(asked)+2)
	may[len(asked)] = true
	f := &Filter{header: hds[0]}
	f.MayContainHashes(may, asked)
	var want []uint32
	for i, h := range asked {
		is := ref.contains(h)
		if got := contains(&hds[0], h); got != is {
			fail(fmt.Sprintf("contains of hash %d, %#x", i, h), fmt.Errorf("%v, want %v", got, is))
		}
		if got := containsGeneric(&hds[0], h); got != is {
			fail(fmt.Sprintf("containsGeneric of hash %d, %#x", i, h), fmt.Errorf("%v, want %v", got, is))
		}
		if may[i] != is || *(*byte)(unsafe.Pointer(&may[i])) > 1 {
			fail(fmt.Sprintf("batch contains of hash %d, %#x", i, h), fmt.Errorf("%v, want %v", may[i], is))
		}
		if is {
			want = append(want, uint32(i))
		}
	}
	if !may[len(asked)] || may[len(asked)+1] {
		fail("batch contains", fmt.Errorf("wrote behind its answers"))
	}
	if n := len(asked) &^ (batchWidth - 1); n > prefetchWindow { // fetching ahead, which so small a filter would not do
		clear(may)
		containsBatch(&hds[0], &may[0], &asked[0], n, n-prefetchWindow)
		for i, h := range asked[:n] {
			if may[i] != ref.contains(h) {
				fail(fmt.Sprintf("batch contains, ahead, of hash %d, %#x", i, h), fmt.Errorf("%v", may[i]))
			}
		}
		mem, check := fenced(int(g.Bytes()), offset)
		hd := makeHeader(unsafe.Pointer(&mem[0]), g)
		n = len(half) &^ (batchWidth - 1)
		addBatch(&hd, &half[0], n, max(0, n-prefetchWindow))
		for _, h := range half[n:] {
			add(&hd, h)
		}
		if err := check(); err != nil || !bytes.Equal(mem, ref.bits) {
			fail("batch add, ahead", fmt.Errorf("other bits than the reference's, or: %v", err))
		}
	}
	if got := f.SelectHashes(nil, asked); !slices.Equal(got, want) {
		fail("select", fmt.Errorf("%v, want %v", got, want))
	}
	if !bytes.Equal(mems[0], ref.bits) {
		fail("a lookup", fmt.Errorf("changed bits"))
	}
}

// TestKernelEveryLane adds one key at a time to an empty block and takes away one of its bits at a time: a kernel that forgets a lane is found out.
func TestKernelEveryLane(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for k := 1; k <= 16; k++ {
			for range 200 {
				h := r.Uint64()
				ref := reference{make([]byte, 64), 1, k}
				ref.add(h)
				mem := alignedBytes(64)
				hd := makeHeader(unsafe.Pointer(&mem[0]), Geometry{1, k})
				hs := make([]uint64, 8)
				for i := range hs {
					hs[i] = r.Uint64()
				}
				place := r.IntN(8)
				hs[place] = h
				for _, p := range ref.probes(h) {
					copy(mem, ref.bits)
					mem[p[0]] &^= 1 << p[1]
					var may, added [8]bool
					hd.containsAll(may[:], hs)
					if contains(&hd, h) || may[place] {
						t.Fatalf("k = %d: %#x is contained without its bit %d of byte %d", k, h, p[1], p[0])
					}
					if !addIfAbsent(&hd, h) || !bytes.Equal(mem, ref.bits) {
						t.Fatalf("k = %d: add-if-absent of %#x without its bit %d of byte %d", k, h, p[1], p[0])
					}
					mem[p[0]] &^= 1 << p[1]
					hd.addAllIfAbsent(added[:1], hs[place:place+1])
					if !added[0] || !bytes.Equal(mem, ref.bits) {
						t.Fatalf("k = %d: batch add-if-absent of %#x without its bit %d of byte %d", k, h, p[1], p[0])
					}
				}
				for i := range mem { // every bit but the key's
					mem[i] = ^ref.bits[i]
				}
				if contains(&hd, h) {
					t.Fatalf("k = %d: %#x is contained in the complement of its bits", k, h)
				}
			}
		}
	})
}

// TestOffsets looks up at every offset of a filter's memory from a cache line.
func TestOffsets(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for offset := range 64 {
			for _, k := range []int{3, 8, 13} {
				checkKernel(t, Geometry{13, k}, hashesFor(r, 75), offset)
			}
		}
	})
}

// TestPrefetchedBatches goes through the kernels' part that fetches ahead, which filters below a megabyte do not take.
func TestPrefetchedBatches(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		g := Geometry{prefetchBytes/blockBytes + 5, 0}
		for _, k := range []int{5, 8, 11, 16} {
			g.K = k
			ref := reference{make([]byte, g.Bytes()), g.Blocks, k}
			f, err := NewGeometry(g)
			if err != nil {
				t.Fatal(err)
			}
			f2 := f.Clone()
			for _, n := range []int{1, 8, 100, 127, 128, 129, 135, 136, 137, 256, 257, 384, 1000, 1023, kernelPart, 2*kernelPart + 77} {
				hs := hashesFor(r, n)
				added := make([]bool, n)
				f.AddHashes(hs)
				f2.AddIfAbsentHashes(added, hs)
				for i, h := range hs {
					if was := ref.add(h); was != added[i] {
						t.Fatalf("k = %d, n = %d: added[%d] = %v, want %v", k, n, i, added[i], was)
					}
				}
				for i := range hs {
					if i%3 == 0 {
						hs[i] = r.Uint64()
					}
				}
				may := make([]bool, n)
				f.MayContainHashes(may, hs)
				var want []uint32
				for i, h := range hs {
					if may[i] != ref.contains(h) {
						t.Fatalf("k = %d, n = %d: may[%d] = %v", k, n, i, may[i])
					}
					if may[i] {
						want = append(want, uint32(i))
					}
				}
				if got := f.SelectHashes(nil, hs); !slices.Equal(got, want) {
					t.Fatalf("k = %d, n = %d: selected %v, want %v", k, n, got, want)
				}
			}
			if !bytes.Equal(f.Bits(), ref.bits) || !bytes.Equal(f2.Bits(), ref.bits) {
				t.Fatalf("k = %d: other bits than the reference's", k)
			}
		}
	})
}
