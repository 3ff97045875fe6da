package blocked_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/blockedbloom/blocked"
)

// Nobody knows how many users will come. The filter starts small, and keeps its rate as it grows.
func ExampleNewGrowing() {
	g, err := blocked.NewGrowing(1000, 0.01, blocked.WithExpansion(4), blocked.WithMaxBytes(1<<20))
	if err != nil {
		log.Fatal(err)
	}
	for i := range 100_000 {
		if err := g.AddString(fmt.Sprintf("user-%d", i)); err != nil {
			log.Fatal(err) // blocked.ErrFull: the megabyte is used up
		}
	}
	fmt.Println(g.MayContainString("user-0"), g.MayContainString("user-99999"), g.MayContainString("user-100009"))
	i := g.Info()
	fmt.Println(i.Layers, "layers for", i.Capacity, "keys")
	fmt.Printf("at most %.2f%% false positives, %.2f%% now\n", 100*i.Rate, 100*g.FalsePositiveRate())
	// Output:
	// true true false
	// 5 layers for 341000 keys
	// at most 1.00% false positives, 0.63% now
}

// A filter that must not grow says when it is full, and a batch says how far it came.
func ExampleGrowing_AddStrings() {
	g, err := blocked.NewGrowing(3, 0.001, blocked.WithNonScaling())
	if err != nil {
		log.Fatal(err)
	}
	keys := []string{"a", "b", "a", "c", "b", "d", "e"}
	n, err := g.AddStrings(keys)
	fmt.Println(n, "went in, then:", errors.Is(err, blocked.ErrFull), "at", keys[n])
	added, err := g.AddIfAbsentString("a") // known keys still answer
	fmt.Println(added, err)
	// Output:
	// 5 went in, then: true at d
	// false <nil>
}

// Saved and loaded, a filter goes on where it was.
func ExampleLoadGrowing() {
	dir, err := os.MkdirTemp("", "growing")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "seen.filter")

	g, err := blocked.NewGrowing(100, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	for i := range uint64(250) {
		g.AddUint64(i)
	}
	if err := g.Save(path); err != nil {
		log.Fatal(err)
	}

	g, err = blocked.LoadGrowing(path, blocked.WithMaxBytes(64<<20))
	if err != nil {
		log.Fatal(err)
	}
	n, err := g.AddUint64s([]uint64{5, 1005, 2005})
	fmt.Println(n, err, g.Info().Layers, "layers,", g.Card(), "keys")
	// Output:
	// 3 <nil> 2 layers, 252 keys
}

// One goroutine adds, others look up: a Growing wants a lock.
func ExampleGrowing() {
	g, err := blocked.NewGrowing(100, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	var mu sync.RWMutex
	var wg sync.WaitGroup
	wg.Go(func() {
		keys := make([]uint64, 64)
		for first := uint64(0); first < 10_000; first += 64 {
			for i := range keys {
				keys[i] = first + uint64(i)
			}
			mu.Lock() // once a batch, not once a key
			g.AddUint64s(keys)
			mu.Unlock()
		}
	})
	wg.Go(func() {
		for i := range uint64(1000) {
			mu.RLock()
			g.MayContainUint64(i)
			mu.RUnlock()
		}
	})
	wg.Wait()
	fmt.Println(g.MayContainUint64(9_999))
	// Output: true
}
