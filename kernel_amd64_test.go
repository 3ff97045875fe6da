//go:build !purego

package blocked

import (
	"slices"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// kernelVariants returns the ways to run a kernel, each a name and a function that sets it and returns one that puts it back.
func kernelVariants(id kernelID) map[string]func() func() {
	gather := func(on bool) func() func() {
		return func() func() {
			saved := bitGather
			bitGather = on
			return func() { bitGather = saved }
		}
	}
	vs := map[string]func() func(){id.String(): gather(false)}
	if id == kernelAVX512 && cpuid.CPU.Supports(needBITALG...) {
		vs["avx512-bitalg"] = gather(true)
	}
	return vs
}

// TestKernelsFor injects sets of features: each one that a kernel needs has to be asked for, and AVX-512 is not for macOS.
func TestKernelsFor(t *testing.T) {
	all := append(slices.Clone(needAVX512), needAVX2...)
	without := func(ids ...cpuid.FeatureID) func(...cpuid.FeatureID) bool {
		return func(asked ...cpuid.FeatureID) bool {
			for _, id := range asked {
				if !slices.Contains(all, id) || slices.Contains(ids, id) {
					return false
				}
			}
			return true
		}
	}
	check := func(goos string, supports func(...cpuid.FeatureID) bool, want ...kernelID) {
		t.Helper()
		if got := kernelsFor(goos, supports); !slices.Equal(got, want) {
			t.Errorf("kernels are %v, want %v", got, want)
		}
	}
	check("linux", without(), kernelAVX512, kernelAVX2, kernelGeneric)
	check("darwin", without(), kernelAVX2, kernelGeneric)
	for _, id := range []cpuid.FeatureID{cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL} {
		check("linux", without(id), kernelAVX2, kernelGeneric)
	}
	check("linux", without(cpuid.AVX2), kernelAVX512, kernelGeneric)
	check("linux", without(cpuid.POPCNT), kernelAVX2, kernelGeneric)
	check("linux", without(cpuid.BMI2), kernelGeneric)
	check("linux", without(cpuid.BMI1), kernelGeneric)
	check("windows", func(...cpuid.FeatureID) bool { return false }, kernelGeneric)
	// An operating system that does not keep the wide registers: cpuid then reports none of the AVX features.
	check("linux", without(append(slices.Clone(needAVX512[:4]), cpuid.AVX2)...), kernelGeneric)
}
