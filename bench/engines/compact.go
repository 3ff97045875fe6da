package main

import (
	"bytes"
	"context"

	"github.com/cockroachdb/pebble/v2"
)

// compact brings everything into the last level.
func compact(db *pebble.DB) error {
	return db.Compact(context.Background(), []byte{0}, bytes.Repeat([]byte{0xff}, keySize+1), false)
}
