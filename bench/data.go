package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/blockedbloom/blocked/bench/peers"
)

// data is a run with its rounds put together, for questions.
type data struct {
	header Header
	cases  []Case // in the order of the first round
	of     map[Case]*caseData
}

type caseData struct {
	first              Result
	skip               string
	lookups, positives uint64
	series, builds     map[string]*seriesData
	order, buildOrder  []string // keys of the two maps
	rounds             []Result
}

// seriesData is a series of all rounds.
type seriesData struct{ Series }

func seriesKey(op string, which set) string { return op + " " + string(which) }

func collect(run *Run) *data {
	d := &data{header: run.Header, of: make(map[Case]*caseData)}
	for _, r := range run.Results {
		c := d.of[r.Case]
		if c == nil {
			c = &caseData{first: r, series: make(map[string]*seriesData), builds: make(map[string]*seriesData)}
			d.of[r.Case] = c
			d.cases = append(d.cases, r.Case)
		}
		if r.Skip != "" {
			c.skip = r.Skip
			continue
		}
		c.rounds = append(c.rounds, r)
		c.lookups += r.Lookups
		c.positives += r.Positives
		join := func(to map[string]*seriesData, order *[]string, from []Series) {
			for _, s := range from {
				key := seriesKey(s.Op, s.Set)
				if to[key] == nil {
					to[key] = &seriesData{Series{Op: s.Op, Set: s.Set, Keys: s.Keys}}
					*order = append(*order, key)
				}
				to[key].NS = append(to[key].NS, s.NS...)
				to[key].Disturbed = append(to[key].Disturbed, s.Disturbed...)
			}
		}
		join(c.series, &c.order, r.Series)
		join(c.builds, &c.buildOrder, r.Builds)
	}
	return d
}

func (s *seriesData) stat() Stat {
	if s == nil {
		return Stat{}
	}
	st := summarize(s.samples())
	st.Disturbed = s.disturbed()
	return st
}

// enough is how many undisturbed samples a figure needs.
const enough = 5

// disturbed reports whether the samples that were not disturbed are too few, so that all have to do.
func (s *seriesData) disturbed() bool {
	return len(s.NS) < enough && len(s.Disturbed) > 0
}

func (s *seriesData) samples() []float64 {
	if s.disturbed() {
		return append(slices.Clone(s.NS), s.Disturbed...)
	}
	return s.NS
}

// stat returns the samples of an operation in a case.
func (d *data) stat(c Case, op string, which set) Stat {
	if cd := d.of[c]; cd != nil {
		return cd.series[seriesKey(op, which)].stat()
	}
	return Stat{}
}

// filterCase returns the case of a library at a size and rate: of ours, with the given kernel, or the default one for "".
func (d *data) filterCase(library, kernel string, n uint64, rate float64, pages string) Case {
	if library == peers.OursName && kernel == "" {
		kernel = d.header.Kernel
	}
	return Case{Kind: kindFilter, Library: library, Kernel: kernel, N: n, Rate: rate, Pages: pages}
}

// fpr returns the measured rate and whether there is one.
func (c *caseData) fpr() (float64, bool) {
	if c == nil || c.lookups == 0 {
		return 0, false
	}
	return float64(c.positives) / float64(c.lookups), true
}

// missedFrom is the factor over the target rate from which a filter is not compared.
const missedFrom = 1.25

// comparable reports whether the library's filter keeps the rate that it was made for.
func (d *data) comparable(c Case) bool {
	cd := d.of[c]
	if cd == nil || len(cd.rounds) == 0 {
		return false
	}
	rate, ok := cd.fpr()
	return !ok || rate <= missedFrom*c.Rate
}

// bitsPerKey of the filter of a case.
func (d *data) bitsPerKey(c Case) float64 {
	cd := d.of[c]
	if cd == nil || cd.first.Bytes == 0 {
		return math.NaN()
	}
	return float64(cd.first.Bytes) * 8 / float64(c.N)
}

// sizes lists the numbers of keys that filters were measured with at a rate, rising, of the libraries that keep accepts.
func (d *data) sizes(rate float64, keep func(string) bool) []uint64 {
	var ns []uint64
	for _, c := range d.cases {
		if c.Kind == kindFilter && c.Rate == rate && keep(c.Library) && !slices.Contains(ns, c.N) {
			ns = append(ns, c.N)
		}
	}
	slices.Sort(ns)
	return ns
}

// An entry is one operation of one library in one case.
type entry struct {
	c    Case
	op   string // the ID
	stat Stat
}

func (e entry) name() string {
	method, _, _ := strings.Cut(e.op, "/")
	return e.c.Library + " " + method
}

func (e entry) kind() peers.Kind {
	kind := e.op[strings.LastIndex(e.op, "/")+1:]
	if strings.HasPrefix(kind, string(peers.Batch)) {
		return peers.Batch
	}
	return peers.Kind(kind)
}

func (e entry) input() peers.Input { return peers.Input(strings.Split(e.op, "/")[1]) }

// entries lists what was measured of a set at a size and rate, that keep accepts.
func (d *data) entries(n uint64, rate float64, which set, keep func(entry) bool) []entry {
	var es []entry
	for _, c := range d.cases {
		if c.Kind != kindFilter || c.N != n || c.Rate != rate || c.Pages != "" {
			continue
		}
		cd := d.of[c]
		from, order := cd.series, cd.order
		if which == inOrder {
			from, order = cd.builds, cd.buildOrder
		}
		for _, key := range order {
			s := from[key]
			if s.Set != which {
				continue
			}
			op := s.Op
			if which == inOrder {
				op += "/" + string(peers.Batch)
			}
			if e := (entry{c, op, s.stat()}); e.stat.N > 0 && keep(e) {
				es = append(es, e)
			}
		}
	}
	return es
}

// fastest returns the entry with the lowest median.
func fastest(es []entry) (entry, bool) {
	if len(es) == 0 {
		return entry{}, false
	}
	return slices.MinFunc(es, func(a, b entry) int { return cmp.Compare(a.stat.Median, b.stat.Median) }), true
}

// isOurs accepts ours with the default kernel, on one processor as the peers; isPeer the comparable peers.
func (d *data) isOurs(e entry) bool {
	return e.c.Library == peers.OursName && e.c.Kernel == d.header.Kernel && !parallel(e)
}

// parallel reports whether an entry is a build on all processors.
func parallel(e entry) bool { return strings.HasPrefix(e.op, "AddHashesParallel/") }

func (d *data) isPeer(e entry) bool {
	return e.c.Library != peers.OursName && d.comparable(e.c)
}

// fixed reports whether a library's filters cannot be added to.
func fixed(library string) bool {
	l, err := peers.Find(library)
	return err == nil && l.Fixed
}
