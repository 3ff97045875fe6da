package peers_test

import (
	"encoding/binary"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/blockedbloom/blocked/bench/peers"
)

// keys returns keys from to to in every form that a library takes.
func keys(l *peers.Library, from, to int) *peers.Keys {
	k := &peers.Keys{Found: make([]bool, to-from), Sel: make([]uint32, 0, to-from)}
	for i := from; i < to; i++ {
		k.Column = binary.LittleEndian.AppendUint64(k.Column, uint64(i)*0x9e3779b97f4a7c15)
		k.Column = binary.LittleEndian.AppendUint64(k.Column, uint64(i)^uint64(i)*0xd1342543de82ef95)
		k.Numbers = append(k.Numbers, uint64(i)*0xda942042e4dd58b5)
	}
	for i := range to - from {
		key := k.Column[i*peers.KeyBytes : (i+1)*peers.KeyBytes]
		k.Slices = append(k.Slices, key)
		k.Strings = append(k.Strings, unsafe.String(&key[0], len(key)))
		if l.HashOf != nil {
			k.Hashes = append(k.Hashes, l.HashOf(key))
		}
	}
	return k
}

// found returns how many keys an operation finds.
func found(op peers.Op, k *peers.Keys) int {
	clear(k.Found)
	n := op.Do(k)
	if op.Kind == peers.Cores {
		return -1 // the answers are not kept
	}
	if op.Kind == peers.Batch && !strings.HasPrefix(op.Name, "Select") {
		return peers.CountTrue(k.Found[:k.Len()])
	}
	return n
}

// TestFindsWhatWasAdded builds each library's filter in each way and asks it in each way, once as it was built and once more for keys that were added later.
func TestFindsWhatWasAdded(t *testing.T) {
	const n = 1000
	for _, l := range peers.All() {
		for _, b := range l.Builds {
			for _, rate := range []float64{0.01, 0.001} {
				if !l.Serves(rate) {
					continue
				}
				t.Run(l.Name+"/"+b.Name+"/"+string(b.Input), func(t *testing.T) {
					add, finish, err := b.Begin(peers.Size{N: n, Rate: rate})
					if err != nil {
						t.Fatal(err)
					}
					in, out := keys(l, 0, n), keys(l, n, 11*n)
					add(in.Slice(0, n/3))
					add(in.Slice(n/3, n))
					f, err := finish()
					if err != nil {
						t.Fatal(err)
					}
					for _, op := range f.Lookups {
						if op.Input == peers.Uint64 || op.Kind == peers.Cores {
							continue
						}
						if got := found(op, in); got != n {
							t.Errorf("%s finds %d of %d keys", op.ID(), got, n)
						}
						most := 10 * n / 25
						if l.Exact {
							most = 0
						}
						wrong := 0
						for from := 0; from < 10*n; from += n {
							wrong += found(op, out.Slice(from, from+n))
						}
						if wrong > most {
							t.Errorf("%s finds %d of %d absent keys", op.ID(), wrong, 10*n)
						}
					}
					for i, op := range f.Adds {
						more := keys(l, 100*n+i*10, 100*n+i*10+10)
						op.Do(more)
						for _, look := range f.Lookups {
							if (look.Input == peers.Uint64) != (op.Input == peers.Uint64) || look.Kind == peers.Cores {
								continue
							}
							if got := found(look, more); got != 10 {
								t.Errorf("after %s, %s finds %d of 10 keys", op.ID(), look.ID(), got)
							}
						}
					}
				})
			}
		}
	}
}

// TestTunable asks for a number of bits a key and sees whether it comes.
func TestTunable(t *testing.T) {
	const n, bits = 20_000, 13
	for _, l := range peers.All() {
		if !l.Tunable {
			continue
		}
		_, finish, err := l.Builds[0].Begin(peers.Size{N: n, Rate: 0.01, BitsPerKey: bits})
		if err != nil {
			t.Fatal(err)
		}
		f, err := finish()
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(f.Bytes) * 8 / n; got < 0.99*bits || got > 1.01*bits {
			t.Errorf("%s: %.2f bits a key, want %d", l.Name, got, bits)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	var names []string
	for _, l := range peers.All() {
		if slices.Contains(names, l.Name) {
			t.Errorf("two libraries are called %s", l.Name)
		}
		names = append(names, l.Name)
		if found, err := peers.Find(l.Name); err != nil || found.Name != l.Name {
			t.Errorf("Find(%q): %v", l.Name, err)
		}
	}
	if !peers.All()[0].Ours {
		t.Error("ours is not the first")
	}
}

// TestLoopsAreInlined reads the compiler's own account: a loop that is called, instead of inlined, calls the library through a pointer for every key, and what is measured
// is that.
func TestLoopsAreInlined(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("cannot ask the compiler: %v", err)
	}
	text := string(out)
	for _, loop := range []string{"count", "chain", "each", "countColumn", "chainColumn", "eachColumn"} {
		if !strings.Contains(text, "can inline "+loop) {
			t.Errorf("%s is not inlined", loop)
		}
	}
}
