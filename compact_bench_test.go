package blocked

import (
	"fmt"
	"testing"
)

// BenchmarkCompactLookup has MayContainCompact against OpenCompactUnverified and MayContain, which it stands for.
func BenchmarkCompactLookup(b *testing.B) {
	for _, n := range []int{80, 10_000} {
		f, err := New(uint64(n), 0.01)
		if err != nil {
			b.Fatal(err)
		}
		keys := make([][]byte, 4096)
		for i := range keys {
			keys[i] = fmt.Appendf(nil, "key-%016d", i)
			if i%2 == 0 {
				f.Add(keys[i])
			}
		}
		data, err := f.AppendCompact(nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("keys=%d/in-one", n), func(b *testing.B) {
			i, found := 0, 0
			for b.Loop() {
				if may, ok := MayContainCompact(data, 0, keys[i%len(keys)]); may && ok {
					found++
				}
				i++
			}
		})
		b.Run(fmt.Sprintf("keys=%d/two", n), func(b *testing.B) {
			i, found := 0, 0
			for b.Loop() {
				if v, err := OpenCompactUnverified(data, 0); err == nil && v.MayContain(keys[i%len(keys)]) {
					found++
				}
				i++
			}
		})
	}
}
