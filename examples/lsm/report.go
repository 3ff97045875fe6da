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
	return bar{progressbar.NewOptions(n, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(fmt.Sprintf("%-34s", what)), progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100e6), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true))}
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
func table(title string, rows [][]string) {
	fmt.Printf("\n%s\n\n", title)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	_ = w.Flush()
}

// sizes reports what the filters take.
func sizes(dbs []*database, keys int) {
	rows := [][]string{{"filter", "bytes of filters", "bits a key", "bytes of tables", "seconds to build"}}
	for _, db := range dbs {
		filters, tables, _, err := db.filterSize()
		if err != nil {
			continue
		}
		rows = append(rows, []string{db.name, fmt.Sprint(filters), fmt.Sprintf("%.2f", 8*float64(filters)/float64(keys)), fmt.Sprint(tables), fmt.Sprintf("%.1f", db.built.Seconds())})
	}
	table("On disk, as flushed", rows)
}

// report prints what lookups did.
func report(title string, dbs []*database, all [3][]sample) {
	rows := [][]string{{"keys", "filter", "ns a lookup", "tables asked", "tables read", "by plan", "reads spared", "false positives", "by plan", "blocks from files"}}
	for k, kind := range []string{"misses", "hits", "mixed"} {
		asked := perLookup(float64(all[k][0].spared+all[k][0].passed), all[k][0])
		for i, db := range dbs {
			s := all[k][i]
			row := []string{kind, db.name, fmt.Sprintf("%.0f", median(s.ns)), fmt.Sprintf("%.2f", asked)}
			_, _, rate, err := db.filterSize()
			switch filtered := s.spared + s.passed; {
			case filtered == 0:
				row = append(row, fmt.Sprintf("%.3f", asked), "", "0%", "", "")
			default:
				found := float64(s.found)
				wrong := float64(s.passed) - found
				absent := float64(filtered) - found // filters that should have said no
				planned, plannedRate := "", ""
				if i == 0 && err == nil {
					planned = fmt.Sprintf("%.3f", perLookup(found+rate*absent, s))
					plannedRate = fmt.Sprintf("%.2f%%", 100*rate)
				}
				rate := "" // of hits in the last level there is none
				if absent > 0 {
					rate = fmt.Sprintf("%.2f%%", 100*wrong/absent)
				} else {
					plannedRate = ""
				}
				row = append(row, fmt.Sprintf("%.3f", perLookup(float64(s.passed), s)), planned, fmt.Sprintf("%.1f%%", 100*float64(s.spared)/float64(filtered)), rate, plannedRate)
			}
			rows = append(rows, append(row, fmt.Sprintf("%.2f", perLookup(float64(s.read), s))))
		}
	}
	table(fmt.Sprintf("%s; %d lookups of each kind in each database", title, all[0][0].lookups), rows)
}

const legend = `
ns a lookup        the median of rounds
tables asked       those whose bounds have the key, a lookup; without a filter all of them are read
tables read        those in which a data block was looked at, a lookup, as db.Metrics().Filter counts them
reads spared       the share of the tables asked in which a filter made that unnecessary
false positives    "may contain" of a key that the table does not have, of all filters that were asked for such a key
by plan            the same by the model of this library's filters
blocks from files  blocks read that were not in the block cache of 8 MiB, a lookup: the system may still have them in its memory
`

func perLookup(x float64, s sample) float64 { return x / float64(s.lookups) }

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

func machine() string {
	return fmt.Sprintf("%s, %d processors", cmp.Or(strings.TrimSpace(cpuid.CPU.BrandName), "a processor without a name"), runtime.NumCPU())
}

func kernel() string { return blocked.Kernel() }
