package pebblefilter_test

import (
	"fmt"
	"os"

	"github.com/blockedbloom/blocked/adapters/pebble"
	"github.com/cockroachdb/pebble/v2"
)

func Example() {
	dir, err := os.MkdirTemp("", "pebblefilter")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	opts := &pebble.Options{}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = pebblefilter.Policy(10)
	}
	db, err := pebble.Open(dir, opts)
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Set([]byte("apple"), []byte("red"), pebble.Sync); err != nil {
		panic(err)
	}
	_, _, err = db.Get([]byte("banana"))
	fmt.Println(err)
	// Output: pebble: not found
}
