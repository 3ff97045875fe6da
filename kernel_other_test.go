//go:build !amd64 || purego

package blocked

// kernelVariants returns the ways to run a kernel, each a name and a function that sets it and returns one that puts it back.
func kernelVariants(id kernelID) map[string]func() func() {
	return map[string]func() func(){id.String(): func() func() { return func() {} }}
}
