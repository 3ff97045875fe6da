// Package peers holds one adapter a library: how each is sized, built and asked, each through its own best interface.
//
// A benchmark of a few nanoseconds must not measure its own harness. So an adapter does not offer one key's lookup behind an interface, which would add an indirect call to
// each; it offers operations on a run of keys, and the loop over them is compiled into the adapter with the library's method called, or inlined, directly. All of
// them use the same few loops (loops.go).
package peers

import (
	"fmt"
	"slices"

	"github.com/blockedbloom/blocked/bench/baseline"
)

// An Input is what an operation is given for a key.
type Input string

const (
	Hash   Input = "hash"     // the key's 64-bit hash, computed beforehand
	Key16  Input = "key16"    // a key of 16 bytes; hashing it is part of the operation
	Str16  Input = "string16" // the same as a Go string
	Uint64 Input = "uint64"   // a key that is a number; hashing it is part of the operation
)

// Keys is a run of keys in the forms that operations take. The i-th of Hashes, Column, Slices and Strings is the same key; Numbers are keys of their own. Only the
// forms that Fill was asked for are set.
type Keys struct {
	Hashes  []uint64 // by the library's own hash of the 16 bytes
	Column  []byte   // the 16-byte keys, one after the other
	Slices  [][]byte // slices of Column
	Strings []string
	Numbers []uint64
	Found   []bool   // room for the answers to one batch
	Sel     []uint32 // room for a selection of one batch
}

// Len returns the number of keys.
func (k *Keys) Len() int {
	return max(len(k.Hashes), len(k.Column)/KeyBytes, len(k.Slices), len(k.Strings), len(k.Numbers))
}

// Slice returns keys from to to, which share k's memory.
func (k *Keys) Slice(from, to int) *Keys {
	s := *k
	s.part(k, from, to)
	return &s
}

// part makes k the keys from to to of all.
func (k *Keys) part(all *Keys, from, to int) {
	if all.Hashes != nil {
		k.Hashes = all.Hashes[from:to]
	}
	if all.Column != nil {
		k.Column = all.Column[from*KeyBytes : to*KeyBytes]
	}
	if all.Slices != nil {
		k.Slices = all.Slices[from:to]
	}
	if all.Strings != nil {
		k.Strings = all.Strings[from:to]
	}
	if all.Numbers != nil {
		k.Numbers = all.Numbers[from:to]
	}
}

// KeyBytes is the length of the keys that are bytes.
const KeyBytes = 16

// A Kind says how an operation's calls depend on each other.
type Kind string

const (
	Single Kind = "single" // a call a key, independent of each other: the processor overlaps them
	Chain  Kind = "chain"  // a call a key, where to find the key depends on the answer before
	Batch  Kind = "batch"  // a call for many keys
	Cores  Kind = "cores"  // batches from all processors at once; the time of a key is that of the whole over all keys
)

// An Op is one operation of a library.
type Op struct {
	Name  string // the library's method
	Input Input
	Kind  Kind
	Size  int             // keys a call, of a batch
	Do    func(*Keys) int // does it for all keys and returns how many were found
}

// ID tells the operation apart from the library's others.
func (o Op) ID() string {
	if o.Kind == Batch {
		return fmt.Sprintf("%s/%s/batch%d", o.Name, o.Input, o.Size)
	}
	return fmt.Sprintf("%s/%s/%s", o.Name, o.Input, o.Kind)
}

// A Filter is a filter that holds its keys.
type Filter struct {
	Bytes   uint64 // the filter's memory; 0 where that cannot be told: the caller then takes what the heap has grown by
	Lookups []Op
	Memory  []byte // Bytes of memory, where the library shows it
	Adds    []Op   // add keys to a filter that is full already, which must cost what adding to an empty one does: Bloom filters only
}

// Huge returns how many bytes of the filter lie on huge pages; 0 where that is not known.
func (f *Filter) Huge() uint64 { return baseline.HugeBytes(f.Memory) }

// A Build is one way to make a filter of a set of keys. Only one of Input's forms is filled.
type Build struct {
	Name  string
	Input Input
	// Begin starts a filter for n keys. add takes the keys run by run, finish returns the filter.
	Begin func(s Size) (add func(*Keys), finish func() (*Filter, error), err error)
}

// Size is what a filter is to be made for. BitsPerKey, where above 0, takes the place of Rate.
type Size struct {
	N          uint64
	Rate       float64
	BitsPerKey float64
	Pages      string // "huge", "ordinary", or "" for what the library does by itself
}

// A Library is one library, or one kind of filter of it.
type Library struct {
	Name   string
	Module string // as in go.mod
	Hashes string // the hash inside the operations on keys
	Sizing string // how the filter is sized, in a few words
	Ours   bool
	Fixed  bool // cannot be added to once built
	Exact  bool // has no false positives
	// Rates are the target rates that a filter of this kind can be asked for; nil for any. One whose rate is fixed is listed under the rate it is nearest to.
	Rates []float64
	// MaxKeys is how many keys are tried at most, 0 for any number; Limit says why.
	MaxKeys uint64
	Limit   string
	// Tunable reports that Size.BitsPerKey is heeded to within a percent.
	Tunable bool
	// HashOf is the hash that operations on hashes take for a key; nil where there are none.
	HashOf func(key []byte) uint64
	// Builds are the ways to build; the first is the one for the filter that is looked up in.
	Builds []Build
}

// Serves reports whether the library has a filter for target rate p.
func (l *Library) Serves(p float64) bool { return l.Rates == nil || slices.Contains(l.Rates, p) }

// All returns the libraries, ours first.
func All() []*Library {
	return []*Library{
		ours(), parquetGo(), binaryFuse8(), binaryFuse16(), arrowGo(), pebble(), ristretto(), goleveldb(),
		holiman(), bitsAndBlooms(), cuckooFilter(), goMap(), goStringMap(),
	}
}

// Find returns the library called name.
func Find(name string) (*Library, error) {
	for _, l := range All() {
		if l.Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no library %q", name)
}

// OursName is the name of this repository's library.
const OursName = "blocked"
