package pebblefilter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/blockedbloom/blocked"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// quiet is a pebble.Logger.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// open opens a database on disk whose levels have policy. Nothing is compacted unless it is asked for.
func open(t testing.TB, dir string, policy pebble.FilterPolicy, filters map[string]pebble.FilterPolicy, comparer *pebble.Comparer) *pebble.DB {
	t.Helper()
	opts := &pebble.Options{
		// By default Pebble ends the process where a checksum is wrong.
		EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
		Logger:        quiet{}, Filters: filters, Comparer: comparer, FormatMajorVersion: pebble.FormatNewest,
		DisableAutomaticCompactions: true, L0StopWritesThreshold: 1000, MemTableSize: 16 << 20,
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = policy
	}
	db, err := pebble.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func closeDB(t testing.TB, db *pebble.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// write stores the keys from to to-1 that leave r modulo m, and flushes them to a table.
func write(t testing.TB, db *pebble.DB, from, to, r, m int) {
	t.Helper()
	batch := db.NewBatch()
	for i := from; i < to; i++ {
		if i%m == r {
			if err := batch.Set(key(i), key(i), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(batch.Commit(pebble.NoSync), db.Flush()); err != nil {
		t.Fatal(err)
	}
}

func compact(t testing.TB, db *pebble.DB) {
	t.Helper()
	if err := db.Compact(context.Background(), []byte("a"), []byte("z"), false); err != nil {
		t.Fatal(err)
	}
	if m := db.Metrics(); m.Levels[6].TablesCount == 0 || m.Levels[6].TablesCount != m.Total().TablesCount {
		t.Fatalf("not all tables are in the last level:\n%v", m)
	}
}

// get reports whether i is stored.
func get(t testing.TB, db *pebble.DB, i int) bool {
	t.Helper()
	v, closer, err := db.Get(key(i))
	if errors.Is(err, pebble.ErrNotFound) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(v, key(i)) {
		t.Fatalf("key %d has the value %q", i, v)
	}
	if err := closer.Close(); err != nil {
		t.Fatal(err)
	}
	return true
}

// seeker returns a get that asks the filters of the last level as well. close is for before the database's.
func seeker(t testing.TB, db *pebble.DB) (get func(i int) bool, close func() error) {
	t.Helper()
	it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(i int) bool {
		t.Helper()
		found := it.SeekPrefixGE(key(i)) && bytes.Equal(it.Key(), key(i))
		if err := it.Error(); err != nil {
			t.Fatal(err)
		}
		return found
	}, it.Close
}

// asked returns how many tables the filters have spared and how many they have not while do ran.
func asked(db *pebble.DB, do func()) (hits, misses int64) {
	before := db.Metrics().Filter
	do()
	after := db.Metrics().Filter
	return after.Hits - before.Hits, after.Misses - before.Misses
}

const stored = 12000 // and as many are not, which stand between them

// allFound looks up all keys: even ones are stored, odd ones are not.
func allFound(t testing.TB, what string, get func(i int) bool) {
	t.Helper()
	for i := range 2 * stored {
		if found := get(i); found != (i%2 == 0) {
			t.Fatalf("%s: key %d: found = %v", what, i, found)
		}
	}
}

func rate(hits, misses int64) float64 { return float64(misses) / float64(hits+misses) }

// TestDatabase flushes, compacts and reopens, and counts what the filters spare against the plan.
func TestDatabase(t *testing.T) {
	bad := CorruptLookups()
	for _, c := range []struct {
		policy pebble.FilterPolicy
		plan   func(n uint64) float64
	}{
		{Policy(10), func(n uint64) float64 {
			g, err := blocked.PlanBits(n, 10)
			if err != nil {
				t.Fatal(err)
			}
			return g.FalsePositiveRate(n)
		}},
		{PolicyForRate(0.05), func(uint64) float64 { return 0.05 }},
	} {
		t.Run(fmt.Sprint(c.policy), func(t *testing.T) {
			dir := t.TempDir()
			db := open(t, dir, c.policy, nil, nil)
			const tables = 4
			for r := range tables {
				write(t, db, 0, 2*stored, 2*r, 2*tables)
			}
			near := func(what string, hits, misses int64, n uint64) {
				t.Helper()
				have, want := rate(hits, misses), c.plan(n)
				sigma := math.Sqrt(want / float64(hits+misses))
				// The plan is an average over filters; of one it deviates by a few per cent.
				if math.Abs(have-want) > 5*sigma+0.05*want {
					t.Errorf("%s: rate %.4f over %d lookups, planned %.4f", what, have, hits+misses, want)
				}
			}
			for _, reopened := range []bool{false, true} {
				if reopened {
					closeDB(t, db)
					db = open(t, dir, c.policy, nil, nil)
				}
				hits, misses := asked(db, func() {
					for i := 1; i < 2*stored-2*tables; i += 2 {
						if get(t, db, i) {
							t.Fatalf("key %d is found", i)
						}
					}
				})
				if n := hits + misses; n < tables*(stored-4*tables) {
					t.Fatalf("%d filters were asked, want %d for each of %d lookups", n, tables, stored)
				}
				near("flushed", hits, misses, stored/tables)
				allFound(t, "flushed", func(i int) bool { return get(t, db, i) })
			}
			compact(t, db)
			if hits, misses := asked(db, func() { allFound(t, "compacted", func(i int) bool { return get(t, db, i) }) }); hits+misses != 0 {
				t.Errorf("Get has asked %d filters in the last level", hits+misses)
			}
			seek, closeIter := seeker(t, db)
			hits, misses := asked(db, func() {
				for i := 1; i < 2*stored-1; i += 2 {
					if seek(i) {
						t.Fatalf("key %d is found", i)
					}
				}
			})
			if n := uint64(db.Metrics().Levels[6].TablesCount); n == 1 {
				near("compacted", hits, misses, stored)
			} else {
				t.Errorf("%d tables in the last level", n)
			}
			allFound(t, "compacted", seek)
			if err := errors.Join(closeIter(), db.Set([]byte("key-new"), nil, nil), db.Delete(key(0), nil), db.Flush()); err != nil {
				t.Fatal(err)
			}
			if get(t, db, 0) || !get(t, db, 2) {
				t.Error("a deleted key is found, or another is not")
			}
			closeDB(t, db)
		})
	}
	if n := CorruptLookups() - bad; n != 0 {
		t.Errorf("%d lookups met a bad filter", n)
	}
}

// TestChangeOfPolicy goes from Pebble's own policy to this one and back, and from one number of bits to another. Old filters are of use where they are known, and every key is found in any case.
func TestChangeOfPolicy(t *testing.T) {
	own := bloom.FilterPolicy(10)
	ownFilters := map[string]pebble.FilterPolicy{own.Name(): own}
	dir := t.TempDir()
	for step, s := range []struct {
		what    string
		policy  pebble.FilterPolicy
		filters map[string]pebble.FilterPolicy
		inUse   [2]bool // whether the filters of the tables of steps 0 and 1 are
	}{
		{"Pebble's own", own, nil, [2]bool{true, false}},
		{"ours", Policy(10), ownFilters, [2]bool{true, true}},
		{"ours of other bits, Pebble's own not known", Policy(16), nil, [2]bool{false, true}},
		{"Pebble's own again", own, Filters(), [2]bool{true, true}},
		{"Pebble's own, ours not known", own, nil, [2]bool{true, false}},
		{"none, both known", pebble.NoFilterPolicy, map[string]pebble.FilterPolicy{own.Name(): own, Name: Filters()[Name]}, [2]bool{true, true}},
		{"by rate", PolicyForRate(0.001), ownFilters, [2]bool{true, true}},
	} {
		db := open(t, dir, s.policy, s.filters, nil)
		if step < 2 {
			write(t, db, 0, 2*stored, 2*step, 4) // two tables in all
		}
		hits, misses := asked(db, func() {
			for i := 1; i < 2*stored; i += 2 {
				if get(t, db, i) {
					t.Fatalf("%s: key %d is found", s.what, i)
				}
			}
		})
		want := int64(0)
		for table, inUse := range s.inUse {
			if inUse && table <= step {
				want += stored
			}
		}
		if n := hits + misses; n > want || n < want-8 { // a key beyond a table's last one asks no filter
			t.Errorf("%s: %d filters were asked, want %d", s.what, n, want)
		}
		if want > 0 && rate(hits, misses) > 0.1 { // Pebble's own does not keep 1% with keys as these, a text and a number
			t.Errorf("%s: rate %.3f", s.what, rate(hits, misses))
		}
		for i := 0; i < 2*stored; i += 2 {
			if (i%4 == 0 || step > 0) && !get(t, db, i) {
				t.Fatalf("%s: key %d is not found", s.what, i)
			}
		}
		closeDB(t, db)
	}
	// A compaction writes all filters anew.
	for _, policy := range []pebble.FilterPolicy{Policy(10), own, PolicyForRate(0.01)} {
		db := open(t, dir, policy, nil, nil)
		write(t, db, 0, 2*stored, 0, 4) // or there is nothing to compact
		compact(t, db)
		seek, closeIter := seeker(t, db)
		if hits, _ := asked(db, func() { allFound(t, "compacted", seek) }); hits < stored*9/10 {
			t.Errorf("%v: %d tables were spared", policy, hits)
		}
		if err := closeIter(); err != nil {
			t.Fatal(err)
		}
		closeDB(t, db)
		for _, f := range filters(t, dir, nil) {
			if name := "fullfilter." + policy.Name(); f.Name != name {
				t.Errorf("a table has the filter %q, want %q", f.Name, name)
			}
		}
	}
}

// tableFilter is where a table's filter is on disk.
type tableFilter struct {
	sstable.NamedBlockHandle
	path string
}

// filters returns the filters of all tables in dir.
func filters(t testing.TB, dir string, comparer *pebble.Comparer) (all []tableFilter) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no tables", err)
	}
	opts := &pebble.Options{Comparer: comparer, Filters: Filters()}
	opts.EnsureDefaults()
	for _, path := range paths {
		f, err := vfs.Default.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		readable, err := sstable.NewSimpleReadable(f)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sstable.NewReader(context.Background(), readable, opts.MakeReaderOptions())
		if err != nil {
			t.Fatal(err)
		}
		layout, err := r.Layout()
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range layout.Filter {
			all = append(all, tableFilter{h, path})
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// damage changes a filter on disk. With mend the block's checksum is that of the changed bytes.
func (f tableFilter) damage(t testing.TB, mend bool, change func(filter []byte)) {
	t.Helper()
	table, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	b := table[f.Offset : f.Offset+f.Length+block.TrailerLen]
	if err := block.ValidateChecksum(block.ChecksumTypeCRC32c, b, f.Handle); err != nil {
		t.Fatal(err)
	}
	change(b[:f.Length])
	if mend {
		var sum block.Checksummer
		sum.Init(block.ChecksumTypeCRC32c)
		trailer := block.MakeTrailer(b[f.Length], sum.Checksum(b[:f.Length], b[f.Length]))
		copy(b[f.Length:], trailer[:])
	}
	if err := os.WriteFile(f.path, table, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedTable changes filters on disk. No stored key may become absent without an error.
func TestDamagedTable(t *testing.T) {
	for _, c := range []struct {
		what   string
		mend   bool
		change func(filter []byte)
		counts bool
	}{
		{"a bit is cleared, and the engine's checksum finds it", false, func(f []byte) { f[bytes.IndexFunc(f, func(r rune) bool { return r != 0 })] = 0 }, false},
		{"zeros, and the engine's checksum finds it", false, func(f []byte) { clear(f) }, false},
		{"zeros", true, func(f []byte) { clear(f) }, true},
		{"ones", true, func(f []byte) {
			for i := range f {
				f[i] = 0xff
			}
		}, true},
		{"another version", true, func(f []byte) { f[len(f)-8]++ }, true},
		{"an impossible k", true, func(f []byte) { f[len(f)-7] = 17 }, true},
		{"the first bytes at the end", true, func(f []byte) { slices.Reverse(f) }, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			db := open(t, dir, Policy(10), nil, nil)
			write(t, db, 0, 2*stored, 0, 2)
			closeDB(t, db)
			fs := filters(t, dir, nil)
			if len(fs) != 1 || fs[0].Name != "fullfilter."+Name {
				t.Fatalf("filters %v", fs)
			}
			fs[0].damage(t, c.mend, c.change)

			db = open(t, dir, Policy(10), nil, nil)
			bad := CorruptLookups()
			found, failed := 0, 0
			asks := stored / 10
			if !c.mend {
				asks = 3 // for each, Pebble looks for a bit whose flip would explain it
			}
			for i := range asks {
				i *= 20
				v, closer, err := db.Get(key(i))
				switch {
				case err == nil && bytes.Equal(v, key(i)):
					found++
					_ = closer.Close()
				case errors.Is(err, pebble.ErrNotFound):
					t.Fatalf("key %d is absent", i)
				default:
					failed++
				}
			}
			if c.mend && failed > 0 || !c.mend && found > 0 {
				t.Errorf("%d keys are found, %d fail", found, failed)
			}
			if n := CorruptLookups() - bad; c.counts != (n > 0) || c.counts && n != stored/10 {
				t.Errorf("%d lookups are counted as corrupt", n)
			}
			closeDB(t, db)
		})
	}
}

// impostor is a policy with this package's name and whatever bytes as filters.
type impostor struct {
	pebble.FilterPolicy
	filter []byte
}

func (p impostor) NewWriter(pebble.FilterType) pebble.FilterWriter { return impostorWriter(p) }

type impostorWriter impostor

func (w impostorWriter) AddKey([]byte)            {}
func (w impostorWriter) Finish(dst []byte) []byte { return append(dst, w.filter...) }

// TestForeignFilters reads tables with foreign bytes under our name, and the other way about.
func TestForeignFilters(t *testing.T) {
	for _, filter := range [][]byte{{}, {0}, []byte("What is this?"), make([]byte, 72), bytes.Repeat([]byte{0xff}, 72), build(bloom.FilterPolicy(10), 1000, nil)} {
		dir := t.TempDir()
		db := open(t, dir, impostor{Policy(10), filter}, nil, nil)
		write(t, db, 0, 2000, 0, 2)
		closeDB(t, db)
		db = open(t, dir, Policy(10), nil, nil)
		bad := CorruptLookups()
		for i := range 2000 {
			if get(t, db, i) != (i%2 == 0) {
				t.Fatalf("%q: key %d", filter, i)
			}
		}
		if n := CorruptLookups() - bad; n < 1999 || n > 2000 { // the last key is beyond the table
			t.Errorf("%q: %d lookups are counted as corrupt", filter, n)
		}
		closeDB(t, db)
	}
}

// TestConcurrentDatabases has one policy in several databases that are asked while they are written, flushed and compacted.
func TestConcurrentDatabases(t *testing.T) {
	const databases, keys = 3, 4000
	policy := Policy(10)
	bad := CorruptLookups()
	var wg sync.WaitGroup
	for range databases {
		db := open(t, t.TempDir(), policy, nil, nil)
		var written atomic.Int64 // even numbers below it are stored
		var readers sync.WaitGroup
		for g := range 3 {
			readers.Go(func() {
				for i := g; ; i += 7 {
					n := int(written.Load())
					if n == keys {
						return
					}
					if n == 0 {
						continue
					}
					i %= n
					_, closer, err := db.Get(key(i))
					switch {
					case err == nil && i%2 == 0:
						_ = closer.Close()
					case i%2 == 0 || !errors.Is(err, pebble.ErrNotFound):
						t.Errorf("key %d: %v", i, err)
						return
					}
				}
			})
		}
		wg.Go(func() {
			for n := 0; n < keys; n += keys / 8 {
				batch := db.NewBatch()
				for i := n; i < n+keys/8; i += 2 {
					if err := batch.Set(key(i), nil, nil); err != nil {
						t.Error(err)
					}
				}
				err := errors.Join(batch.Commit(pebble.NoSync), db.Flush())
				if n/(keys/8)%3 == 2 {
					err = errors.Join(err, db.Compact(context.Background(), []byte("a"), []byte("z"), true))
				}
				if err != nil {
					t.Error(err)
				}
				written.Store(int64(n + keys/8))
			}
			readers.Wait()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := CorruptLookups() - bad; n != 0 {
		t.Errorf("%d lookups met a bad filter", n)
	}
}

// later is what this package may be one day: it writes another form under another name, and reads this one by Filters.
type later struct{ pebble.FilterPolicy }

func (later) Name() string { return "blockedbloom.CompactFilter.v2" }
func (p later) MayContain(ft pebble.FilterType, filter, key []byte) bool {
	return len(filter) == 0 || p.FilterPolicy.MayContain(ft, filter[1:], key)
}
func (p later) NewWriter(ft pebble.FilterType) pebble.FilterWriter {
	return laterWriter{p.FilterPolicy.NewWriter(ft)}
}

type laterWriter struct{ pebble.FilterWriter }

func (w laterWriter) Finish(dst []byte) []byte { return w.FilterWriter.Finish(append(dst, 2)) }

// TestLaterVersion: the version of a table's filter is in its name, so that both versions live in one database, and an earlier program passes the later filters over.
func TestLaterVersion(t *testing.T) {
	dir := t.TempDir()
	bad := CorruptLookups()
	for step, s := range []struct {
		policy  pebble.FilterPolicy
		filters map[string]pebble.FilterPolicy
		want    int64 // filters asked
	}{
		{Policy(10), nil, stored},
		{later{Policy(10)}, Filters(), 2 * stored},
		{Policy(10), nil, stored}, // the earlier program again
	} {
		db := open(t, dir, s.policy, s.filters, nil)
		if step < 2 {
			write(t, db, 0, 2*stored, 2*step, 4)
		}
		hits, misses := asked(db, func() {
			for i := 1; i < 2*stored; i += 2 {
				if get(t, db, i) {
					t.Fatalf("step %d: key %d is found", step, i)
				}
			}
		})
		if n := hits + misses; n > s.want || n < s.want-8 || rate(hits, misses) > 0.02 {
			t.Errorf("step %d: %d filters asked, want %d, rate %.3f", step, n, s.want, rate(hits, misses))
		}
		for i := 0; i < 2*stored; i += 2 {
			if (i%4 == 0 || step > 0) && !get(t, db, i) {
				t.Fatalf("step %d: key %d is not found", step, i)
			}
		}
		closeDB(t, db)
	}
	if n := CorruptLookups() - bad; n != 0 {
		t.Errorf("%d lookups are counted as corrupt", n)
	}
}

// TestPrefixes has keys of which the filter knows a prefix that many share.
func TestPrefixes(t *testing.T) {
	comparer := *pebble.DefaultComparer
	comparer.Name = "test.prefix"
	comparer.Split = func(k []byte) int {
		if i := bytes.IndexByte(k, '@'); i >= 0 {
			return i
		}
		return len(k)
	}
	const prefixes, versions = 2000, 9
	dir := t.TempDir()
	db := open(t, dir, Policy(10), nil, &comparer)
	for p := range prefixes {
		for v := range versions {
			if err := db.Set(fmt.Appendf(nil, "%s@%d", key(2*p), v), nil, pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
		if err != nil {
			t.Fatal(err)
		}
		spared, read := asked(db, func() {
			for p := range 2*prefixes - 1 {
				n := 0
				for ok := it.SeekPrefixGE(key(p)); ok; ok = it.Next() {
					n++
				}
				if err := it.Error(); err != nil || n != versions*(1-p%2) {
					t.Fatalf("prefix %d has %d keys: %v", p, n, err)
				}
			}
		})
		if spared < prefixes*95/100 || read < prefixes {
			t.Errorf("%d prefixes were spared, %d not", spared, read)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		compact(t, db)
	}
	closeDB(t, db)
	for _, f := range filters(t, dir, &comparer) {
		if f.Length > prefixes*10/8+64+8 {
			t.Errorf("a filter of %d prefixes has %d bytes", prefixes, f.Length)
		}
	}
}
