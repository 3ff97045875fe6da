package blocked

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, blocks := range []uint64{300, prefetchBytes/blockBytes + 1} {
			f, err := NewGeometry(Geometry{blocks, 8}, WithSeed(9))
			if err != nil {
				t.Fatal(err)
			}
			for _, width := range []int{1, 3, 4, 7, 8, 9, 16, 32, 300} {
				for _, n := range []int{0, 1, 7, 31, 33, 161, 500} {
					buf := make([]byte, n*width+1)[1:] // not aligned
					var keys [][]byte
					for i := range n {
						for j := range width {
							buf[i*width+j] = byte(i*31 + j*i + n)
						}
						keys = append(keys, buf[i*width:(i+1)*width])
					}
					want := f.Clone()
					want.Reset()
					got := want.Clone()
					want.AddKeys(keys[:n/2])
					if err := got.AddColumn(buf[:n/2*width], width); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got.Bits(), want.Bits()) {
						t.Fatalf("%d keys of width %d: AddColumn sets other bits than AddKeys", n, width)
					}
					a, b := make([]bool, n), make([]bool, n+1)
					got.MayContainKeys(a, keys)
					if err := got.MayContainColumn(b, buf, width); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(a, b[:n]) || b[n] {
						t.Fatalf("%d keys of width %d: MayContainColumn is wrong", n, width)
					}
					clear(b)
					if err := viewOf(t, got).MayContainColumn(b, buf, width); err != nil || !slices.Equal(a, b[:n]) || b[n] {
						t.Fatalf("%d keys of width %d: a view's MayContainColumn is wrong: %v", n, width, err)
					}
				}
			}
		}
	})
}

func viewOf(t *testing.T, f *Filter) View {
	t.Helper()
	data, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	v, err := OpenView(data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBinaryColumns(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 30, 32, 200, 1000} {
			var data []byte
			o32, o64 := []int32{0}, []int64{0}
			var keys [][]byte
			for i := range n {
				key := fmt.Append(nil, i*i, strings.Repeat("x", i%40))[i%2:]
				data = append(data, key...)
				keys = append(keys, key)
				o32, o64 = append(o32, int32(len(data))), append(o64, int64(len(data)))
			}
			data = append(data, "not in the column"...)
			want := mustNew(t, 100, 0.01)
			want.AddKeys(keys)
			a, b := mustNew(t, 100, 0.01), mustNew(t, 100, 0.01)
			if err := errors.Join(a.AddBinaryColumn(data, o32), b.AddLargeBinaryColumn(data, o64)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bits(), want.Bits()) || !bytes.Equal(b.Bits(), want.Bits()) {
				t.Fatalf("%d keys: a column sets other bits than AddKeys", n)
			}
			x, y, z := make([]bool, n), make([]bool, n), make([]bool, n)
			want.Reset()
			want.AddKeys(keys[:n/3])
			want.MayContainKeys(x, keys)
			if err := errors.Join(want.MayContainBinaryColumn(y, data, o32), want.MayContainLargeBinaryColumn(z, data, o64)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(x, y) || !slices.Equal(x, z) {
				t.Fatalf("%d keys: lookups in a column are wrong", n)
			}
			clear(y)
			clear(z)
			v := viewOf(t, want)
			if err := errors.Join(v.MayContainBinaryColumn(y, data, o32), v.MayContainLargeBinaryColumn(z, data, o64)); err != nil || !slices.Equal(x, y) || !slices.Equal(x, z) {
				t.Fatalf("%d keys: a view's lookups in a column are wrong: %v", n, err)
			}
			if err := errors.Join((View{}).MayContainBinaryColumn(y, data, o32), (View{}).MayContainColumn(z, make([]byte, n), 1)); err != nil || slices.Contains(y, false) || slices.Contains(z, false) {
				t.Fatalf("%d keys: a zero View calls a key of a column absent: %v", n, err)
			}
			// A slice of a column starts at another offset than 0.
			if n > 10 {
				want.Reset()
				want.AddKeys(keys[5:9])
				a.Reset()
				if err := a.AddBinaryColumn(data, o32[5:10]); err != nil || !bytes.Equal(a.Bits(), want.Bits()) {
					t.Fatalf("a part of a column: %v", err)
				}
			}
		}
	})
}

func TestColumnErrors(t *testing.T) {
	f := mustNew(t, 10, 0.01)
	dst := []bool{true, true, true}
	for name, err := range map[string]error{
		"width = 0":                  f.AddColumn(nil, 0),
		"width = -1":                 f.MayContainColumn(dst, make([]byte, 4), -1),
		"multiple of width = 3":      f.AddColumn(make([]byte, 4), 3),
		"len(buf) = 5":               f.MayContainColumn(dst, make([]byte, 5), 2),
		"offsets[0] = -1":            f.AddBinaryColumn(make([]byte, 4), []int32{-1, 2}),
		"offsets[2] = 1":             f.AddLargeBinaryColumn(make([]byte, 4), []int64{0, 2, 1}),
		"offsets[1] = 5":             f.MayContainBinaryColumn(dst, make([]byte, 4), []int32{0, 5, 5}),
		"at most len(data) = 4":      f.MayContainLargeBinaryColumn(dst, make([]byte, 4), []int64{0, 1 << 62}),
		"offsets[1] = -214748364800": f.AddLargeBinaryColumn(make([]byte, 4), []int64{0, -214748364800}),
	} {
		if !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), name) {
			t.Errorf("error is %v, want ErrParameter with %q", err, name)
		}
	}
	for _, c := range f.Bits() {
		if c != 0 {
			t.Fatal("a column with an error was added")
		}
	}
	if !dst[0] || !dst[1] || !dst[2] {
		t.Error("answers were written beside an error")
	}
	if err := f.AddBinaryColumn(nil, nil); err != nil {
		t.Errorf("an empty column: %v", err)
	}
	if err := f.AddBinaryColumn(nil, []int32{0}); err != nil {
		t.Errorf("an empty column: %v", err)
	}
}
