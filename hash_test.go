package blocked

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestHashVectors compares the hash with the official library's (xxHash 0.8.1, in C): every branch of the algorithm by length, with seeds that need all 64 bits. On
// big-endian machines Go's implementations have been wrong above 240 bytes.
func TestHashVectors(t *testing.T) {
	var buf [4096]byte
	for i := range buf {
		buf[i] = byte(i*131 + (i>>8)*17 + 7)
	}
	file, err := os.Open("testdata/xxh3-seeded.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for s := bufio.NewScanner(file); s.Scan(); lines++ {
		var l struct {
			Seed   string `json:"seed"`
			Length int    `json:"length"`
			XXH3   string `json:"xxh3"`
		}
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		seed, err := strconv.ParseUint(l.Seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		f, err := New(1, 0.5, WithSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		key := buf[:l.Length]
		if got := fmt.Sprintf("%016x", f.Hash(key)); got != l.XXH3 {
			t.Errorf("seed %d, %d bytes: Hash is %s, want %s", seed, l.Length, got, l.XXH3)
		}
		if got := fmt.Sprintf("%016x", f.HashString(string(key))); got != l.XXH3 {
			t.Errorf("seed %d, %d bytes: HashString is %s, want %s", seed, l.Length, got, l.XXH3)
		}
		if l.Length == 8 {
			if got := fmt.Sprintf("%016x", f.HashUint64(binary.LittleEndian.Uint64(key))); got != l.XXH3 {
				t.Errorf("seed %d: HashUint64 is %s, want %s", seed, got, l.XXH3)
			}
		}
	}
	if lines != 185 {
		t.Errorf("%d vectors, want 185", lines)
	}
}

// TestHashUint64 holds the short cut against the hash of the bytes.
func TestHashUint64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 100000 {
		key, seed := r.Uint64(), r.Uint64()
		switch i % 4 {
		case 0:
			seed = 0
		case 1:
			seed = 1 << r.IntN(64)
		case 2:
			key = uint64(i)
		}
		want := xxh3.HashSeed(binary.LittleEndian.AppendUint64(nil, key), seed)
		if got := hashUint64(key, flipOf(seed)); got != want {
			t.Fatalf("key %#x, seed %#x: %#x, want %#x", key, seed, got, want)
		}
	}
}

// TestHashUint64s holds the vectorised hashes against the others, at every length and alignment.
func TestHashUint64s(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 1))
		for n := range 50 {
			f := mustNew(t, 10, 0.5, WithSeed(r.Uint64()))
			keys, hs := make([]uint64, n), make([]uint64, n+1)
			for i := range keys {
				keys[i] = r.Uint64() >> r.IntN(64)
			}
			f.hashUint64s(hs[:n], keys)
			for i, key := range keys {
				if want := f.HashUint64(key); hs[i] != want {
					t.Fatalf("hash %d of %d, key %#x: %#x, want %#x", i, n, key, hs[i], want)
				}
			}
			if hs[n] != 0 {
				t.Fatalf("%d hashes: one more was written", n)
			}
		}
	})
}

// TestSeedHas64Bits: seeds that differ in one bit give other hashes.
func TestSeedHas64Bits(t *testing.T) {
	for _, key := range []string{"", "a", "12345678", "0123456789abcdef", string(make([]byte, 300))} {
		seen := map[uint64]uint64{}
		for bit := range 64 {
			f, err := New(1, 0.5, WithSeed(1<<bit))
			if err != nil {
				t.Fatal(err)
			}
			if f.Seed() != 1<<bit {
				t.Fatalf("Seed() = %#x, want %#x", f.Seed(), uint64(1)<<bit)
			}
			h := f.HashString(key)
			if other, ok := seen[h]; ok {
				t.Errorf("seeds %#x and %#x give the key of %d bytes the same hash", uint64(1)<<bit, other, len(key))
			}
			seen[h] = 1 << bit
		}
	}
}
