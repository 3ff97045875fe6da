package blocked

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestNoAllocation: no method allocates, and what its caller has on the stack stays there.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	eachKernel(t, func(t *testing.T) {
		for _, g := range []Geometry{{100, 8}, {100, 3}, {100, 12}, {prefetchBytes / blockBytes, 8}} {
			f, err := NewGeometry(g)
			if err != nil {
				t.Fatal(err)
			}
			sel := make([]uint32, 0, 400)
			for name, do := range map[string]func(){
				"Add":               func() { var k [8]byte; f.Add(k[:]) },
				"AddString":         func() { var k [8]byte; f.AddString(string(k[:])) },
				"AddUint64":         func() { f.AddUint64(1) },
				"AddHash":           func() { f.AddHash(1) },
				"AddIfAbsent":       func() { var k [8]byte; f.AddIfAbsent(k[:]) },
				"AddIfAbsentString": func() { f.AddIfAbsentString("k") },
				"AddIfAbsentUint64": func() { f.AddIfAbsentUint64(1) },
				"MayContain":        func() { var k [300]byte; f.MayContain(k[:]) },
				"MayContainString":  func() { var k [8]byte; f.MayContainString(string(k[:])) },
				"MayContainUint64":  func() { f.MayContainUint64(1) },
				"MayContainHash":    func() { f.MayContainHash(1) },
				"AddHashes":         func() { var hs [203]uint64; f.AddHashes(hs[:]) },
				"AddKeys":           func() { var k [8]byte; ks := [203][]byte{0: k[:], 7: k[:]}; f.AddKeys(ks[:]) },
				"AddStrings":        func() { ks := [203]string{0: "a"}; f.AddStrings(ks[:]) },
				"AddUint64s":        func() { var ks [203]uint64; f.AddUint64s(ks[:]) },
				"AddIfAbsentHashes": func() { var hs [203]uint64; var dst [203]bool; f.AddIfAbsentHashes(dst[:], hs[:]) },
				"MayContainHashes":  func() { var hs [203]uint64; var dst [203]bool; f.MayContainHashes(dst[:], hs[:]) },
				"MayContainKeys":    func() { var ks [203][]byte; var dst [203]bool; f.MayContainKeys(dst[:], ks[:]) },
				"MayContainStrings": func() { var ks [203]string; var dst [203]bool; f.MayContainStrings(dst[:], ks[:]) },
				"MayContainUint64s": func() { var ks [203]uint64; var dst [203]bool; f.MayContainUint64s(dst[:], ks[:]) },
				"SelectHashes":      func() { var hs [333]uint64; f.SelectHashes(sel, hs[:]) },
				"SelectKeys":        func() { var ks [333][]byte; f.SelectKeys(sel, ks[:]) },
				"SelectStrings":     func() { var ks [333]string; f.SelectStrings(sel, ks[:]) },
				"SelectUint64s":     func() { var ks [333]uint64; f.SelectUint64s(sel, ks[:]) },
				"Bits":              func() { _ = f.Bits()[0] },
				"Reset":             func() { f.Reset() },
				"Geometry":          func() { _ = f.Geometry() },
			} {
				if n := testing.AllocsPerRun(10, do); n != 0 {
					t.Errorf("%v: %s allocates %v times", g, name, n)
				}
			}
			c := mustConcurrent(t, g)
			for name, do := range map[string]func(){
				"Add":               func() { var k [8]byte; c.Add(k[:]) },
				"AddUint64":         func() { c.AddUint64(1) },
				"AddIfAbsentString": func() { c.AddIfAbsentString("k") },
				"MayContain":        func() { var k [300]byte; c.MayContain(k[:]) },
				"AddHashes":         func() { var hs [203]uint64; c.AddHashes(hs[:]) },
				"AddKeys":           func() { var k [8]byte; ks := [203][]byte{0: k[:], 7: k[:]}; c.AddKeys(ks[:]) },
				"AddStrings":        func() { ks := [203]string{0: "a"}; c.AddStrings(ks[:]) },
				"AddUint64s":        func() { var ks [203]uint64; c.AddUint64s(ks[:]) },
				"AddIfAbsentHashes": func() { var hs [203]uint64; var dst [203]bool; c.AddIfAbsentHashes(dst[:], hs[:]) },
				"MayContainHashes":  func() { var hs [203]uint64; var dst [203]bool; c.MayContainHashes(dst[:], hs[:]) },
				"MayContainUint64s": func() { var ks [203]uint64; var dst [203]bool; c.MayContainUint64s(dst[:], ks[:]) },
				"Union":             func() { c.Union(f) },
			} {
				if n := testing.AllocsPerRun(10, do); n != 0 {
					t.Errorf("%v: Concurrent: %s allocates %v times", g, name, n)
				}
			}
		}
	})
}

// TestNoAllocationShared is TestNoAllocation for the types that goroutines share.
func TestNoAllocationShared(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	eachKernel(t, func(t *testing.T) {
		for _, n := range []uint64{1000, 1 << 20} {
			c, err := NewConcurrent(n, 0.01)
			if err != nil {
				t.Fatal(err)
			}
			r := mustRotating(t, n, 0.01, 3)
			l := mustLive(t)
			mustRebuild(t, l, n, 0.01)
			type shared interface {
				Add([]byte)
				AddString(string)
				AddUint64(uint64)
				AddHash(uint64)
				AddIfAbsent([]byte) bool
				AddKeys([][]byte)
				AddStrings([]string)
				AddUint64s([]uint64)
				AddHashes([]uint64)
				AddIfAbsentHashes([]bool, []uint64)
				MayContain([]byte) bool
				MayContainHash(uint64) bool
				MayContainKeys([]bool, [][]byte)
				MayContainStrings([]bool, []string)
				MayContainUint64s([]bool, []uint64)
				MayContainHashes([]bool, []uint64)
				SelectHashes([]uint32, []uint64) []uint32
				SelectKeys([]uint32, [][]byte) []uint32
			}
			sel := make([]uint32, 0, 600)
			var key [8]byte
			keys, strs, hs, dst := make([][]byte, 300), make([]string, 300), make([]uint64, 300), make([]bool, 300)
			for _, f := range []shared{c, r, l} {
				for name, do := range map[string]func(){
					"Add":               func() { f.Add(key[:]) },
					"AddString":         func() { f.AddString("k") },
					"AddUint64":         func() { f.AddUint64(1) },
					"AddHash":           func() { f.AddHash(1) },
					"AddIfAbsent":       func() { f.AddIfAbsent(key[:]) },
					"AddKeys":           func() { f.AddKeys(keys) },
					"AddStrings":        func() { f.AddStrings(strs) },
					"AddUint64s":        func() { f.AddUint64s(hs) },
					"AddHashes":         func() { f.AddHashes(hs) },
					"AddIfAbsentHashes": func() { f.AddIfAbsentHashes(dst, hs) },
					"MayContain":        func() { f.MayContain(key[:]) },
					"MayContainHash":    func() { f.MayContainHash(1) },
					"MayContainKeys":    func() { f.MayContainKeys(dst, keys) },
					"MayContainStrings": func() { f.MayContainStrings(dst, strs) },
					"MayContainUint64s": func() { f.MayContainUint64s(dst, hs) },
					"MayContainHashes":  func() { f.MayContainHashes(dst, hs) },
					"SelectHashes":      func() { f.SelectHashes(sel, hs) },
					"SelectKeys":        func() { f.SelectKeys(sel, keys) },
				} {
					if n := testing.AllocsPerRun(10, do); n != 0 {
						t.Errorf("%T: %s allocates %v times", f, name, n)
					}
				}
			}
		}
	})
}

// TestInlining: a lookup or an add by hash is one call for its caller, and the hash of a uint64 none.
func TestInlining(t *testing.T) {
	if testing.Short() || raceEnabled || runtime.GOOS == "js" {
		t.Skip("compiles the package once more")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command here")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("go build -gcflags=-m: %v", err)
	}
	for _, method := range []string{"MayContainHash", "AddHash", "AddIfAbsentHash", "HashUint64", "Hash", "HashString"} {
		if !strings.Contains(string(out), "can inline (*Filter)."+method+"\n") {
			t.Errorf("(*Filter).%s is not inlined any more", method)
		}
	}
	for _, method := range []string{"MayContainHash", "AddHash", "AddIfAbsentHash"} {
		if !strings.Contains(string(out), "can inline (*Concurrent)."+method+"\n") {
			t.Errorf("(*Concurrent).%s is not inlined any more", method)
		}
	}
}
