// Package sampletest plays the 1C load on a small base and keeps the log that a 1C server would have written of it.
package sampletest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/recorded/sample"
	"plimsoll/test/patience"
)

// Database is what the log calls the base.
const Database = "trade"

// Base is a copy of the base as it was before the load.
func Base(t testing.TB) string {
	t.Helper()
	return clustertest.Copy(t, "1c recorded", func(dsn string) error {
		_, err := onec.Fill(patience.Context(t), dsn, onec.FillOptions{Plain: true,
			Sizes: onec.Sizes{Documents: 1200, Items: 200, Partners: 24, Warehouses: 8}})
		return err
	}).Secret()
}

// Options of a load.
type Options struct {
	Users    int
	Sessions int // 0: each user has one
	Each     int // operations of a user
	Pause    time.Duration
	Tick     time.Duration // of the log's clock
}

// Recording of a load.
type Recording struct {
	Truth sample.Truth
	files map[string][]byte
}

// list shows what the others wrote until then: on a busy machine no two plays agree on its rows.
const list = "sales.list"

// Record a load. Each user does operations by the load's weights, without lists of what others write.
func Record(t testing.TB, o Options) Recording {
	t.Helper()
	ctx := patience.Context(t)
	var ids []string
	var deck []int
	for _, op := range onec.Operations() {
		if op.ID == list {
			continue
		}
		for range int(op.Weight) {
			deck = append(deck, len(ids))
		}
		ids = append(ids, op.ID)
	}
	dir := filepath.Join(t.TempDir(), "log")
	log, err := sample.Create(dir, sample.Options{Database: Database, Tick: o.Tick})
	if err != nil {
		t.Fatal(err)
	}
	p, err := onec.Open(ctx, onec.Options{DSN: Base(t), Operations: ids, Users: o.Users, Sessions: o.Sessions,
		Journal: log})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for user := range o.Users {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(user)))
			for range o.Each {
				if _, err := p.Play(ctx, user, deck[rng.IntN(len(deck))], rng); err != nil {
					t.Errorf("user %d: %v", user, err)
				}
				time.Sleep(time.Duration(rng.Int64N(int64(2*o.Pause) + 1)))
			}
		})
	}
	all.Wait()
	p.Close()
	truth, err := log.Close()
	if err != nil {
		t.Fatal(err)
	}
	r := Recording{truth, map[string][]byte{}}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.log"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of a log: %v", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(dir, path)
		r.files[name] = text
	}
	return r
}

// Folder with the log, after a change of each file; nil: as it was written.
func (r Recording) Folder(t testing.TB, change func([]byte) []byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range r.files {
		path := filepath.Join(dir, name)
		if change != nil {
			text = change(text)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// String says how big it is.
func (r Recording) String() string {
	return fmt.Sprintf("%d statements of %d sessions", r.Truth.Statements, r.Truth.Sessions)
}
