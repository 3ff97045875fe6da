package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/blockedbloom/blocked/bench/peers"
)

//go:embed README.md.tmpl
var readmeTemplate string

//go:embed RATIOS.md.tmpl
var ratiosTemplate string

// writeReport writes the tables and pictures of a run below dir and returns the names of the files.
func writeReport(run *Run, dir string) ([]string, error) {
	d := collect(run)
	var written []string
	write := func(name, text string) error {
		var b bytes.Buffer
		t, err := template.New(name).Parse(text)
		if err != nil {
			return err
		}
		if err := t.Execute(&b, d); err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		written = append(written, path)
		return os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err := os.MkdirAll(filepath.Join(dir, "pictures"), 0o755); err != nil {
		return nil, err
	}
	if run.Header.Mode == "ratios" {
		return written, write("RATIOS.md", ratiosTemplate)
	}
	if err := write("README.md", readmeTemplate); err != nil {
		return nil, err
	}
	pictures, err := d.draw(filepath.Join(dir, "pictures"))
	return append(written, pictures...), err
}

// The methods below are what the templates call.

// Machine is the line that stands beside every group of figures.
func (d *data) Machine() string {
	h := d.header
	s := fmt.Sprintf("%s, %d CPUs", h.CPU, h.CPUs)
	if h.Memory > 0 {
		s += fmt.Sprintf(", %d GiB", (h.Memory+1<<29)>>30)
	}
	if h.Caches != "" {
		s += " (" + h.Caches + ")"
	}
	s += "; " + h.OS
	if h.Release != "" {
		s += ", kernel " + h.Release
	}
	if h.Pages != "" {
		s += ", huge pages: " + h.Pages
	}
	return fmt.Sprintf("%s; %s %s; `Kernel()` = %s; %s; commit %s; `%s`", s, h.Go, h.Arch, h.Kernel, h.Date, orNone(h.Commit), h.Command)
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// Mode and Rounds are the run's.
func (d *data) Mode() string { return d.header.Mode }
func (d *data) Rounds() int  { return d.header.Rounds }

// Full reports whether this is the run that the README is made for.
func (d *data) Full() bool { return d.header.Mode == "full" }

// Targets is the table of the targets over the peers.
func (d *data) Targets() string { return d.targetTable() }

// Libraries is the table of what is compared.
func (d *data) Libraries() string {
	t := table{head: []string{"library", "version", "sized by", "hash of a key", ""}, left: 5}
	for _, l := range peers.All() {
		version := d.header.Modules[l.Module]
		switch {
		case l.Ours:
			version = "this commit"
		case l.Module == "Go":
			version = d.header.Go
		}
		note := ""
		switch {
		case l.Fixed:
			note = "cannot be added to once built"
		case l.Exact:
			note = "exact"
		}
		t.add(l.Name, version, l.Sizing, l.Hashes, note)
	}
	return t.String()
}

// rateCell writes a measured rate, with a sign where it is too high to compare.
func (d *data) rateCell(c Case) string {
	rate, ok := d.of[c].fpr()
	switch {
	case !ok:
		return "0, exact"
	case rate > missedFrom*c.Rate:
		return "**" + percent(rate) + "** ✗"
	case rate < c.Rate/missedFrom:
		return percent(rate) + " (better)"
	}
	return percent(rate)
}

// lookupTables are tables of lookups with one kind of input, one for each size.
func (d *data) lookupTables(input peers.Input, rate float64) string {
	var b strings.Builder
	for _, n := range d.sizes(rate, func(lib string) bool { return lib != peers.OursName }) {
		t := table{head: []string{"library", "operation", "bits a key", "measured rate", "absent (quartiles; least)", "present", "unpredictable mix", "dependent chain"}, left: 2}
		for _, e := range d.entries(n, rate, absent, func(e entry) bool {
			return e.input() == input && e.kind() != peers.Chain && e.kind() != peers.Cores && (e.c.Library != peers.OursName || e.c.Kernel == d.header.Kernel)
		}) {
			chain := Stat{}
			if e.kind() == peers.Single {
				method, _, _ := strings.Cut(e.op, "/")
				chain = d.stat(e.c, fmt.Sprintf("%s/%s/%s", method, input, peers.Chain), absent)
			}
			library := e.c.Library
			if library == peers.OursName {
				library = "**" + library + "**"
			}
			op := strings.TrimPrefix(e.name(), e.c.Library+" ")
			if e.kind() == peers.Batch {
				op += " ×" + e.op[strings.LastIndex(e.op, string(peers.Batch))+len(peers.Batch):]
			}
			t.add(library, op, num(d.bitsPerKey(e.c)), d.rateCell(e.c), e.stat.Spread(), d.stat(e.c, e.op, present).String(),
				d.stat(e.c, e.op, mixed).String(), chain.String())
		}
		if len(t.rows) > 0 {
			fmt.Fprintf(&b, "%s keys:\n\n%s\n", count(n), t.String())
		}
	}
	return b.String()
}

// LookupsHash and LookupsKeys are the lookups at 1%, hash given and hash included; the others at 0.1%.
func (d *data) LookupsHash() string      { return d.lookupTables(peers.Hash, 0.01) }
func (d *data) LookupsKeys() string      { return d.lookupTables(peers.Key16, 0.01) }
func (d *data) LookupsHashTenth() string { return d.lookupTables(peers.Hash, 0.001) }
func (d *data) LookupsKeysTenth() string { return d.lookupTables(peers.Key16, 0.001) }

// Building is the table of building and adding.
func (d *data) Building() string {
	var b strings.Builder
	for _, n := range d.sizes(0.01, func(lib string) bool { return lib != peers.OursName }) {
		t := table{head: []string{"library", "given", "build: the call", "ns a key (quartiles; least)", "add to a full filter: the call", "ns a key (quartiles; least)"}, left: 3}
		keep := func(e entry) bool { return e.c.Library != peers.OursName || e.c.Kernel == d.header.Kernel }
		builds, adds := d.entries(n, 0.01, inOrder, keep), d.entries(n, 0.01, fresh, keep)
		for _, e := range builds {
			rest := []string{"", ""}
			add, ok := fastest(slices.DeleteFunc(slices.Clone(adds), func(a entry) bool { return a.c != e.c || a.input() != e.input() }))
			if ok {
				rest = []string{label(add), add.stat.Spread()}
			}
			t.add(append([]string{e.c.Library, string(e.input()), strings.TrimPrefix(e.name(), e.c.Library+" "), e.stat.Spread()}, rest...)...)
		}
		if len(t.rows) > 0 {
			fmt.Fprintf(&b, "%s keys:\n\n%s\n", count(n), t.String())
		}
	}
	return b.String()
}

// Kernels are the tables of all our operations, one for each kernel, with a column for each number of keys.
func (d *data) Kernels() string {
	var b strings.Builder
	ns := d.sizes(0.01, func(lib string) bool { return lib == peers.OursName })
	for _, kernel := range d.header.Kernels {
		for _, pages := range []string{"", pagesOrdinary} {
			t := table{head: []string{"operation", "asked for"}, left: 2}
			for _, n := range ns {
				t.head = append(t.head, count(n))
			}
			rows := make(map[string][]string)
			var order []string
			any := false
			for i, n := range ns {
				c := d.filterCase(peers.OursName, kernel, n, 0.01, pages)
				cd := d.of[c]
				if cd == nil {
					continue
				}
				for _, key := range cd.order {
					if rows[key] == nil {
						rows[key] = make([]string, len(ns))
						order = append(order, key)
					}
					rows[key][i] = cd.series[key].stat().String()
					any = true
				}
			}
			if !any {
				continue
			}
			for _, key := range order {
				at := strings.LastIndex(key, " ")
				t.add(append([]string{key[:at], key[at+1:]}, rows[key]...)...)
			}
			title := "`" + kernel + "`"
			if pages != "" {
				title += ", " + pages + " pages"
			}
			fmt.Fprintf(&b, "%s:\n\n%s\n", title, t.String())
		}
	}
	return b.String()
}

// Baselines is the table of what no lookup can be faster than.
func (d *data) Baselines() string {
	t := table{head: []string{"", "array", "ns a key (quartiles; least)"}, left: 2}
	for _, c := range d.cases {
		cd := d.of[c]
		if c.Kind != kindHash && c.Kind != kindLines {
			continue
		}
		for _, key := range cd.order {
			op, _, _ := strings.Cut(key, "/")
			array := ""
			if c.Kind == kindLines {
				op = "a random line a key, " + op
				array = fmt.Sprintf("%s, as for %s keys, %s pages", bytesText(cd.first.Bytes), count(c.N), c.Pages)
			}
			t.add(op, array, cd.series[key].stat().Spread())
		}
	}
	return t.String()
}

func bytesText(n uint64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", (n+1<<19)>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", (n+1<<9)>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Memory is the table of bits and rates.
func (d *data) Memory() string {
	t := table{head: []string{"library", "keys", "target", "measured rate", "absent keys asked for", "bits a key", "bits a key at exactly the target"}}
	for _, c := range d.cases {
		if c.Kind != kindFilter || c.Pages != "" || c.Library == peers.OursName && c.Kernel != d.header.Kernel || len(d.of[c].rounds) == 0 {
			continue
		}
		equal := ""
		if bits, ok := d.equalBits(c.Library, c.Rate); ok {
			equal = num(bits)
		}
		t.add(c.Library, count(c.N), percent(c.Rate), d.rateCell(c), fmt.Sprint(d.of[c].lookups), num(d.bitsPerKey(c)), equal)
	}
	return t.String()
}

// Losses is the table of where another library is better than ours, found in the figures.
func (d *data) Losses() string {
	t := table{head: []string{"keys", "target rate", "what", "ours", "better", "by"}, left: 3}
	const matters = 1.03
	for _, rate := range []float64{0.01, 0.001} {
		for _, n := range d.sizes(rate, func(lib string) bool { return lib != peers.OursName }) {
			for _, g := range []struct {
				what  string
				which set
				input peers.Input
				kind  peers.Kind
			}{
				{"single lookup, hash given", absent, peers.Hash, peers.Single},
				{"single lookup, hash given, present keys", present, peers.Hash, peers.Single},
				{"single lookup, hash given, unpredictable mix", mixed, peers.Hash, peers.Single},
				{"lookups in a dependent chain, hash given", absent, peers.Hash, peers.Chain},
				{"batch lookup, hash given", absent, peers.Hash, peers.Batch},
				{"single lookup, 16-byte keys", absent, peers.Key16, peers.Single},
				{"single lookup, 16-byte keys, present keys", present, peers.Key16, peers.Single},
				{"single lookup, 16-byte keys, unpredictable mix", mixed, peers.Key16, peers.Single},
				{"lookups in a dependent chain, 16-byte keys", absent, peers.Key16, peers.Chain},
				{"batch lookup, 16-byte keys", absent, peers.Key16, peers.Batch},
				{"single add, hash given", fresh, peers.Hash, peers.Single},
				{"batch add, hash given", fresh, peers.Hash, peers.Batch},
				{"single add, 16-byte keys", fresh, peers.Key16, peers.Single},
				{"building, hash given", inOrder, peers.Hash, peers.Batch},
				{"building, 16-byte keys", inOrder, peers.Key16, peers.Batch},
			} {
				same := func(e entry) bool { return e.input() == g.input && e.kind() == g.kind }
				ours, ok := fastest(d.entries(n, rate, g.which, func(e entry) bool { return same(e) && d.isOurs(e) }))
				if !ok {
					continue
				}
				better := d.entries(n, rate, g.which, func(e entry) bool {
					return same(e) && d.isPeer(e) && ours.stat.Median > matters*e.stat.Median
				})
				e, ok := fastest(better)
				if !ok {
					continue
				}
				what := e.stat.String() + " ns: " + label(e)
				var others []string
				for _, o := range better {
					if o.c != e.c && !slices.Contains(others, o.c.Library) {
						others = append(others, o.c.Library)
					}
				}
				if len(others) > 0 {
					what += "; also " + strings.Join(others, ", ")
				}
				t.add(count(n), percent(rate), g.what, ours.stat.String()+" ns", what, num(ours.stat.Median/e.stat.Median)+" times as fast")
			}
			mine := d.filterCase(peers.OursName, "", n, rate, "")
			for _, c := range d.cases {
				if c.Kind != kindFilter || c.N != n || c.Rate != rate || c.Library == peers.OursName || !d.comparable(c) {
					continue
				}
				theirs, ours := d.bitsPerKey(c), d.bitsPerKey(mine)
				if less := 100 * (1 - theirs/ours); less > 1 {
					t.add(count(n), percent(rate), "memory", num(ours)+" bits a key at "+d.rateCell(mine), num(theirs)+" bits a key at "+d.rateCell(c)+": "+c.Library,
						fmt.Sprintf("%.0f%% less", less))
				}
			}
		}
	}
	if len(t.rows) == 0 {
		return "None in this run.\n"
	}
	return t.String()
}

// Skipped is the table of what was not measured.
func (d *data) Skipped() string {
	t := table{head: []string{"case", "why not"}, left: 2}
	for _, c := range d.cases {
		if skip := d.of[c].skip; skip != "" {
			t.add(c.String(), skip)
		}
	}
	for _, c := range d.cases {
		if n := len(d.of[c].rounds); d.of[c].skip == "" && c.Kind != kindSizing && n < d.header.Rounds {
			t.add(c.String(), fmt.Sprintf("measured in %d of %d rounds only, for its length", n, d.header.Rounds))
		}
	}
	if len(t.rows) == 0 {
		return "Everything was measured, in all rounds.\n"
	}
	return t.String()
}

// DisturbedShare says how many series rest on disturbed samples.
func (d *data) DisturbedShare() string {
	all, bad := 0, 0
	for _, c := range d.of {
		for s := range maps.Values(c.series) {
			all++
			if s.disturbed() {
				bad++
			}
		}
	}
	return fmt.Sprintf("%d of %d", bad, all)
}
