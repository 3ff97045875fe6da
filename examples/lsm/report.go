package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/blockedbloom/blocked"
	"github.com/klauspost/cpuid/v2"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows how far a step is, on standard error: as a bar on a terminal, else in a line.
type bar struct{ p *progressbar.ProgressBar }

func newBar(what string, n int) bar {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintln(os.Stderr, what, "...")
		return bar{}
	}
	return bar{progressbar.NewOptions(n, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(fmt.Sprintf("%-34s", what)),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100e6), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true))}
}

func (b bar) add(n int) {
	if b.p != nil {
		_ = b.p.Add(n)
	}
}

func (b bar) done() {
	if b.p != nil {
		_ = b.p.Finish()
	}
}

// table prints rows under a title, the first of them the head, in columns.
func table(out *sticky, title string, rows [][]string) error {
	fmt.Fprintf(out, "\n%s\n\n", title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	_ = w.Flush() // out keeps the error
	return out.err
}

// sizes reports what the filters take.
func sizes(out *sticky, dbs []*database, keys int) error {
	rows := [][]string{{"filter", "bytes of filters", "bits a key", "bytes of tables", "seconds to build"}}
	for _, db := range dbs {
		filters, tables, _, err := db.filterSize()
		if err != nil {
			return err
		}
		rows = append(rows, []string{db.name, thousands(filters), fmt.Sprintf("%.2f", 8*float64(filters)/float64(keys)), thousands(tables),
			fmt.Sprintf("%.1f", db.built.Seconds())})
	}
	return table(out, "On disk, as flushed", rows)
}

// report prints what lookups did.
func report(out *sticky, title string, dbs []*database, all [3][]sample) error {
	rows := [][]string{{"keys", "filter", "ns", "asked", "may", "planned may", "spared", "wrong", "planned wrong", "blocks", "from files"}}
	for k, kind := range []string{"misses", "hits", "mixed"} {
		for i, db := range dbs {
			s := all[k][i]
			asked, may, plannedMay, spared, wrong, plannedWrong := "-", "-", "", "-", "-", ""
			if filtered := s.spared + s.passed; filtered > 0 {
				found := float64(s.found)
				absent := float64(filtered) - found // filters that should have said no; of hits in the last level there is none
				asked, may = fmt.Sprintf("%.2f", perLookup(float64(filtered), s)), fmt.Sprintf("%.3f", perLookup(float64(s.passed), s))
				spared = fmt.Sprintf("%.1f%%", 100*float64(s.spared)/float64(filtered))
				if absent > 0 {
					wrong = fmt.Sprintf("%.2f%%", 100*(float64(s.passed)-found)/absent)
				}
				if i == 0 {
					_, _, rate, err := db.filterSize()
					if err != nil {
						return err
					}
					plannedMay = fmt.Sprintf("%.3f", perLookup(found+rate*absent, s))
					if absent > 0 {
						plannedWrong = fmt.Sprintf("%.2f%%", 100*rate)
					}
				}
			}
			rows = append(rows, []string{kind, db.name, thousands(int(median(s.ns) + 0.5)), asked, may, plannedMay, spared, wrong, plannedWrong,
				fmt.Sprintf("%.2f", perLookup(float64(s.blocks), s)), fmt.Sprintf("%.2f", perLookup(float64(s.read), s))})
		}
	}
	return table(out, fmt.Sprintf("%s; %s lookups of each kind in each database", title, thousands(all[0][0].lookups)), rows)
}

const legend = `
ns             a lookup, the median of rounds
asked          filters asked, a lookup, as db.Metrics().Filter counts them: one of each table whose bounds have the key
may            filters that said "may contain", a lookup: in so many tables a data block is looked at
spared         the share of the filters asked that said "absent", so that their table was not read
wrong          "may contain" of a key that the table does not have, of all filters that were asked for such a key
planned        the same by the model of this library's filters
blocks         blocks of all kinds (data, index, filter) that were taken from the cache or a file, a lookup
from files     those that were not in the block cache of 8 MiB: the system may still have them in its memory
-              there is nothing to count
`

// thousands prints 1234000 as "1,234,000".
func thousands[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func perLookup(x float64, s sample) float64 { return x / float64(s.lookups) }

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

func machine() string {
	return fmt.Sprintf("%s, %d processors", cmp.Or(strings.TrimSpace(cpuid.CPU.BrandName), "a processor without a name"), runtime.NumCPU())
}

func kernel() string { return blocked.Kernel() }
