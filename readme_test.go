package blocked

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// readmeTable makes the table of rates.
func readmeTable(t *testing.T) string {
	const n = 100_000_000
	var b strings.Builder
	b.WriteString("| rate | textbook, bits a key | `Plan`, bits a key | k | bytes for a million keys |\n| ---: | ---: | ---: | ---: | ---: |\n")
	for _, p := range []float64{0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4, 1e-5, 1e-6} {
		g, err := Plan(n, p)
		if err != nil {
			t.Fatal(err)
		}
		million, err := Plan(1_000_000, p)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "| %v%% | %.2f | %.2f | %d | %d |\n", math.Round(p*1e8)/1e6, -math.Log2(p)/math.Ln2, g.BitsPerKey(n), g.K, million.Bytes())
	}
	return b.String()
}

// TestReadmeTable holds the README's table against what Plan does.
func TestReadmeTable(t *testing.T) {
	table := readmeTable(t)
	t.Log("\n" + table)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(string(readme), "\r\n", "\n"), "<!-- rates -->\n"+table+"<!-- /rates -->\n") {
		t.Error("README.md has another table of rates")
	}
}
