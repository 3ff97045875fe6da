//go:build (!amd64 && !arm64) || purego

package blocked

func availableKernels() []kernelID { return []kernelID{kernelGeneric} }

func contains(f *header, h uint64) bool    { return containsGeneric(f, h) }
func add(f *header, h uint64)              { addGeneric(f, h) }
func addIfAbsent(f *header, h uint64) bool { return addIfAbsentGeneric(f, h) }

func addShared(c *Concurrent, h uint64) bool { return addSharedGo(c, h) }

func containsBatch(f *header, dst *bool, hs *uint64, n, ahead int) {
	containsBatchGeneric(f, dst, hs, n, ahead)
}

func addBatch(f *header, hs *uint64, n, ahead int) { addBatchGeneric(f, hs, n, ahead) }

func addIfAbsentBatch(f *header, dst *bool, hs *uint64, n, ahead int) {
	addIfAbsentBatchGeneric(f, dst, hs, n, ahead)
}

// prefetchBatch does nothing: there is no portable prefetch.
func prefetchBatch(f *header, hs *uint64, n int) {}
