package blocked

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/zeebo/xxh3"
)

// goldenLine is one filter of testdata/layout-v1.jsonl, which an independent C program wrote with the official XXH3.
type goldenLine struct {
	Prefix             string `json:"prefix"`
	Blocks             uint64 `json:"blocks"`
	K                  int    `json:"k"`
	Seed               string `json:"seed"`
	Keys               int    `json:"keys"`
	BitsXXH3           string `json:"bits_xxh3"`
	FirstBlock         string `json:"first_block"`
	Probes             int    `json:"probes"`
	FalsePositives     []int  `json:"false_positives"` // the first of them
	FalsePositiveCount int    `json:"false_positive_count"`
}

func readGolden(t *testing.T) (lines []goldenLine) {
	t.Helper()
	file, err := os.Open("testdata/layout-v1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	for s.Scan() {
		var l goldenLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 23 {
		t.Fatalf("%d golden lines, want 23", len(lines))
	}
	return lines
}

func TestGolden(t *testing.T) {
	lines := readGolden(t)
	eachKernel(t, func(t *testing.T) {
		for i, l := range lines {
			if raceEnabled && l.Keys > 200_000 {
				continue // a minute under the race detector, for the same bits
			}
			checkGolden(t, i+1, l)
		}
	})
}

func checkGolden(t *testing.T, number int, l goldenLine) {
	seed, err := strconv.ParseUint(l.Seed, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	one, err := NewGeometry(Geometry{l.Blocks, l.K}, WithSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	batch := one.Clone()
	hs := make([]uint64, 0, 1000)
	key := []byte(l.Prefix)
	for i := range l.Keys {
		key = strconv.AppendInt(key[:len(l.Prefix)], int64(i), 10)
		one.Add(key)
		if hs = append(hs, batch.Hash(key)); len(hs) == cap(hs) || i == l.Keys-1 {
			batch.AddHashes(hs)
			hs = hs[:0]
		}
	}
	for what, f := range map[string]*Filter{"one at a time": one, "in batches": batch} {
		if got := hex.EncodeToString(f.Bits()[:blockBytes]); got != l.FirstBlock {
			t.Errorf("line %d, %s: first block is %s, want %s", number, what, got, l.FirstBlock)
		}
		if got := fmt.Sprintf("%016x", xxh3.Hash(f.Bits())); got != l.BitsXXH3 {
			t.Errorf("line %d, %s: hash of the bits is %s, want %s", number, what, got, l.BitsXXH3)
		}
	}
	count := 0
	may := make([]bool, cap(hs))
	for i := 0; i < l.Probes; i += len(hs) {
		hs = hs[:0]
		for j := i; j < l.Probes && len(hs) < cap(hs); j++ {
			key = strconv.AppendInt(key[:len(l.Prefix)], int64(l.Keys+j), 10)
			hs = append(hs, one.Hash(key))
		}
		one.MayContainHashes(may, hs)
		for j, h := range hs {
			if may[j] != one.MayContainHash(h) {
				t.Fatalf("line %d: one lookup and the batch differ on key %d", number, l.Keys+i+j)
			}
			if !may[j] {
				continue
			}
			if count < len(l.FalsePositives) && l.FalsePositives[count] != l.Keys+i+j {
				t.Fatalf("line %d: false positive %d is key %d, want %d", number, count, l.Keys+i+j, l.FalsePositives[count])
			}
			count++
		}
	}
	if count != l.FalsePositiveCount {
		t.Errorf("line %d: %d false positives, want %d", number, count, l.FalsePositiveCount)
	}
}
