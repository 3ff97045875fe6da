package leveldbfilter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

const stored = 6000 // and as many are not, which stand between them

// counted counts a filter's answers: the engine has no figure for them.
type counted struct {
	filter.Filter
	absent, may *atomic.Int64
}

func count(f filter.Filter) counted { return counted{f, new(atomic.Int64), new(atomic.Int64)} }

func (c counted) Contains(filter, key []byte) bool {
	may := c.Filter.Contains(filter, key)
	if may {
		c.may.Add(1)
	} else {
		c.absent.Add(1)
	}
	return may
}

// take returns the counts since the last one.
func (c counted) take() (absent, may int64) { return c.absent.Swap(0), c.may.Swap(0) }

// options keeps goleveldb from compacting tables by itself, but for what many lookups in one cause. Only a database that is open for reading leaves them all as they are.
func options(f filter.Filter, alt []filter.Filter) *opt.Options {
	return &opt.Options{Filter: f, AltFilters: alt, Compression: opt.NoCompression, CompactionL0Trigger: 1000, WriteL0SlowdownTrigger: 1000, WriteL0PauseTrigger: 1000}
}

// open opens a database on disk.
func open(t testing.TB, dir string, f filter.Filter, alt []filter.Filter) *leveldb.DB {
	t.Helper()
	return openWith(t, dir, options(f, alt))
}

// openToRead opens a database on disk for reading.
func openToRead(t testing.TB, dir string, f filter.Filter, alt []filter.Filter) *leveldb.DB {
	t.Helper()
	o := options(f, alt)
	o.ReadOnly = true
	return openWith(t, dir, o)
}

func openWith(t testing.TB, dir string, o *opt.Options) *leveldb.DB {
	t.Helper()
	db, err := leveldb.OpenFile(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func closeDB(t testing.TB, db *leveldb.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// write stores the keys below 2*stored that leave r modulo m. They are in a table once the database has been opened again.
func write(t testing.TB, db *leveldb.DB, r, m int) {
	t.Helper()
	var batch leveldb.Batch
	for i := range 2 * stored {
		if i%m == r {
			batch.Put(key(i), key(i))
		}
	}
	if err := db.Write(&batch, nil); err != nil {
		t.Fatal(err)
	}
}

// get reports whether i is stored.
func get(t testing.TB, db *leveldb.DB, i int) bool {
	t.Helper()
	v, err := db.Get(key(i), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(v, key(i)) {
		t.Fatalf("key %d has the value %q", i, v)
	}
	return true
}

// TestDatabase flushes, compacts and reopens, and holds what the filters spare against what their sizes promise.
func TestDatabase(t *testing.T) {
	bad := CorruptLookups()
	for _, c := range []struct {
		f    filter.Filter
		rate float64 // at most
	}{{Filter(10), 0.01}, {FilterForRate(0.05), 0.05}, {FilterForRate(0.001), 0.001}} {
		f := count(c.f)
		dir := t.TempDir()
		db := open(t, dir, f, nil)
		write(t, db, 0, 4)
		closeDB(t, db)
		db = open(t, dir, f, nil)
		write(t, db, 2, 4)
		closeDB(t, db)
		closeDB(t, open(t, dir, f, nil)) // the log becomes a table
		for _, compacted := range []bool{false, true} {
			if compacted {
				db = open(t, dir, f, nil)
				if err := db.CompactRange(util.Range{}); err != nil {
					t.Fatal(err)
				}
				closeDB(t, db)
			}
			db = openToRead(t, dir, f, nil)
			f.take()
			for i := 1; i < 2*stored; i += 2 {
				if get(t, db, i) {
					t.Fatalf("%v: key %d is found", f.Filter, i)
				}
			}
			absent, may := f.take()
			tables := int64(2)
			if compacted {
				tables = 1
			}
			if n := absent + may; n < tables*stored*99/100 {
				t.Errorf("%v: %d filters were asked, want %d for each of %d lookups", f.Filter, n, tables, stored)
			}
			if r := float64(may) / float64(absent+may); r > 1.2*c.rate+5e-4 {
				t.Errorf("%v: rate %.4f", f.Filter, r)
			}
			for i := range 2 * stored {
				if get(t, db, i) != (i%2 == 0) {
					t.Fatalf("%v: key %d", f.Filter, i)
				}
			}
			closeDB(t, db)
		}
	}
	if n := CorruptLookups() - bad; n != 0 {
		t.Errorf("%d lookups met a bad filter", n)
	}
}

// sized notes how many keys each filter has.
type sized struct {
	filter.Filter
	keys *[]int
}

func (s sized) NewGenerator() filter.FilterGenerator {
	return &sizedGenerator{s.Filter.NewGenerator(), s.keys, 0}
}

type sizedGenerator struct {
	filter.FilterGenerator
	keys *[]int
	n    int
}

func (g *sizedGenerator) Add(key []byte) { g.n++; g.FilterGenerator.Add(key) }
func (g *sizedGenerator) Generate(b filter.Buffer) {
	*g.keys = append(*g.keys, g.n)
	g.n = 0
	g.FilterGenerator.Generate(b)
}

// TestCompression: a filter is for 2 KiB of the file, so it has the keys of one block if nothing is compressed, and of several with Snappy, the default.
func TestCompression(t *testing.T) {
	for _, c := range []struct {
		compression opt.Compression
		least, most int // keys of the middle filter
	}{{opt.NoCompression, 60, 160}, {opt.DefaultCompression, 200, 800}} {
		var keys []int
		o := options(sized{Filter(10), &keys}, nil)
		o.Compression = c.compression
		dir := t.TempDir()
		db := openWith(t, dir, o)
		write(t, db, 0, 2)
		closeDB(t, db)
		closeDB(t, openWith(t, dir, o)) // the log becomes a table
		f := count(Filter(10))
		o.Filter, o.ReadOnly = f, true
		db = openWith(t, dir, o)
		for i := range 2 * stored {
			if get(t, db, i) != (i%2 == 0) {
				t.Fatalf("%v: key %d", c.compression, i)
			}
		}
		if absent, may := f.take(); absent < stored*98/100 || absent+may < 2*stored*99/100 {
			t.Errorf("%v: %d spared, %d not", c.compression, absent, may)
		}
		closeDB(t, db)
		slices.Sort(keys)
		if n := keys[len(keys)/2]; n < c.least || n > c.most {
			t.Errorf("%v: the middle one of %d filters has %d keys, want %d to %d", c.compression, len(keys), n, c.least, c.most)
		}
		t.Logf("%v: %d filters, of %d to %d keys, the middle one of %d", c.compression, len(keys), keys[0], keys[len(keys)-1], keys[len(keys)/2])
	}
}

// later is what this package may be one day: it writes another form under another name.
type later struct{ filter.Filter }

func (later) Name() string { return "blockedbloom.CompactFilter.v2" }
func (l later) Contains(filter, key []byte) bool {
	return l.Filter.Contains(filter[:len(filter)-1], key)
}
func (l later) NewGenerator() filter.FilterGenerator {
	return laterGenerator{l.Filter.NewGenerator()}
}

type laterGenerator struct{ filter.FilterGenerator }

func (g laterGenerator) Generate(b filter.Buffer) {
	g.FilterGenerator.Generate(b)
	_ = b.WriteByte(2)
}

// TestChangeOfFilter goes from goleveldb's own filter to this one and back, to other parameters, and to a later version. Old filters are of use where they are known, and every key is found in any case.
func TestChangeOfFilter(t *testing.T) {
	bad := CorruptLookups()
	dir := t.TempDir()
	own := count(filter.NewBloomFilter(10))
	ours := count(Filters()[0])
	next := count(later{Filter(10)})
	all := []filter.Filter{own, ours, next}
	for step, s := range []struct {
		what  string
		f     filter.Filter
		alt   []filter.Filter
		inUse [3]bool
	}{
		{"goleveldb's own", own, nil, [3]bool{true}},
		{"ours", ours, all, [3]bool{true, true}},
		{"the later version", next, all, [3]bool{true, true, true}},
		{"ours with other parameters", Filter(20), nil, [3]bool{false, true, false}},
		{"goleveldb's own again", own, all, [3]bool{true, true, true}},
		{"goleveldb's own, ours not known", own, nil, [3]bool{true, false, false}},
		{"none", nil, Filters(), [3]bool{false, true, false}},
	} {
		if step < 3 {
			db := open(t, dir, s.f, s.alt)
			write(t, db, 2*step, 6)
			closeDB(t, db)
			closeDB(t, open(t, dir, s.f, s.alt)) // the log becomes a table
		}
		db := openToRead(t, dir, s.f, s.alt)
		for _, f := range []counted{own, ours, next} {
			f.take()
		}
		for i := 1; i < 2*stored; i += 2 {
			if get(t, db, i) {
				t.Fatalf("%s: key %d is found", s.what, i)
			}
		}
		for n, f := range []counted{own, ours, next} {
			if step == 3 || step == 6 {
				continue // the one in use is not counted
			}
			absent, may := f.take()
			if want := s.inUse[n] && n <= step; want != (absent > stored*8/10) || !want && absent+may > 0 {
				t.Errorf("%s: filter %d: spared %d, not %d, in use: %v", s.what, n, absent, may, want)
			}
		}
		for i := 0; i < 2*stored; i += 2 {
			if i%6/2 <= step && !get(t, db, i) {
				t.Fatalf("%s: key %d is not found", s.what, i)
			}
		}
		closeDB(t, db)
	}
	if n := CorruptLookups() - bad; n != 0 {
		t.Errorf("%d lookups met a bad filter", n)
	}
}

// filterBlock finds the block of filters in a table: what the entry "filter." of the metaindex says.
func filterBlock(t testing.TB, table []byte) (offset, length uint64) {
	t.Helper()
	footer := table[len(table)-48:]
	metaOffset, n := binary.Uvarint(footer)
	metaLength, _ := binary.Uvarint(footer[n:])
	meta := table[metaOffset : metaOffset+metaLength]
	if table[metaOffset+metaLength] != 0 {
		t.Fatal("the metaindex is compressed")
	}
	name := []byte("filter." + Name)
	at := bytes.Index(meta, name)
	if at < 0 {
		t.Fatalf("no filter in the metaindex %q", meta)
	}
	offset, n = binary.Uvarint(meta[at+len(name):])
	length, _ = binary.Uvarint(meta[at+len(name)+n:])
	return offset, length
}

// TestDamagedTable changes filters on disk. No stored key may become absent.
func TestDamagedTable(t *testing.T) {
	for _, c := range []struct {
		what   string
		mend   bool // the block's checksum is that of the changed bytes
		change func(filters []byte)
		counts bool
	}{
		{"zeros, and the engine's checksum finds it", false, func(f []byte) { clear(f) }, false},
		{"zeros", true, func(f []byte) { clear(f) }, true},
		{"ones", true, func(f []byte) {
			for i := range f {
				f[i] = 0xff
			}
		}, true},
		{"reversed", true, func(f []byte) { slices.Reverse(f) }, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			db := open(t, dir, Filter(10), nil)
			write(t, db, 0, 2)
			closeDB(t, db)
			closeDB(t, open(t, dir, Filter(10), nil)) // makes the table
			paths, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
			if err != nil || len(paths) != 1 {
				t.Fatal(paths, err)
			}
			table, err := os.ReadFile(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			offset, length := filterBlock(t, table)
			b := table[offset : offset+length+5]
			filters := b[:binary.LittleEndian.Uint32(b[length-5:])] // behind them are their offsets
			c.change(filters)
			if c.mend {
				crc := crc32.Checksum(b[:length+1], crc32.MakeTable(crc32.Castagnoli))
				binary.LittleEndian.PutUint32(b[length+1:], (crc>>15|crc<<17)+0xa282ead8)
			}
			if err := os.WriteFile(paths[0], table, 0o666); err != nil {
				t.Fatal(err)
			}
			f := count(Filter(10))
			db = openToRead(t, dir, f, nil)
			bad := CorruptLookups()
			for i := range 2 * stored {
				if get(t, db, i) != (i%2 == 0) {
					t.Fatalf("key %d", i)
				}
			}
			if n := CorruptLookups() - bad; c.counts != (n > stored) {
				t.Errorf("%d lookups are counted as corrupt", n)
			}
			if absent, may := f.take(); !c.mend && absent+may > 0 {
				t.Errorf("%d filters of a damaged block were asked", absent+may)
			}
			closeDB(t, db)
		})
	}
}

// impostor is a filter with this package's name and whatever bytes as filters.
type impostor struct {
	filter.Filter
	bytes []byte
}

func (i impostor) NewGenerator() filter.FilterGenerator { return impostorGenerator(i) }

type impostorGenerator impostor

func (impostorGenerator) Add([]byte) {}
func (g impostorGenerator) Generate(b filter.Buffer) {
	if _, err := b.Write(g.bytes); err != nil {
		panic(err)
	}
}

// TestForeignFilters reads tables with foreign bytes under our name. Empty ones do not come to the filter: goleveldb takes them as filters of nothing.
func TestForeignFilters(t *testing.T) {
	for _, foreign := range [][]byte{{0}, []byte("What is this?"), make([]byte, 72), bytes.Repeat([]byte{0xff}, 72), build(filter.NewBloomFilter(10), 80)} {
		dir := t.TempDir()
		db := open(t, dir, impostor{Filter(10), foreign}, nil)
		write(t, db, 0, 2)
		closeDB(t, db)
		closeDB(t, open(t, dir, impostor{Filter(10), foreign}, nil)) // makes the table
		db = openToRead(t, dir, Filter(10), nil)
		bad := CorruptLookups()
		for i := range 2 * stored {
			if get(t, db, i) != (i%2 == 0) {
				t.Fatalf("%q: key %d", foreign, i)
			}
		}
		if n := CorruptLookups() - bad; n < 2*stored*99/100 {
			t.Errorf("%q: %d lookups are counted as corrupt", foreign, n)
		}
		closeDB(t, db)
	}
}

// Example is the set-up.
func Example() {
	dir, err := os.MkdirTemp("", "leveldbfilter")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := leveldb.OpenFile(dir, &opt.Options{Filter: Filter(10)})
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Put([]byte("apple"), []byte("red"), nil); err != nil {
		panic(err)
	}
	_, err = db.Get([]byte("banana"), nil)
	fmt.Println(err)
	// Output: leveldb: not found
}
