package tally

import (
	"testing"
	"time"
)

// What a generator pays for each operation, with the second's work that a thousand of them share.
func BenchmarkCountAndTick(b *testing.B) {
	const inASecond = 1000
	t := New([]time.Duration{second, second / 2}, []int{1, 2}, 0, 1000*time.Hour)
	for i := 0; b.Loop(); i++ {
		due := time.Duration(i) * second / inASecond
		t.Count(Sample{Operation: i % 2, Due: due, Sent: due, Done: due + time.Duration(1+i%500)*time.Millisecond})
		if i%inASecond == inASecond-1 {
			if _, err := t.Tick(1000, 10, 0); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// What a coordinator pays for the page of one agent: a second of a thousand operations.
func BenchmarkAddPage(b *testing.B) {
	from := New([]time.Duration{second, second / 2}, []int{1, 2}, 0, 1000*time.Hour)
	for i := range 1000 {
		due := time.Duration(i) * second / 1000
		from.Count(Sample{Operation: i % 2, Due: due, Sent: due, Done: due + 100*time.Millisecond})
	}
	page, err := from.Tick(1000, 10, 0)
	if err != nil {
		b.Fatal(err)
	}
	to := New([]time.Duration{second, second / 2}, []int{1, 2}, 0, 1000*time.Hour)
	for b.Loop() {
		if err := to.Add(page); err != nil {
			b.Fatal(err)
		}
		page.Second++
	}
}
