package blocked_test

import (
	"fmt"
	"runtime"

	"github.com/blockedbloom/blocked"
)

func ExampleFilter_AddHash() {
	// The hash that other filters with the same seed take as well.
	f, _ := blocked.New(1000, 0.01)
	h := f.HashString("key")
	f.AddHash(h)
	fmt.Println(f.AddIfAbsentHash(h), f.MayContainHash(h), f.MayContainString("key"))
	// Output:
	// false true true
}

func ExampleFilter_AddHashes() {
	f, _ := blocked.New(1000, 0.01)
	hs := []uint64{f.HashUint64(1), f.HashUint64(2), f.HashUint64(3)}
	f.AddHashes(hs[:2])
	may := make([]bool, len(hs))
	f.MayContainHashes(may, hs)
	fmt.Println(may, f.SelectHashes(nil, hs))
	// Output:
	// [true true false] [0 1]
}

func ExampleFilter_AddKeys() {
	f, _ := blocked.New(1000, 0.01)
	f.AddKeys([][]byte{[]byte("a"), []byte("b")})
	f.AddStrings([]string{"c"})
	may := make([]bool, 4)
	f.MayContainStrings(may, []string{"a", "b", "c", "d"})
	fmt.Println(may, f.SelectStrings(nil, []string{"d", "c"}), f.SelectKeys(nil, [][]byte{[]byte("a")}))
	// Output:
	// [true true true false] [1] [0]
}

func ExampleFilter_AddUint64s() {
	f, _ := blocked.New(1000, 0.01)
	f.AddUint64s([]uint64{1, 2})
	f.AddUint64(3)
	may := make([]bool, 4)
	f.MayContainUint64s(may, []uint64{1, 2, 3, 4})
	fmt.Println(may, f.AddIfAbsentUint64(4), f.MayContainUint64(4))
	// Output:
	// [true true true false] true true
}

func ExampleFilter_AddHashesParallel() {
	f, _ := blocked.New(1_000_000, 0.01)
	hs := make([]uint64, 1_000_000)
	for i := range hs {
		hs[i] = f.HashUint64(uint64(i))
	}
	f.AddHashesParallel(hs, runtime.GOMAXPROCS(0))
	fmt.Println(f.MayContainUint64(0), f.MayContainUint64(999_999))
	// Output:
	// true true
}

func ExampleFilter_AddColumn() {
	// Country codes of two bytes each, as a column of fixed width holds them.
	f, _ := blocked.New(1000, 0.01)
	if err := f.AddColumn([]byte("DEFRIT"), 2); err != nil {
		panic(err)
	}
	may := make([]bool, 2)
	if err := f.MayContainColumn(may, []byte("FRUS"), 2); err != nil {
		panic(err)
	}
	fmt.Println(may, f.AddColumn([]byte("odd"), 2))
	// Output:
	// [true false] blocked: parameter out of range: len(buf) = 3, must be a multiple of width = 2
}

func ExampleFilter_AddBinaryColumn() {
	// Arrow's form: the strings one after the other, and where each begins and ends.
	f, _ := blocked.New(1000, 0.01)
	if err := f.AddBinaryColumn([]byte("applepear"), []int32{0, 5, 9}); err != nil {
		panic(err)
	}
	may := make([]bool, 2)
	if err := f.MayContainBinaryColumn(may, []byte("pearplum"), []int32{0, 4, 8}); err != nil {
		panic(err)
	}
	fmt.Println(may)
	// Output:
	// [true false]
}

func ExampleFilter_HugePageBytes() {
	f, _ := blocked.New(10_000, 0.01, blocked.WithoutHugePages())
	n, _ := f.HugePageBytes() // the second value: whether the system tells
	fmt.Println(n)
	// Output:
	// 0
}

func ExampleFilter_Cardinality() {
	f, _ := blocked.New(100_000, 0.01)
	for i := range uint64(50_000) {
		f.AddUint64(i)
	}
	n, saturated := f.Cardinality()
	fmt.Println(n > 49_000 && n < 51_000, saturated, f.Fill() > 0.2 && f.Fill() < 0.5, f.FalsePositiveRate() < 0.01)
	// Output:
	// true false true true
}

func ExampleFilter_View() {
	f, _ := blocked.New(1000, 0.01)
	f.AddString("a")
	v := f.View() // a small value with the lookups alone
	fmt.Println(v.MayContainString("a"), v.MayContainString("b"), blocked.View{}.MayContainString("b"))
	// Output:
	// true false true
}

func ExampleFilter_MarshalBinary() {
	f, _ := blocked.New(1000, 0.01, blocked.WithSeed(7))
	f.AddString("a")
	data, err := f.MarshalBinary()
	if err != nil {
		panic(err)
	}
	var g blocked.Filter
	if err := g.UnmarshalBinary(data); err != nil {
		panic(err)
	}
	data[100] ^= 1
	fmt.Println(g.MayContainString("a"), g.Seed(), g.UnmarshalBinary(data) != nil)
	// Output:
	// true 7 true
}
