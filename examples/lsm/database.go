package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/blockedbloom/blocked"
	"github.com/blockedbloom/blocked/adapters/pebble"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

const (
	parts     = 8       // tables of L0
	cacheSize = 9 << 20 // bytes of the block cache with the memtable, so that it holds a part of the tables only
)

// database is one of those that are compared.
type database struct {
	*pebble.DB
	name  string
	iter  *pebble.Iterator // of the last level, in its time
	built time.Duration    // for all tables
	busy  <-chan error     // closed at the end of the newest step of await
}

// Close closes the iterator as well.
func (db *database) Close() error {
	var err error
	if db.iter != nil {
		err = db.iter.Close()
	}
	return errors.Join(err, db.DB.Close())
}

// logger tells of what ends the process only.
type logger struct{ dir string }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}
func (l logger) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "\nlsm: "+format+"\n", args...)
	if err := os.RemoveAll(l.dir); err != nil {
		fmt.Fprintln(os.Stderr, "lsm:", errLeft, err)
	}
	os.Exit(1)
}

// openAll makes the databases below dir. An error in their background comes to fail. Those that are open are returned with the error.
func openAll(dir string, c config, fail func(error)) (dbs []*database, err error) {
	for _, v := range []struct {
		name   string
		policy pebble.FilterPolicy
	}{
		{"blocked", pebblefilter.Policy(float64(c.bits))},
		{"Pebble's own", bloom.FilterPolicy(c.bits)},
		{"none", pebble.NoFilterPolicy},
	} {
		opts := &pebble.Options{
			Logger: logger{dir},
			FS:     c.fs,
			EventListener: &pebble.EventListener{BackgroundError: func(err error) {
				fail(fmt.Errorf("the database with the filter %q: %w", v.name, err))
			}},
			// All have the same tables. A batch is larger than the memtable, and so becomes a run of tables by itself; a large
			// memtable would be taken off the cache.
			DisableAutomaticCompactions: true, L0StopWritesThreshold: 1000, DisableWAL: true, MemTableSize: 1 << 20,
			FormatMajorVersion: pebble.FormatNewest,
			Cache:              pebble.NewCache(cacheSize),
		}
		for i := range opts.Levels {
			opts.Levels[i].FilterPolicy = v.policy
		}
		db, err := pebble.Open(filepath.Join(dir, v.name[:4]), opts)
		opts.Cache.Unref()
		if err != nil {
			return dbs, err
		}
		dbs = append(dbs, &database{DB: db, name: v.name})
	}
	return dbs, nil
}

// fill stores the lines in each database, and flushes a table after each part of them.
func fill(ctx context.Context, dbs []*database, lines []line) error {
	bar := newBar("building three databases", len(lines)*len(dbs))
	for part := range parts {
		lines := lines[part*len(lines)/parts : (part+1)*len(lines)/parts]
		for _, db := range dbs {
			start := time.Now()
			batch := db.NewBatch()
			for i, l := range lines {
				if i%1024 == 0 && ctx.Err() != nil {
					return errors.Join(context.Cause(ctx), batch.Close())
				}
				if err := batch.Set([]byte(l.text), []byte(l.place), nil); err != nil {
					return err
				}
			}
			if err := await(ctx, db, func() error { return errors.Join(batch.Commit(pebble.NoSync), batch.Close(), db.Flush()) }); err != nil {
				return err
			}
			db.built += time.Since(start)
			bar.add(len(lines))
		}
	}
	bar.done()
	return nil
}

// compactAll brings everything into the last level.
func compactAll(ctx context.Context, dbs []*database) error {
	bar := newBar("compacting", len(dbs))
	for _, db := range dbs {
		if err := await(ctx, db, func() error { return db.Compact(ctx, []byte{0}, bytes.Repeat([]byte{0xff}, 16), true) }); err != nil {
			return err
		}
		if m := db.Metrics(); m.Levels[6].TablesCount != m.Total().TablesCount {
			return fmt.Errorf("%s: %d tables are not in the last level", db.name, m.Total().TablesCount-m.Levels[6].TablesCount)
		}
		iter, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
		if err != nil {
			return err
		}
		db.iter = iter
		bar.add(1)
	}
	bar.done()
	return nil
}

// filterSize returns what a database's filters take, and the rate that a plan promises for them if they are this library's, as an
// average over the keys.
func (db *database) filterSize() (filters, tables uint64, planned float64, err error) {
	levels, err := db.SSTables(pebble.WithProperties())
	if err != nil {
		return 0, 0, 0, err
	}
	keys := 0.0
	for _, level := range levels {
		for _, t := range level {
			n := t.Properties.NumEntries
			filters += t.Properties.FilterSize
			tables += t.Size
			g := blocked.Geometry{Blocks: t.Properties.FilterSize / 64}
			best := 1.0
			for g.K = 1; g.K <= 16; g.K++ { // the policy has the best one
				best = min(best, g.FalsePositiveRate(n))
			}
			planned += best * float64(n)
			keys += float64(n)
		}
	}
	return filters, tables, planned / keys, nil
}

// getter looks a key up and reports whether it is there.
type getter func(db *database, key []byte) (bool, error)

func byGet(db *database, key []byte) (bool, error) {
	_, closer, err := db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, closer.Close()
}

func bySeek(db *database, key []byte) (bool, error) {
	found := db.iter.SeekPrefixGE(key) && bytes.Equal(db.iter.Key(), key)
	return found, db.iter.Error()
}

// work is what is looked up: three sequences that all databases get in the same order.
type work struct {
	kinds [3]kind
}

type kind struct {
	name string
	keys [][]byte
	in   []bool
}

func newWork(stored, held []line) *work {
	r := rand.New(rand.NewPCG(1, 2))
	sequence := func(name string, share float64) kind {
		k := kind{name: name}
		s, h := r.Perm(len(stored)), r.Perm(len(held))
		for len(s) > 0 && len(h) > 0 {
			in := r.Float64() < share
			from, order := held, &h
			if in {
				from, order = stored, &s
			}
			k.keys = append(k.keys, []byte(from[(*order)[0]].text))
			k.in = append(k.in, in)
			*order = (*order)[1:]
		}
		return k
	}
	return &work{[3]kind{sequence("misses", 0), sequence("hits", 1), sequence("mixed", 0.5)}}
}

// sample is what one database did in the lookups of one kind.
type sample struct {
	ns      []float64 // a lookup, for each round
	lookups int
	found   int
	spared  int64 // tables that a filter has spared
	passed  int64 // tables that a filter has not
	blocks  int64 // loaded, from the cache or a file
	read    int64 // from files
}

const perRound = 500

// lookUp looks keys up for some seconds. The result is by kind, then by database.
func lookUp(ctx context.Context, what string, dbs []*database, w *work, seconds float64, get getter) (all [3][]sample, err error) {
	for k := range all {
		all[k] = make([]sample, len(dbs))
	}
	bar := newBar(what, int(seconds*1000))
	start := time.Now()
	spent := 0
	for round := 0; round < 4 || spent < int(seconds*1000); round++ {
		for k, kind := range w.kinds {
			from := round * perRound % (len(kind.keys) - perRound + 1)
			keys, in := kind.keys[from:from+perRound], kind.in[from:from+perRound]
			for turn := range dbs {
				if ctx.Err() != nil {
					return all, context.Cause(ctx)
				}
				i := (turn + round) % len(dbs)
				db := dbs[i]
				before := db.Metrics()
				found := 0
				began := time.Now()
				for j, key := range keys {
					ok, err := get(db, key)
					if err != nil {
						return all, err
					}
					if ok != in[j] {
						return all, fmt.Errorf("%s: found = %v of a line that was stored = %v: %q", db.name, ok, in[j], key)
					}
					if ok {
						found++
					}
				}
				took := time.Since(began)
				after := db.Metrics()
				if round == 0 {
					continue // for the caches
				}
				s := &all[k][i]
				s.ns = append(s.ns, float64(took.Nanoseconds())/perRound)
				s.lookups += perRound
				s.found += found
				s.spared += after.Filter.Hits - before.Filter.Hits
				s.passed += after.Filter.Misses - before.Filter.Misses
				s.read += after.BlockCache.Misses - before.BlockCache.Misses
				s.blocks += after.BlockCache.Hits - before.BlockCache.Hits + after.BlockCache.Misses - before.BlockCache.Misses
			}
		}
		now := int(time.Since(start).Milliseconds())
		bar.add(now - spent)
		spent = now
	}
	bar.done()
	return all, nil
}

var _ io.Closer = (*database)(nil)
