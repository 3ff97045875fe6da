package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Stat sums up samples. The zero Stat is of none.
type Stat struct {
	N                        int
	Min, Q1, Median, Q3, Max float64
	Disturbed                bool
}

func summarize(ns []float64) Stat {
	if len(ns) == 0 {
		return Stat{}
	}
	s := slices.Clone(ns)
	slices.Sort(s)
	at := func(q float64) float64 {
		x := q * float64(len(s)-1)
		i := int(x)
		if i+1 == len(s) {
			return s[i]
		}
		return s[i] + (x-float64(i))*(s[i+1]-s[i])
	}
	return Stat{len(s), s[0], at(0.25), at(0.5), at(0.75), s[len(s)-1], false}
}

// num writes nanoseconds, or a ratio, with as many digits as mean something.
func num(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "-"
	case x < 9.995:
		return fmt.Sprintf("%.2f", x)
	case x < 99.95:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// mark is what stands beside a figure that rests on disturbed samples.
const mark = "~"

// String is the median.
func (s Stat) String() string {
	if s.N == 0 {
		return "-"
	}
	if s.Disturbed {
		return num(s.Median) + mark
	}
	return num(s.Median)
}

// Spread is the median, the quartiles and the minimum.
func (s Stat) Spread() string {
	if s.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%v (%s, %s; %s)", s, num(s.Q1), num(s.Q3), num(s.Min))
}

// A table is a table in Markdown.
type table struct {
	head []string
	rows [][]string
	left int // columns from the left that are text
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	if len(t.rows) == 0 {
		return "Not measured in this run.\n"
	}
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(c, "|", "\\|") + " |")
		}
		b.WriteString("\n")
	}
	line(t.head)
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---:"
		if i < max(t.left, 1) {
			rule[i] = "---"
		}
	}
	line(rule)
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}
