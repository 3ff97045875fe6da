// The command bench measures package blocked and its peers, each case in a process of its own, and writes raw results, tables and pictures.
//
//	go run .                                 everything, under half an hour on two cores
//	go run . -quick                          a selection, about two minutes
//	go run . -smoke                          tiny sizes: does it all still work?
//	go run . -ratios                         only the ratios over an empty call: RATIOS.md
//	go run . -report results/full.jsonl      tables and pictures of a run again, without measuring
//
// README.md has the method. Only the full run replaces README.md and pictures/; the others write theirs below results/, but with -publish.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	if spec := os.Getenv(childVariable); spec != "" {
		runChild(spec)
		return
	}
	var (
		quick   = flag.Bool("quick", false, "measure a selection, in about two minutes")
		smoke   = flag.Bool("smoke", false, "try everything at tiny sizes, to see that it works; the figures mean nothing")
		ratios  = flag.Bool("ratios", false, "measure only the ratios over an empty call")
		report  = flag.String("report", "", "measure nothing: write tables and pictures of this raw `file`")
		publish = flag.Bool("publish", false, "replace README.md and pictures/ even if this is not the full run")
		only    = flag.String("only", "", "measure only cases whose name contains `text`")
		rounds  = flag.Int("rounds", 0, "take so many rounds instead of the mode's `number`")
		list    = flag.Bool("list", false, "list the cases and measure nothing")
	)
	flag.Parse()
	if flag.NArg() > 0 {
		fail(fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}

	m := fullMode()
	switch {
	case *smoke:
		m = smokeMode()
	case *quick:
		m = quickMode()
	case *ratios:
		m = ratiosMode()
	}
	if *rounds > 0 {
		m.Rounds = *rounds
	}
	if *only != "" || *rounds > 0 {
		m.Name += "-part"
	}
	if *list {
		for _, c := range m.cases(*only) {
			fmt.Println(c)
		}
		return
	}

	path := *report
	if path == "" {
		path = filepath.Join("results", m.Name+".jsonl")
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		if err := measure(m, *only, path, "go run . "+strings.Join(os.Args[1:], " "), interrupted); err != nil {
			fail(err)
		}
	}
	run, err := readRun(path)
	if err != nil {
		fail(err)
	}
	dir := "."
	if !*publish && run.Header.Mode != "full" && run.Header.Mode != "ratios" {
		dir = filepath.Join("results", run.Header.Mode)
	}
	written, err := writeReport(run, dir)
	if err != nil {
		fail(err)
	}
	fmt.Println("raw results:", path)
	for _, w := range written {
		fmt.Println("wrote", w)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}
