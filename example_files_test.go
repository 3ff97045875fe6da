package blocked_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/blockedbloom/blocked"
)

// The life of the filters of sorted tables: built while a table is written, stored in it, asked before it is read, and merged with another's when the tables are.
func Example_tables() {
	dir, err := os.MkdirTemp("", "tables")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	// Build. The writer learns at the end how many keys a table has. One Builder serves all tables.
	b, err := blocked.NewBuilder(0.01)
	if err != nil {
		log.Fatal(err)
	}
	table := func(name string, first, last int) string {
		b.Reset()
		for i := first; i < last; i++ {
			b.AddString(fmt.Sprintf("user-%06d", i))
		}
		block, err := b.AppendFinish(nil)
		if err != nil {
			log.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, block, 0o666); err != nil {
			log.Fatal(err)
		}
		return path
	}
	one := table("1.filter", 0, 40_000)
	two := table("2.filter", 30_000, 60_000)

	// Map and look up: most absent keys cost no read of the table.
	f, err := blocked.OpenFile(one)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println("user-000007 in table 1:", f.MayContainString("user-000007"))
	fmt.Println("user-059999 in table 1:", f.MayContainString("user-059999"))

	// Merge: when tables become one, their keys come again in order, duplicates side by side.
	b.Reset()
	for i := range 60_000 {
		b.AddString(fmt.Sprintf("user-%06d", i))
		if i >= 30_000 && i < 40_000 {
			b.AddString(fmt.Sprintf("user-%06d", i)) // table 2's
		}
	}
	merged, err := b.Filter()
	if err != nil {
		log.Fatal(err)
	}
	if err := merged.Save(filepath.Join(dir, "3.filter")); err != nil {
		log.Fatal(err)
	}
	fmt.Println("keys in the merged table:", b.Len())

	// A table that was damaged is an error, and its filter says of every key that it may be there.
	data, err := os.ReadFile(two)
	if err != nil {
		log.Fatal(err)
	}
	data[1000] ^= 1
	v, err := blocked.OpenView(data)
	fmt.Println("damage is found:", errors.Is(err, blocked.ErrCorrupt), "and no key is lost:", v.MayContainString("user-059999"))
	// Output:
	// user-000007 in table 1: true
	// user-059999 in table 1: false
	// keys in the merged table: 60000
	// damage is found: true and no key is lost: true
}

// A filter that was allocated for the most that can come is folded to what did come.
func ExampleFilter_FoldTo() {
	g, err := blocked.Plan(1_000_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	f, err := blocked.NewGeometry(g.Foldable())
	if err != nil {
		log.Fatal(err)
	}
	for i := range uint64(50_000) {
		f.AddUint64(i)
	}
	small, err := f.FoldTo(0.01)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Geometry().Bytes(), "bytes become", small.Geometry().Bytes())
	fmt.Println("rate kept:", small.FalsePositiveRate() <= 0.01)
	// Output:
	// 1310720 bytes become 65536
	// rate kept: true
}

func ExampleFilter_Fold() {
	f, _ := blocked.NewGeometry(blocked.Geometry{Blocks: 1024, K: 8})
	g, _ := blocked.NewGeometry(blocked.Geometry{Blocks: 256, K: 8})
	f.AddString("a key")
	g.AddString("a key")
	quarter, err := f.Fold(4)
	fmt.Println(bytes.Equal(quarter.Bits(), g.Bits()), err)
	// Output: true <nil>
}

// Filters of two shards become one of all their keys, though one has four times the blocks.
func ExampleFilter_Union() {
	all, _ := blocked.NewGeometry(blocked.Geometry{Blocks: 1024, K: 8})
	shard, _ := blocked.NewGeometry(blocked.Geometry{Blocks: 4096, K: 8})
	all.AddString("left")
	shard.AddString("right")
	if err := all.Union(shard); err != nil {
		log.Fatal(err)
	}
	fmt.Println(all.MayContainString("left"), all.MayContainString("right"))

	other, _ := blocked.NewGeometry(blocked.Geometry{Blocks: 1024, K: 7}, blocked.WithSeed(1))
	fmt.Println(all.Union(other))
	// Output:
	// true true
	// blocked: filters do not match: k = 8 and 7; seed = 0x0 and 0x1
}

func ExampleFilter_Intersect() {
	f, _ := blocked.New(100, 0.001)
	g, _ := blocked.New(100, 0.001)
	f.AddString("both")
	g.AddString("both")
	f.AddString("one")
	if err := f.Intersect(g); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.MayContainString("both"), f.MayContainString("one"))
	// Output: true false
}

func ExampleFilter_Stats() {
	f, _ := blocked.NewGeometry(blocked.Geometry{Blocks: 2000, K: 8})
	for i := range uint64(100_000) {
		f.AddUint64(i)
	}
	fmt.Print(f.Stats())
	// Output:
	// geometry  2000 blocks of 64 bytes, k = 8, hash XXH3-64, seed 0x0
	// bytes     128000
	// fill      0.5422
	// rate      0.009391
	// keys      about 100010
}

// A small table stores the compact form, without a header, and opens it for every lookup: the table's own checksum has been verified when it was read.
func ExampleOpenCompactUnverified() {
	b, err := blocked.NewBuilderBits(10)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 80 {
		b.Add(fmt.Append(nil, "key-", i))
	}
	block, err := b.AppendCompact(nil)
	if err != nil {
		log.Fatal(err)
	}
	v, err := blocked.OpenCompactUnverified(block, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(block), "bytes,", v.MayContain([]byte("key-79")))
	// Output: 72 bytes, true
}

// A budget gives the best rate that fits, and says so.
func ExampleNewBuilder_budget() {
	b, err := blocked.NewBuilder(0.001, blocked.WithMaxBytes(1<<20))
	if err != nil {
		log.Fatal(err)
	}
	for i := range uint64(1_000_000) {
		b.AddUint64(i)
	}
	g, err := b.Geometry()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("limited:", b.Limited())
	fmt.Printf("rate %.3f in %d bytes\n", g.FalsePositiveRate(uint64(b.Len())), g.Bytes())
	// Output:
	// limited: true
	// rate 0.020 in 1048576 bytes
}

// Several filters in one stream.
func ExampleFilter_ReadFrom() {
	var stream bytes.Buffer
	for i := range uint64(3) {
		f, _ := blocked.New(100, 0.01)
		f.AddUint64(i)
		if _, err := f.WriteTo(&stream); err != nil {
			log.Fatal(err)
		}
	}
	var f blocked.Filter
	for {
		n, err := f.ReadFrom(&stream)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n, "bytes, has 1:", f.MayContainUint64(1))
	}
	// Output:
	// 192 bytes, has 1: false
	// 192 bytes, has 1: true
	// 192 bytes, has 1: false
}
