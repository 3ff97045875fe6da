//go:build (amd64 || arm64) && !purego

package baseline

// Assembly reports whether the baselines are in assembly.
const Assembly = true

//go:noescape
func empty()

//go:noescape
func readLines(mem *byte, lines uint64, hashes *uint64, n int) uint64

//go:noescape
func readLinesPrefetched(mem *byte, lines uint64, hashes *uint64, n int) uint64
