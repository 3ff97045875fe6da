package blocked

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Benchmarks of opening, building and statistics. `go test -run - -bench Files` runs them.

// benchContainer returns the container and the compact form of a filter with n keys at 10 bits each and k probes.
func benchContainer(b *testing.B, n int, k int) (container, compact []byte) {
	b.Helper()
	f, err := NewGeometry(Geometry{Blocks: max(1, uint64(n)*10/blockBits), K: k})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		f.AddUint64(uint64(i))
	}
	container, err = f.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	compact, err = f.AppendCompact(nil)
	if err != nil {
		b.Fatal(err)
	}
	return container, compact
}

// BenchmarkFilesOpen opens a filter, and opens it for one lookup.
func BenchmarkFilesOpen(b *testing.B) {
	for _, n := range []int{80, 10_000, 1_000_000} {
		container, compact := benchContainer(b, n, 8)
		open := map[string]func() (View, error){
			"verified":           func() (View, error) { return OpenView(container) },
			"unverified":         func() (View, error) { return OpenViewUnverified(container) },
			"compact-verified":   func() (View, error) { return OpenCompact(compact, 0) },
			"compact-unverified": func() (View, error) { return OpenCompactUnverified(compact, 0) },
		}
		for _, name := range []string{"verified", "unverified", "compact-verified", "compact-unverified"} {
			b.Run(fmt.Sprintf("keys=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				open := open[name]
				for b.Loop() {
					v, err := open()
					if err != nil || v.blocks == 0 {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("keys=%d/unverified-lookup", n), func(b *testing.B) {
			b.ReportAllocs()
			h := uint64(1)
			for b.Loop() {
				v, err := OpenViewUnverified(container)
				if err != nil {
					b.Fatal(err)
				}
				v.MayContainHash(h)
				h += mul1
			}
		})
	}
}

// BenchmarkFilesOpenFile maps a file of a million keys.
func BenchmarkFilesOpenFile(b *testing.B) {
	container, _ := benchContainer(b, 1_000_000, 8)
	path := filepath.Join(b.TempDir(), "filter")
	if err := os.WriteFile(path, container, 0o666); err != nil {
		b.Fatal(err)
	}
	for name, open := range map[string]func(string) (*File, error){"verified": OpenFile, "unverified": OpenFileUnverified} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f, err := open(path)
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}

// BenchmarkFilesBuild gives ns and bytes of memory a key, of 20 bytes, for a table's filter: collected and then made, and for comparison added to a filter of the right size.
func BenchmarkFilesBuild(b *testing.B) {
	for _, n := range []int{80, 10_000, 1_000_000} {
		keys := make([][]byte, n)
		for i := range keys {
			keys[i] = binary.BigEndian.AppendUint64([]byte("user-account"), uint64(i))
		}
		perKey := func(b *testing.B, bytes int) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
			b.ReportMetric(float64(bytes)/float64(n), "B/key")
		}
		b.Run(fmt.Sprintf("keys=%d/builder", n), func(b *testing.B) {
			bl, err := NewBuilderBits(10)
			if err != nil {
				b.Fatal(err)
			}
			var dst []byte
			for b.Loop() {
				bl.Reset()
				for _, key := range keys {
					bl.Add(key)
				}
				if dst, err = bl.AppendFinish(dst[:0]); err != nil {
					b.Fatal(err)
				}
			}
			held := len(dst)
			for _, c := range bl.chunks {
				held += 8 * cap(c)
			}
			perKey(b, held)
		})
		g, err := PlanBits(uint64(n), 10)
		if err != nil {
			b.Fatal(err)
		}
		direct := func(name string, add func(f *Filter)) {
			b.Run(fmt.Sprintf("keys=%d/%s", n, name), func(b *testing.B) {
				f, err := NewGeometry(g)
				if err != nil {
					b.Fatal(err)
				}
				var dst []byte
				for b.Loop() {
					f.Reset()
					add(f)
					if dst, err = f.AppendBinary(dst[:0]); err != nil {
						b.Fatal(err)
					}
				}
				perKey(b, len(f.Bits())+len(dst))
			})
		}
		direct("direct", func(f *Filter) {
			for _, key := range keys {
				f.Add(key)
			}
		})
		direct("direct-batch", func(f *Filter) { f.AddKeys(keys) })
	}
}

// BenchmarkFilesStats gives ns a block of each statistic, beside reading the memory once and doing next to nothing with it.
func BenchmarkFilesStats(b *testing.B) {
	for _, size := range []int{32 << 10, 1 << 20, 64 << 20} {
		blocks := uint64(size) / blockBytes
		run := func(name string, one func(f *Filter)) {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, name), func(b *testing.B) {
				k := 8
				fmt.Sscanf(name, "rate/k=%d", &k)
				f, err := NewGeometry(Geometry{Blocks: blocks, K: k})
				if err != nil {
					b.Fatal(err)
				}
				for i := range blocks * 40 {
					f.AddHash(i * mul1)
				}
				for b.Loop() {
					one(f)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(blocks), "ns/block")
			})
		}
		run("read", func(f *Filter) { readSink = readAll(f.Bits()) })
		run("fill", func(f *Filter) { f.Fill() })
		run("cardinality", func(f *Filter) { f.Cardinality() })
		for k := 1; k <= 16; k++ {
			run(fmt.Sprintf("rate/k=%d", k), func(f *Filter) { f.FalsePositiveRate() })
		}
		run("stats", func(f *Filter) { f.Stats() })
	}
}

var readSink uint64

// readAll reads every word of data once.
func readAll(data []byte) (x uint64) {
	for ; len(data) >= blockBytes; data = data[blockBytes:] {
		b := (*[blockBytes]byte)(data)
		le := binary.LittleEndian
		x += le.Uint64(b[0:]) ^ le.Uint64(b[8:]) ^ le.Uint64(b[16:]) ^ le.Uint64(b[24:]) ^ le.Uint64(b[32:]) ^ le.Uint64(b[40:]) ^ le.Uint64(b[48:]) ^ le.Uint64(b[56:])
	}
	return x
}
