// Command mca counts the arm64 kernels with llvm-mca, for want of a machine to time them on, and writes NEON.md. It needs LLVM's llvm-objdump and llvm-mca (Debian's and Ubuntu's package llvm-19, or another version with
// -suffix).
//
//	go run ./mca        in bench/
//
// What it counts is what the assembler made: it builds the package's test binary for arm64 and takes the loops and paths of the kernels from its disassembly.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	symbolPrefix = "github.com/blockedbloom/blocked."
	batchWidth   = 8
	iterations   = 200
)

var cpus = []string{"neoverse-v2", "neoverse-n1", "apple-m1"}

// An instruction is a line of disassembly.
type instruction struct {
	at   uint64
	text string
}

func main() {
	log.SetFlags(0)
	suffix := flag.String("suffix", "-19", "what follows the names of LLVM's commands")
	out := flag.String("o", "NEON.md", "the file to write")
	flag.Parse()
	if err := run(*suffix, *out); err != nil {
		log.Fatal(err)
	}
}

func run(suffix, out string) error {
	dir, err := os.MkdirTemp("", "mca")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "blocked.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Dir = ".."
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	version, err := exec.Command("llvm-mca"+suffix, "--version").Output()
	if err != nil {
		return err
	}
	number := regexp.MustCompile(`version \S+`).FindString(string(version))
	goVersion, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return err
	}

	var b strings.Builder
	fmt.Fprintf(&b, `<!-- Written by "go run ./mca". -->
# The NEON kernels, counted

Cycles a key, as LLVM's llvm-mca counts the code that Go's assembler made, with everything in the first-level cache. Nothing here was timed on a machine. The model of
apple-m1 in LLVM is an old one and knows little of that processor; the one of neoverse-v2 lets through more instructions a cycle than the processor does.
addShared is that of a new key, without what the exclusive load and store cost beyond those of any other.

LLVM %s, %s, %s; `+"`go run ./mca`"+` in bench/.

| kernel | instructions a key | %s |
| --- | ---: |%s
`, number, strings.TrimSpace(string(goVersion)), time.Now().UTC().Format("2006-01-02"), strings.Join(cpus, " | "), strings.Repeat(" ---: |", len(cpus)))
	c := counter{suffix: suffix, binary: binary, dir: dir, out: &b}
	classes := []string{"k = 8", "k < 8", "k > 8"}
	for _, op := range []string{"contains", "add", "addIfAbsent"} {
		for i, class := range []string{"Eight", "Low", "High"} {
			if err := c.loop(op+", batch, "+classes[i], op+class+"BatchNEON", false); err != nil {
				return err
			}
		}
	}
	if err := c.loop("contains, batch, k = 8, fetching ahead", "containsEightBatchNEON", true); err != nil {
		return err
	}
	for _, op := range []string{"contains", "add", "addIfAbsent", "addShared"} { // addShared of a new key
		for i, class := range classes {
			if err := c.path(op+", one, "+class, op, i); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(out, []byte(b.String()), 0o666)
}

type counter struct {
	suffix, binary, dir string
	out                 *strings.Builder
}

var (
	lineForm   = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(.*)`)
	targetForm = regexp.MustCompile(`0x([0-9a-f]+)`)
)

// disassemble returns a function's instructions.
func (c *counter) disassemble(function string) ([]instruction, error) {
	text, err := exec.Command("llvm-objdump"+c.suffix, "-d", "--no-show-raw-insn", "--disassemble-symbols="+symbolPrefix+function+".abi0", c.binary).Output()
	if err != nil {
		return nil, err
	}
	var code []instruction
	for line := range strings.Lines(string(text)) {
		m := lineForm.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			return nil, err
		}
		instr, _, _ := strings.Cut(m[2], "//")
		code = append(code, instruction{at, strings.TrimSpace(instr)})
	}
	if len(code) == 0 {
		return nil, fmt.Errorf("%s: no code", function)
	}
	return code, nil
}

// target returns the index of the instruction that a branch goes to.
func target(code []instruction, branch string) (int, error) {
	m := targetForm.FindStringSubmatch(branch)
	if m == nil {
		return 0, fmt.Errorf("no target: %s", branch)
	}
	at, err := strconv.ParseUint(m[1], 16, 64)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(code, func(i instruction) bool { return i.at == at })
	if i < 0 {
		return 0, fmt.Errorf("target outside: %s", branch)
	}
	return i, nil
}

// loop counts the loop of a batch kernel, which ends at its last backward branch and begins with a branch around the fetches.
func (c *counter) loop(name, function string, ahead bool) error {
	code, err := c.disassemble(function)
	if err != nil {
		return err
	}
	end := len(code) - 1
	for end >= 0 && !strings.HasPrefix(code[end].text, "b.ne") {
		end--
	}
	if end < 0 {
		return fmt.Errorf("%s: no loop", function)
	}
	start, err := target(code, code[end].text)
	if err != nil {
		return err
	}
	body := code[start : end+1]
	if !ahead && strings.HasPrefix(body[0].text, "cbz") {
		i, err := target(code, body[0].text)
		if err != nil {
			return err
		}
		body = append([]instruction{body[0]}, code[i:end+1]...)
	}
	return c.count(name, body, batchWidth)
}

// path counts the way of one key through a function whose branches to the other classes are its first conditional ones: skip of them are taken.
func (c *counter) path(name, function string, skip int) error {
	code, err := c.disassemble(function)
	if err != nil {
		return err
	}
	var body []instruction
	for i := 0; ; {
		if i >= len(code) || len(body) > 1000 {
			return errors.New(function + ": no end")
		}
		instr := code[i]
		body = append(body, instr)
		verb, _, _ := strings.Cut(strings.ReplaceAll(instr.text, "\t", " "), " ")
		switch {
		case verb == "ret":
			return c.count(name, body, 1)
		case verb == "b", verb == "b.ne" && skip > 0:
			if verb == "b.ne" {
				skip--
			}
			if i, err = target(code, instr.text); err != nil {
				return err
			}
		default:
			i++
		}
	}
}

var (
	symbolForm = regexp.MustCompile(`<[^>]*>`)
	branchForm = regexp.MustCompile(`^(b\.\w+|b|cbn?z\s+\w+,|tbn?z\s+\w+,\s*#\S+,|ldr\s+\w+,)\s*0x[0-9a-f]+$`)
	adrpForm   = regexp.MustCompile(`^(adrp\s+\w+,)\s*0x[0-9a-f]+$`)
)

// count runs llvm-mca on code, which does keys keys, and writes a line of the table.
func (c *counter) count(name string, code []instruction, keys int) error {
	var lines []string
	for _, instr := range code {
		text := strings.TrimSpace(symbolForm.ReplaceAllString(instr.text, ""))
		if strings.HasPrefix(text, "ret") || strings.HasPrefix(text, "nop") {
			continue
		}
		text = branchForm.ReplaceAllString(text, "$1 .+8")
		text = adrpForm.ReplaceAllString(text, "$1 .")
		lines = append(lines, text)
	}
	file := filepath.Join(c.dir, "code.s")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "| %s | %.1f |", name, float64(len(lines))/float64(keys))
	for _, cpu := range cpus {
		text, err := exec.Command("llvm-mca"+c.suffix, "-mtriple=aarch64", "-mcpu="+cpu, "-iterations="+strconv.Itoa(iterations), file).Output()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m := regexp.MustCompile(`Total Cycles:\s+(\d+)`).FindStringSubmatch(string(text))
		if m == nil {
			return fmt.Errorf("%s: llvm-mca says nothing of cycles", name)
		}
		cycles, err := strconv.Atoi(m[1])
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, " %.2f |", float64(cycles)/iterations/float64(keys))
	}
	c.out.WriteByte('\n')
	return nil
}
