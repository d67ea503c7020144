package storage

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// encode is the format of shim.c, written down once more.
func encode(r Record) []byte {
	body := r.Data
	if r.Kind != Write {
		body = append([]byte(r.Path), 0)
		body = append(body, r.To...)
	}
	text := make([]byte, headerLength, headerLength+len(body)+4)
	order := binary.LittleEndian
	order.PutUint32(text, recordMagic)
	order.PutUint32(text[4:], uint32(headerLength+len(body)+4))
	order.PutUint64(text[8:], r.Number)
	order.PutUint64(text[16:], r.Before)
	order.PutUint64(text[24:], uint64(r.At.UnixNano()))
	order.PutUint64(text[32:], r.Ino)
	order.PutUint64(text[40:], uint64(r.Offset))
	order.PutUint64(text[48:], uint64(r.Size))
	order.PutUint16(text[60:], uint16(r.Kind))
	order.PutUint16(text[62:], r.Flags)
	return order.AppendUint32(append(text, body...), recordMagic^uint32(r.Number))
}

func drawRecord(t *rapid.T, number uint64) Record {
	r := Record{Number: number, Ino: rapid.Uint64().Draw(t, "ino"), Kind: Sync, At: time.Unix(0, int64(number)),
		Before: rapid.Uint64().Draw(t, "before")}
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		r.Kind, r.Data = Write, rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data")
		if rapid.Bool().Draw(t, "looks like a record") { // a page may hold anything
			r.Data = append(r.Data, encode(Record{Number: number + 1, Kind: Sync, At: time.Unix(0, 0)})...)
		}
		r.Size = int64(len(r.Data))
	case 1:
		r.Kind, r.Path, r.To = Rename, "base/1/2", "base/1/3"
	}
	return r
}

func read(t *rapid.T, text []byte) []Record {
	dir, err := os.MkdirTemp("", "journal-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "journal"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	all := make([]Record, len(j.Records))
	for i, r := range j.Records {
		r.Data = bytes.Clone(r.Data)
		all[i] = r
	}
	return all
}

// A killed process wrote the first bytes of a record; those of other processes follow.
func TestTheJournalIsReadBehindARecordCutAnywhere(t *testing.T) {
	var all []Record
	for number := range uint64(3) {
		all = append(all, Record{Number: number + 1, Kind: Write, Data: make([]byte, 100), Size: 100,
			At: time.Unix(0, 0)})
	}
	last := encode(all[2])
	for n := range last {
		text := slices.Concat(last[:n], encode(all[0]), encode(all[1]))
		if diff := cmp.Diff(all[:2], withoutGap(parse(text))); diff != "" {
			t.Errorf("cut after %d bytes, want -, got +:\n%s", n, diff)
		}
	}
}

// Records come in any order. The reader gives them by number, up to the first that is missing, whether its process
// wrote none of it or half.
func TestTheJournalIsReadUpToTheFirstGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "records")
		var all []Record
		for i := range n {
			all = append(all, drawRecord(t, uint64(i)+1))
		}
		missing := rapid.IntRange(1, n+1).Draw(t, "missing") // the n+1st: none
		half := rapid.Bool().Draw(t, "half of it")
		text := []byte{}
		for _, i := range rapid.Permutation(indexes(n)).Draw(t, "order") {
			one := encode(all[i])
			switch {
			case i+1 != missing:
			case half:
				one = one[:rapid.IntRange(0, len(one)-1).Draw(t, "bytes")]
			default:
				one = nil
			}
			text = append(text, one...)
		}
		if len(text) == 0 {
			text = []byte{0}
		}
		want := append([]Record{}, all[:missing-1]...)
		for i := range want {
			want[i].Data = bytes.Clone(want[i].Data)
		}
		if diff := cmp.Diff(want, read(t, text), cmp.Comparer(func(a, b []byte) bool {
			return bytes.Equal(a, b)
		})); diff != "" {
			t.Fatalf("want -, got +:\n%s", diff)
		}
	})
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
