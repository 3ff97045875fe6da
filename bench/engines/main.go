// Command engines measures the table filters of the adapters against those of the storage engines, outside the engines and inside, and writes ../ENGINES.md.
//
//	go run .                        # about a minute; writes results.json and ../ENGINES.md
//	go run . -smoke                 # tiny sizes, only to see that it works; writes nothing
//	go run . -report results.json   # ../ENGINES.md again
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	smoke := flag.Bool("smoke", false, "tiny sizes, only to see that it works")
	from := flag.String("report", "", "write the report of these results, and measure nothing")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*smoke, *from); err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
		os.Exit(1)
	}
}

func run(smoke bool, from string) error {
	var r results
	if from != "" {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	} else {
		var err error
		if r, err = measureAll(smoke); err != nil {
			return err
		}
	}
	text := r.markdown()
	if smoke {
		fmt.Println(len(text), "bytes of report")
		return nil
	}
	if from == "" {
		data, err := json.MarshalIndent(r, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile("results.json", append(data, '\n'), 0o666); err != nil {
			return err
		}
	}
	return os.WriteFile("../ENGINES.md", []byte(text), 0o666)
}
