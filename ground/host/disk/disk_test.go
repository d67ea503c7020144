package disk

import (
	"testing"
	"time"

	"plimsoll/test/files"
)

func TestRead(t *testing.T) {
	const stats = `   7       0 loop0 5 0 10 2 0 0 0 0 0 4 2 0 0 0 0 0 0
 254       0 vda 100 1 2048 50 30 2 4096 90 0 120 140 0 0 0 0 7 21
 254       1 vda1 99 1 2048 50 30 2 4096 90 0 120 140 0 0 0 0 0 0
 254      16 vdb 0 0 0 0 0 0 0 0 0 0 0
   8       0 sda 4 0 8 8 0 0 0 0 0 8 8
`
	got, err := readAt(files.Tree(t, map[string]string{"proc/diskstats": stats, "sys/class/block/vda1/partition": "1"}))
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v: want vda and sda, which an old kernel describes in fewer fields", got, err)
	}
	want := Work{Reads: 100, Writes: 30, ReadTime: 50 * time.Millisecond, WriteTime: 90 * time.Millisecond,
		Busy: 120 * time.Millisecond, Queue: 140 * time.Millisecond, Flushes: 7, FlushTime: 21 * time.Millisecond,
		BytesRead: 1 << 20, BytesWrite: 2 << 20}
	if got["vda"] != want {
		t.Errorf("%+v, want %+v", got["vda"], want)
	}
	if since := got["vda"].Since(Work{Reads: 90, Busy: 20 * time.Millisecond}); since.Reads != 10 ||
		since.Busy != 100*time.Millisecond {
		t.Errorf("want 10 reads in 100 ms, got %+v", since)
	}
}

func TestRead_WhatIsMissingIsAnErrorNotZero(t *testing.T) {
	for name, texts := range map[string]map[string]string{
		"NoFile": nil, "NoDisk": {"proc/diskstats": "7 0 loop0 5 0 10 2 0 0 0 0 0 4 2\n"},
		"Nonsense": {"proc/diskstats": "8 0 sda x 0 10 2 0 0 0 0 0 4 2\n"},
	} {
		if got, err := readAt(files.Tree(t, texts)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
