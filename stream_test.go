package blocked

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/iotest"
	"time"
)

// stutter returns few bytes, sometimes none, and its last ones together with io.EOF.
type stutter struct {
	data []byte
	r    *rand.Rand
}

func (s *stutter) Read(p []byte) (int, error) {
	n := min(len(p), len(s.data), s.r.IntN(100))
	copy(p, s.data[:n])
	s.data = s.data[n:]
	if len(s.data) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// TestStream reads several filters, with other bytes before, between and behind them, from readers of all habits.
func TestStream(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	var stream bytes.Buffer
	var want []*Filter
	for _, blocks := range []uint64{1, 40, 3, 5000, 2} {
		f := newFilter(Geometry{blocks, 1 + r.IntN(16)}, r.Uint64(), false)
		for range 20 * blocks {
			f.AddHash(r.Uint64())
		}
		stream.WriteString("between")
		if n, err := f.WriteTo(&stream); err != nil || n != int64(64*(blocks+1)) {
			t.Fatalf("%d bytes, error %v", n, err)
		}
		want = append(want, f)
	}
	stream.WriteString("between")
	data := stream.Bytes()
	for name, reader := range map[string]io.Reader{
		"bytes":    bytes.NewReader(data),
		"buffer":   bytes.NewBuffer(data),
		"one byte": iotest.OneByteReader(bytes.NewReader(data)),
		"half":     iotest.HalfReader(bytes.NewReader(data)),
		"data+EOF": iotest.DataErrReader(bytes.NewReader(data)),
		"stutter":  &stutter{data, r},
	} {
		var f Filter
		for i, w := range want {
			var between [7]byte
			if _, err := io.ReadFull(reader, between[:]); err != nil || string(between[:]) != "between" {
				t.Fatalf("%s: before filter %d: %q, %v", name, i, between, err)
			}
			if n, err := f.ReadFrom(reader); err != nil || n != int64(64*(w.blocks+1)) {
				t.Fatalf("%s: filter %d: %d bytes, %v", name, i, n, err)
			}
			if !sameFilter(f.View(), w) {
				t.Fatalf("%s: filter %d is another", name, i)
			}
		}
		io.ReadFull(reader, make([]byte, 7))
		last := f.Clone()
		if n, err := f.ReadFrom(reader); n != 0 || !errors.Is(err, io.EOF) || errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: at the end: %d bytes, %v", name, n, err)
		}
		if !sameFilter(f.View(), last) {
			t.Errorf("%s: the end of the stream changed the filter", name)
		}
	}
}

// TestStreamErrors passes a reader's and a writer's own errors on.
func TestStreamErrors(t *testing.T) {
	f := fullFilter(Geometry{30, 8})
	data, _ := f.MarshalBinary()
	for n := range len(data) {
		g := fullFilter(Geometry{30, 8})
		read, err := g.ReadFrom(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(iotest.ErrTimeout)))
		if int(read) != n || !errors.Is(err, iotest.ErrTimeout) || errors.Is(err, ErrCorrupt) {
			t.Fatalf("after %d bytes: %d read, %v", n, read, err)
		}
		if !g.MayContainHash(12345) || n > headerBytes && !g.MayContainHash(54321) {
			t.Fatalf("after %d bytes: a filter that lost its keys calls some absent", n)
		}
		if n > 0 {
			if _, err = g.ReadFrom(bytes.NewReader(data[:n])); !errors.Is(err, ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
		}
		if _, err := g.ReadFrom(bytes.NewReader(data)); err != nil || !sameFilter(g.View(), f) {
			t.Fatalf("after an error: %v", err)
		}
		if wrote, err := f.WriteTo(&limited{n: n, err: os.ErrDeadlineExceeded}); int(wrote) != n || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a writer of %d bytes: %d, %v", n, wrote, err)
		}
		if wrote, err := f.WriteTo(&limited{n: n}); int(wrote) != n || !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("a short writer of %d bytes: %d, %v", n, wrote, err)
		}
	}
}

// limited takes n bytes.
type limited struct {
	n   int
	err error
}

func (w *limited) Write(p []byte) (int, error) {
	n := min(len(p), w.n)
	w.n -= n
	if n < len(p) {
		return n, w.err
	}
	return n, nil
}

// TestStreamMemory reads a filter of 32 MiB in every way and watches what that takes.
func TestStreamMemory(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("takes memory")
	}
	f := newFilter(Geometry{32 << 20 / 64, 8}, 0, false)
	f.AddHash(1)
	size := uint64(len(f.Bits()))
	path := filepath.Join(t.TempDir(), "filter")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const constant = 256 << 10
	dst := newFilter(f.Geometry(), 0, false)
	for _, c := range []struct {
		name string
		most uint64
		do   func() error
	}{
		{"bytes.Reader", size + constant, func() error { _, err := new(Filter).ReadFrom(bytes.NewReader(data)); return err }},
		{"os.File", size + constant, func() error { _, err := new(Filter).ReadFrom(file); return err }},
		{"unknown length", size + size/streamGrowth + size/streamGrowth/8 + constant, func() error {
			_, err := new(Filter).ReadFrom(io.MultiReader(bytes.NewReader(data)))
			return err
		}},
		{"into a filter", constant, func() error { _, err := dst.ReadFrom(io.MultiReader(bytes.NewReader(data))); return err }},
		{"UnmarshalBinary", size + constant, func() error { return new(Filter).UnmarshalBinary(data) }},
		{"UnmarshalBinary into a filter", constant, func() error { return dst.UnmarshalBinary(data) }},
		{"WriteTo", constant, func() error { _, err := f.WriteTo(io.Discard); return err }},
		{"Save", constant, func() error { return f.Save(path) }},
		{"OpenFile", constant, func() error {
			m, err := OpenFile(path)
			if err != nil {
				return err
			}
			return m.Close()
		}},
		{"MarshalBinary", size + constant, func() error { _, err := f.MarshalBinary(); return err }},
	} {
		if c.name == "OpenFile" && !mapsFiles {
			continue
		}
		if a := allocated(func() { err = c.do() }); err != nil || a > c.most {
			t.Errorf("%s: %d bytes allocated for a filter of %d, at most %d allowed; error %v", c.name, a, size, c.most, err)
		}
	}
	// A stream that is cut short costs in proportion to what it has.
	for _, n := range []int{headerBytes + 1, 100 << 10, 2 << 20, 20 << 20} {
		a := allocated(func() { _, err = new(Filter).ReadFrom(io.MultiReader(bytes.NewReader(data[:n]))) })
		if err == nil || a > uint64(n)*(streamGrowth+2)+constant {
			t.Errorf("cut to %d bytes: %d allocated, error %v", n, a, err)
		}
	}
	// The peak of what is in use at once, with a garbage collector that runs all the time.
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	runtime.GC()
	var before, peak runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan error)
	go func() { _, err := new(Filter).ReadFrom(iotest.HalfReader(bytes.NewReader(data))); done <- err }()
	most := uint64(0)
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			if most > size+size/4+4<<20 {
				t.Errorf("%d bytes in use while reading %d", most, size)
			}
			return
		case <-time.After(time.Millisecond):
			runtime.ReadMemStats(&peak)
			most = max(most, peak.HeapAlloc-min(before.HeapAlloc, peak.HeapAlloc))
		}
	}
}
