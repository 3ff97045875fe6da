package blocked

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"
)

// eachKernelQuietly runs do under every kernel and its variants, without subtests: for fuzz targets.
func eachKernelQuietly(do func(name string)) {
	saved := active
	defer func() { active = saved }()
	for _, id := range availableKernels() {
		for name, set := range kernelVariants(id) {
			func() {
				active = id
				defer set()()
				do(name)
			}()
		}
	}
}

// FuzzKernels compares every kernel that the machine can run with the reference: arbitrary hashes, k, N, alignment, batch lengths, and whatever was in the
// blocks before. The hashes overlap in blocks, since N is small.
func FuzzKernels(f *testing.F) {
	le := binary.LittleEndian
	f.Add(uint8(8), uint16(1), uint8(0), []byte{}, []byte{})
	f.Add(uint8(8), uint16(3), uint8(1), le.AppendUint64(nil, ^uint64(0)), []byte{0xff, 1, 2, 3})
	f.Add(uint8(1), uint16(97), uint8(63), bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 9), []byte{})
	f.Add(uint8(16), uint16(5), uint8(32), bytes.Repeat([]byte{0x80, 0, 0, 0, 0, 0, 0, 0x80, 7}, 24), bytes.Repeat([]byte{0x55}, 100))
	f.Add(uint8(12), uint16(255), uint8(8), bytes.Repeat([]byte("0123456789abcdefghijklmno"), 13), []byte{})
	f.Fuzz(func(t *testing.T, k uint8, blocks uint16, offset uint8, data, before []byte) {
		g := Geometry{Blocks: uint64(blocks%300) + 1, K: int(k%16) + 1}
		hs := make([]uint64, 0, len(data)/8)
		for ; len(data) >= 8; data = data[8:] {
			hs = append(hs, le.Uint64(data))
		}
		eachKernelQuietly(func(name string) {
			ref := reference{make([]byte, g.Bytes()), g.Blocks, g.K}
			copy(ref.bits, before)
			var hds [4]header
			var mems [4][]byte
			var checks [4]func() error
			for i := range hds {
				mems[i], checks[i] = fenced(int(g.Bytes()), int(offset%64))
				copy(mems[i], before)
				hds[i] = makeHeader(unsafe.Pointer(&mems[i][0]), g)
			}
			may, added := make([]bool, len(hs)), make([]bool, len(hs))
			hds[0].containsAll(may, hs)
			for i, h := range hs {
				if is := ref.contains(h); may[i] != is || contains(&hds[0], h) != is || containsGeneric(&hds[0], h) != is {
					t.Fatalf("%s, %v: hash %d, %#x: batch %v, one %v, reference %v", name, g, i, h, may[i], contains(&hds[0], h), is)
				}
			}
			hds[1].addAll(hs)
			hds[3].addAllIfAbsent(added, hs)
			for i, h := range hs {
				was := ref.add(h)
				add(&hds[0], h)
				if one := addIfAbsent(&hds[2], h); one != was || added[i] != was {
					t.Fatalf("%s, %v: add-if-absent of hash %d, %#x: one %v, batch %v, reference %v", name, g, i, h, one, added[i], was)
				}
			}
			for i := range mems {
				if !bytes.Equal(mems[i], ref.bits) {
					t.Fatalf("%s, %v: way %d of adding sets other bits than the reference", name, g, i)
				}
				if err := checks[i](); err != nil {
					t.Fatalf("%s, %v: way %d of adding: %v", name, g, i, err)
				}
			}
			hds[0].containsAll(may, hs)
			for i, m := range may {
				if !m || !contains(&hds[0], hs[i]) {
					t.Fatalf("%s, %v: hash %d, %#x, was added and is reported absent", name, g, i, hs[i])
				}
			}
		})
	})
}

// FuzzOperations runs a program of operations on a filter and on a map of the keys that it has, under every kernel: nothing that the map has may be reported absent, an
// add-if-absent of a key that the map has is never new, and two filters that were filled in different ways have the same bits.
func FuzzOperations(f *testing.F) {
	f.Add(uint8(7), uint8(0), uint64(0), []byte("\x00abc\x01abc\x02\x03\x04abcdef\x05\x06\x07"))
	f.Add(uint8(2), uint8(4), uint64(1<<40), []byte("\x08\x10\x03xyz\x04\x00\x05\x05\x06\x07\x01\x02\x09\x0a\x0b\x0c"))
	f.Add(uint8(15), uint8(200), ^uint64(0), bytes.Repeat([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 20))
	f.Fuzz(func(t *testing.T, k, blocks uint8, seed uint64, program []byte) {
		eachKernelQuietly(func(name string) {
			a, err := NewGeometry(Geometry{uint64(blocks) + 1, int(k%16) + 1}, WithSeed(seed))
			if err != nil {
				t.Fatal(err)
			}
			b := a.Clone()
			has := map[string]bool{}
			next := func(n int) []byte {
				n = min(n, len(program))
				p := program[:n]
				program = program[n:]
				return p
			}
			defer func(saved []byte) { program = saved }(program)
			for len(program) > 0 {
				op := next(1)[0]
				key := next(int(op>>4) + 1)
				var word [8]byte
				copy(word[:], key)
				x := binary.LittleEndian.Uint64(word[:])
				switch op & 15 {
				case 0, 1:
					a.Add(key)
					b.AddHash(b.HashString(string(key)))
					has[string(key)] = true
				case 2:
					a.AddString(string(key))
					b.AddKeys([][]byte{key})
					has[string(key)] = true
				case 3:
					a.AddUint64(x)
					b.Add(word[:])
					has[string(word[:])] = true
				case 4, 5:
					was := a.MayContain(key)
					if added := a.AddIfAbsent(key); added == was {
						t.Fatalf("%s: MayContain was %v, AddIfAbsent is %v", name, was, added)
					} else if added && has[string(key)] {
						t.Fatalf("%s: %q was there and is added as absent", name, key)
					}
					b.AddString(string(key))
					has[string(key)] = true
				case 6, 7:
					var ints []uint64
					for i := range uint64(op) {
						ints = append(ints, x+i*i)
						has[string(binary.LittleEndian.AppendUint64(nil, x+i*i))] = true
					}
					a.AddUint64s(ints)
					added := make([]bool, len(ints))
					hs := make([]uint64, len(ints))
					for i, x := range ints {
						hs[i] = b.HashUint64(x)
					}
					b.AddIfAbsentHashes(added, hs)
				case 8:
					a.Reset()
					b.Reset()
					clear(has)
				case 9:
					a = a.Clone()
				default:
					if !a.MayContain(key) && has[string(key)] {
						t.Fatalf("%s: %q was added and is reported absent", name, key)
					}
				}
			}
			if !bytes.Equal(a.Bits(), b.Bits()) {
				t.Fatalf("%s: two ways to add the same keys give other bits", name)
			}
			var keys [][]byte
			for key := range has {
				keys = append(keys, []byte(key))
			}
			may := make([]bool, len(keys))
			b.MayContainKeys(may, keys)
			for i, key := range keys {
				if !may[i] || !a.MayContain(key) {
					t.Fatalf("%s: %q was added and is reported absent", name, key)
				}
			}
			if sel := a.SelectKeys(nil, keys); len(sel) != len(keys) {
				t.Fatalf("%s: %d of %d added keys are selected", name, len(sel), len(keys))
			}
		})
	})
}
