//go:build !purego

package blocked

// availableKernels lists the kernels of arm64. NEON is a part of the architecture: there is nothing to ask for.
func availableKernels() []kernelID { return []kernelID{kernelNEON, kernelGeneric} }

// contains, add, addIfAbsent and addShared are in assembly from their first instruction, which looks at the header to go to the right kernel: a Go function around a call
// of assembly would be a second call.

//go:noescape
func contains(f *header, h uint64) bool

//go:noescape
func add(f *header, h uint64)

//go:noescape
func addIfAbsent(f *header, h uint64) bool

//go:noescape
func addShared(c *Concurrent, h uint64) bool

func containsBatch(f *header, dst *bool, hs *uint64, n, ahead int) {
	if f.kernel != kernelNEON {
		containsBatchGeneric(f, dst, hs, n, ahead)
		return
	}
	switch f.class {
	case classLow:
		containsLowBatchNEON(f, dst, hs, n, ahead)
	case classHigh:
		containsHighBatchNEON(f, dst, hs, n, ahead)
	default:
		containsEightBatchNEON(f, dst, hs, n, ahead)
	}
}

func addBatch(f *header, hs *uint64, n, ahead int) {
	if f.kernel != kernelNEON {
		addBatchGeneric(f, hs, n, ahead)
		return
	}
	switch f.class {
	case classLow:
		addLowBatchNEON(f, hs, n, ahead)
	case classHigh:
		addHighBatchNEON(f, hs, n, ahead)
	default:
		addEightBatchNEON(f, hs, n, ahead)
	}
}

func addIfAbsentBatch(f *header, dst *bool, hs *uint64, n, ahead int) {
	if f.kernel != kernelNEON {
		addIfAbsentBatchGeneric(f, dst, hs, n, ahead)
		return
	}
	switch f.class {
	case classLow:
		addIfAbsentLowBatchNEON(f, dst, hs, n, ahead)
	case classHigh:
		addIfAbsentHighBatchNEON(f, dst, hs, n, ahead)
	default:
		addIfAbsentEightBatchNEON(f, dst, hs, n, ahead)
	}
}

// prefetchBatch fetches the blocks of hs[0:n]; n is a multiple of batchWidth.
func prefetchBatch(f *header, hs *uint64, n int) {
	if f.kernel == kernelNEON {
		prefetchBatchNEON(f, hs, n)
	}
}

//go:noescape
func prefetchBatchNEON(f *header, hs *uint64, n int)

//go:noescape
func containsEightBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsLowBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsHighBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addEightBatchNEON(f *header, hs *uint64, n, ahead int)

//go:noescape
func addLowBatchNEON(f *header, hs *uint64, n, ahead int)

//go:noescape
func addHighBatchNEON(f *header, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentEightBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentLowBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentHighBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)
