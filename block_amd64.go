//go:build !purego

package blocked

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// The features that the instructions of each amd64 kernel need, and AVX-512 VL with them: F, BW, DQ and VL come together in every processor but the first ones, which had AVX-512 at a price. cpuid counts a feature only where the operating
// system keeps the registers as well.
var (
	needAVX2   = []cpuid.FeatureID{cpuid.AVX2, cpuid.BMI2, cpuid.BMI1}
	needAVX512 = []cpuid.FeatureID{cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL, cpuid.BMI2, cpuid.BMI1, cpuid.POPCNT}
	// needBITALG is for the batch lookups by VPSHUFBITQMB, a part of the AVX-512 kernel.
	needBITALG = []cpuid.FeatureID{cpuid.AVX512BITALG}
)

// bitGather selects the batch lookups by VPSHUFBITQMB in the AVX-512 kernel.
//
// Intel's processors multiply 64-bit lanes in three steps and forward a stored product for nothing: there it takes a quarter less time than
// the other way. AMD's are the reverse in both, so they keep the multiplication in the vector.
var bitGather = cpuid.CPU.Supports(needBITALG...) && cpuid.CPU.VendorID == cpuid.Intel

func availableKernels() []kernelID {
	return kernelsFor(runtime.GOOS, cpuid.CPU.Supports)
}

// kernelsFor lists the kernels that a system with those features can run, the fastest first.
func kernelsFor(goos string, supports func(...cpuid.FeatureID) bool) []kernelID {
	var ids []kernelID
	// macOS has lost the upper AVX-512 state when a signal arrived, and no Mac is sold with it any more.
	if goos != "darwin" && goos != "ios" && supports(needAVX512...) {
		ids = append(ids, kernelAVX512)
	}
	if supports(needAVX2...) {
		ids = append(ids, kernelAVX2)
	}
	return append(ids, kernelGeneric)
}

// contains, add and addIfAbsent are in assembly from their first instruction, which looks at the header to go to the right kernel: a call
// of assembly costs more than a nanosecond, and the Go function around it would cost another.

//go:noescape
func contains(f *header, h uint64) bool

//go:noescape
func add(f *header, h uint64)

//go:noescape
func addIfAbsent(f *header, h uint64) bool

//go:noescape
func addShared(c *Concurrent, h uint64) bool

func containsBatch(f *header, dst *bool, hs *uint64, n, ahead int) {
	switch f.kernel {
	case kernelAVX512:
		switch {
		case f.class == classEight && bitGather:
			containsEightBatchBITALG(f, dst, hs, n, ahead)
		case f.class == classEight:
			containsEightBatchAVX512(f, dst, hs, n, ahead)
		case f.class == classLow && bitGather:
			containsLowBatchBITALG(f, dst, hs, n, ahead)
		case f.class == classLow:
			containsLowBatchAVX512(f, dst, hs, n, ahead)
		case bitGather:
			containsHighBatchBITALG(f, dst, hs, n, ahead)
		default:
			containsHighBatchAVX512(f, dst, hs, n, ahead)
		}
	case kernelAVX2:
		switch f.class {
		case classLow:
			containsLowBatchAVX2(f, dst, hs, n, ahead)
		case classHigh:
			containsHighBatchAVX2(f, dst, hs, n, ahead)
		default:
			containsEightBatchAVX2(f, dst, hs, n, ahead)
		}
	default:
		containsBatchGeneric(f, dst, hs, n, ahead)
	}
}

func addBatch(f *header, hs *uint64, n, ahead int) {
	switch f.kernel {
	case kernelAVX512:
		switch f.class {
		case classLow:
			addLowBatchAVX512(f, hs, n, ahead)
		case classHigh:
			addHighBatchAVX512(f, hs, n, ahead)
		default:
			addEightBatchAVX512(f, hs, n, ahead)
		}
	case kernelAVX2:
		switch f.class {
		case classLow:
			addLowBatchAVX2(f, hs, n, ahead)
		case classHigh:
			addHighBatchAVX2(f, hs, n, ahead)
		default:
			addEightBatchAVX2(f, hs, n, ahead)
		}
	default:
		addBatchGeneric(f, hs, n, ahead)
	}
}

func addIfAbsentBatch(f *header, dst *bool, hs *uint64, n, ahead int) {
	switch f.kernel {
	case kernelAVX512:
		switch f.class {
		case classLow:
			addIfAbsentLowBatchAVX512(f, dst, hs, n, ahead)
		case classHigh:
			addIfAbsentHighBatchAVX512(f, dst, hs, n, ahead)
		default:
			addIfAbsentEightBatchAVX512(f, dst, hs, n, ahead)
		}
	case kernelAVX2:
		switch f.class {
		case classLow:
			addIfAbsentLowBatchAVX2(f, dst, hs, n, ahead)
		case classHigh:
			addIfAbsentHighBatchAVX2(f, dst, hs, n, ahead)
		default:
			addIfAbsentEightBatchAVX2(f, dst, hs, n, ahead)
		}
	default:
		addIfAbsentBatchGeneric(f, dst, hs, n, ahead)
	}
}

// prefetchBatch fetches the blocks of hs[0:n]; n is a multiple of batchWidth.
func prefetchBatch(f *header, hs *uint64, n int) {
	if f.kernel != kernelGeneric {
		prefetchBatchBMI2(f, hs, n)
	}
}

//go:noescape
func prefetchBatchBMI2(f *header, hs *uint64, n int)

//go:noescape
func containsEightBatchBITALG(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsLowBatchBITALG(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsHighBatchBITALG(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsEightBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsLowBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsHighBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addEightBatchAVX512(f *header, hs *uint64, n, ahead int)

//go:noescape
func addLowBatchAVX512(f *header, hs *uint64, n, ahead int)

//go:noescape
func addHighBatchAVX512(f *header, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentEightBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentLowBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentHighBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsEightBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsLowBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func containsHighBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addEightBatchAVX2(f *header, hs *uint64, n, ahead int)

//go:noescape
func addLowBatchAVX2(f *header, hs *uint64, n, ahead int)

//go:noescape
func addHighBatchAVX2(f *header, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentEightBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentLowBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)

//go:noescape
func addIfAbsentHighBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)
