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
}
