package main

import (
	"fmt"
	"strings"
)

// Ratios is the report of the ratios cases: one table of targets for each kernel, and one of all k.
func (d *data) Ratios() string {
	var b strings.Builder
	for _, c := range d.cases {
		cd := d.of[c]
		if c.Kind != kindRatios || len(cd.rounds) == 0 {
			continue
		}
		fmt.Fprintf(&b, "Kernel `%s`, %s keys in the small filters, %s in the large one (%s, of which %s on huge pages):\n\n%s\n%s\n", c.Kernel, count(ratioKeys), count(c.N),
			bytesText(cd.first.Bytes), bytesText(cd.first.HugeBytes), cd.ratioTargets(c.Kernel), cd.ratioTable())
	}
	if b.Len() == 0 {
		return "Not measured in this run.\n"
	}
	return b.String()
}

// ns returns the samples of an operation, which stand in the order of the rounds. Series of the ratios have no set.
func (c *caseData) ns(op string) []float64 {
	if s := c.series[seriesKey(op, "")]; s != nil {
		return s.samples()
	}
	return nil
}

// ratio returns the ratios of two operations, one for each round.
func (c *caseData) ratio(op, over string) Stat {
	a, b := c.ns(op), c.ns(over)
	if len(a) == 0 || len(a) != len(b) {
		return Stat{}
	}
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	s := summarize(r)
	s.Disturbed = c.series[seriesKey(op, "")].disturbed()
	return s
}

func (c *caseData) ratioTargets(kernel string) string {
	t := table{head: []string{"", "over", "ratio (quartiles; least)", "at most", "reached"}, left: 2}
	batch := map[string]float64{"avx512": 0.42, "avx2": 0.55}[kernel]
	add := func(what, over string, s Stat, most float64) {
		if s.N == 0 {
			return
		}
		if most == 0 {
			t.add(what, over, s.Spread(), "", "")
			return
		}
		t.add(what, over, s.Spread(), num(most), verdict(s.Median, most, false))
	}
	single := 0.0
	if batch > 0 {
		single = 1.7
	}
	const empty = "an empty call"
	add("one hash a call, L1, k = 8", empty, c.ratio(ratioOp(ratioSingle, 8), ratioEmpty), single)
	add("the same in a dependent chain", empty, c.ratio(ratioOp(ratioChain, 8), ratioEmpty), 0)
	add("batch of 1024 hashes, L1, k = 8", empty, c.ratio(ratioOp(ratioBatched, 8), ratioEmpty), batch)
	add("one add a call, L1, k = 8", empty, c.ratio(ratioOp(ratioAdd, 8), ratioEmpty), single*1.2)
	add("add of 1024 hashes, L1, k = 8", empty, c.ratio(ratioOp(ratioAddBatch, 8), ratioEmpty), batch*1.2)

	lines := []string{ratioLines, ratioLinesHuge}
	if 2*c.first.HugeBytes > c.first.Bytes {
		lines = []string{ratioLinesHuge, ratioLines}
	}
	for i, over := range lines {
		most := 0.0
		if i == 0 {
			most = 1.08 // the array that has the pages that the filter has
		}
		add("batch, large filter", "prefetched random "+over, c.ratio(ratioLarge, over), most)
		add("add in batch, large filter", "prefetched random "+over, c.ratio(ratioLargeAdd, over), most*1.2)
	}
	if c.ns(ratioLargeOrdinary) != nil {
		add("batch, large filter, ordinary pages", "prefetched random "+ratioLines, c.ratio(ratioLargeOrdinary, ratioLines), 1.08)
	}
	for _, what := range []string{ratioSingle, ratioBatched, ratioAddBatch} {
		for _, part := range []struct {
			from, to int
			most     float64
		}{{1, 7, 1.2}, {9, 16, 1.7}} {
			worst, at := Stat{}, 0
			for k := part.from; k <= part.to; k++ {
				if s := c.ratio(ratioOp(what, k), ratioOp(what, 8)); s.Median > worst.Median {
					worst, at = s, k
				}
			}
			add(fmt.Sprintf("%s, the slowest k from %d to %d: %d", what, part.from, part.to, at), "k = 8", worst, part.most)
		}
	}
	return t.String()
}

func (c *caseData) ratioTable() string {
	whats := []string{ratioSingle, ratioChain, ratioBatched, ratioAdd, ratioAddBatch}
	t := table{head: append([]string{"ns a key (and over the empty call)"}, whats...)}
	for k := 1; k <= 16; k++ {
		row := []string{fmt.Sprintf("k = %d", k)}
		for _, what := range whats {
			op := ratioOp(what, k)
			row = append(row, fmt.Sprintf("%s (%s)", num(summarize(c.ns(op)).Median), num(c.ratio(op, ratioEmpty).Median)))
		}
		t.add(row...)
	}
	large := []string{ratioEmpty, ratioLines, ratioLinesHuge, ratioLarge, ratioLargeOrdinary, ratioLargeAdd}
	for _, op := range large {
		if s := summarize(c.ns(op)); s.N > 0 {
			t.add(op, num(s.Median), "", "", "", "")
		}
	}
	return t.String()
}
