package blocked_test

import (
	"errors"
	"fmt"

	"github.com/blockedbloom/blocked"
)

func Example() {
	f, err := blocked.New(1_000_000, 0.01) // a million keys, 1% false positives
	if err != nil {
		panic(err)
	}
	f.AddString("apple")
	fmt.Println(f.MayContainString("apple"))  // certainly true
	fmt.Println(f.MayContainString("banana")) // false, or true with at most 1% of absent keys
	// Output:
	// true
	// false
}

func ExamplePlan() {
	for _, p := range []float64{0.1, 0.01, 0.001, 0.0001} {
		g, err := blocked.Plan(1_000_000, p)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-6v  %7d bytes, %5.2f bits a key, k = %d\n", p, g.Bytes(), g.BitsPerKey(1_000_000), g.K)
	}
	// Output:
	// 0.1      607168 bytes,  4.86 bits a key, k = 3
	// 0.01    1262464 bytes, 10.10 bits a key, k = 8
	// 0.001   1965632 bytes, 15.73 bits a key, k = 8
	// 0.0001  2761536 bytes, 22.09 bits a key, k = 12
}

func ExamplePlan_errors() {
	_, err := blocked.Plan(1000, 1e-9)
	fmt.Println(err)
	fmt.Println(errors.Is(err, blocked.ErrUnreachable))
	// Output:
	// blocked: parameter out of range: false positive rate not reachable: p = 1e-09, the lowest that Plan accepts, at 64 bits a key, is 1.26e-08
	// true
}

func ExamplePlanBits() {
	g, err := blocked.PlanBits(1_000_000, 12)
	if err != nil {
		panic(err)
	}
	fmt.Printf("k = %d: %.2f%%\n", g.K, 100*g.FalsePositiveRate(1_000_000))
	// Output:
	// k = 7: 0.42%
}

func ExampleGeometry_Capacity() {
	g := blocked.Geometry{Blocks: 16384, K: 8} // one MiB
	for _, p := range []float64{0.01, 0.001} {
		fmt.Printf("%v: %d keys\n", p, g.Capacity(p))
	}
	// Output:
	// 0.01: 830613 keys
	// 0.001: 533472 keys
}

func ExampleNewGeometry() {
	f, err := blocked.NewGeometry(blocked.Geometry{Blocks: 1024, K: 8})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(f.Bits()), f.Geometry())
	// Output:
	// 65536 {1024 8}
}

func ExampleWithSeed() {
	a, _ := blocked.New(1000, 0.01)
	b, _ := blocked.New(1000, 0.01, blocked.WithSeed(42))
	fmt.Println(a.HashString("key") == b.HashString("key"), b.Seed())
	// Output:
	// false 42
}

func ExampleWithMaxBytes() {
	_, err := blocked.New(1_000_000_000, 0.01, blocked.WithMaxBytes(100<<20))
	fmt.Println(err)
	// Output:
	// blocked: filter too large: 19725211 blocks are 1262413504 bytes, the maximum is 104857600 (WithMaxBytes)
}

func ExampleFilter_AddIfAbsent() {
	f, _ := blocked.New(1000, 0.01)
	for _, user := range []string{"ann", "bob", "ann"} {
		if f.AddIfAbsentString(user) {
			fmt.Println(user, "is certainly new")
		} else {
			fmt.Println(user, "was probably here")
		}
	}
	// Output:
	// ann is certainly new
	// bob is certainly new
	// ann was probably here
}

func ExampleFilter_MayContainHash() {
	// A key that is looked up in the filters of many tables is hashed once.
	tables := make([]*blocked.Filter, 3)
	for i := range tables {
		tables[i], _ = blocked.New(1000, 0.01)
	}
	tables[1].AddString("key")
	h := tables[0].HashString("key") // all have the same seed
	for i, t := range tables {
		if t.MayContainHash(h) {
			fmt.Println("read table", i)
		}
	}
	// Output:
	// read table 1
}

func ExampleFilter_MayContainKeys() {
	f, _ := blocked.New(1000, 0.01)
	f.AddStrings([]string{"a", "b"})
	keys := [][]byte{[]byte("a"), []byte("x"), []byte("b")}
	may := make([]bool, len(keys))
	f.MayContainKeys(may, keys)
	fmt.Println(may)
	// Output:
	// [true false true]
}

func ExampleFilter_SelectUint64s() {
	// The build side of a join, and a selection vector of the probe side's rows that are worth looking up.
	f, _ := blocked.New(1000, 0.001)
	f.AddUint64s([]uint64{10, 20, 30})
	rows := []uint64{5, 10, 15, 20, 25}
	fmt.Println(f.SelectUint64s(nil, rows))
	// Output:
	// [1 3]
}

func ExampleFilter_AddIfAbsentHashes() {
	f, _ := blocked.New(1000, 0.01)
	hs := []uint64{f.HashUint64(1), f.HashUint64(2), f.HashUint64(1)}
	added := make([]bool, len(hs))
	f.AddIfAbsentHashes(added, hs)
	fmt.Println(added)
	// Output:
	// [true true false]
}

func ExampleFilter_Clone() {
	f, _ := blocked.New(1000, 0.01)
	f.AddString("before")
	c := f.Clone()
	f.Reset()
	fmt.Println(f.MayContainString("before"), c.MayContainString("before"))
	// Output:
	// false true
}

func ExampleKernel() {
	switch blocked.Kernel() {
	case "avx512", "avx2", "neon", "generic":
		fmt.Println("one of the four")
	}
	// Output:
	// one of the four
}
