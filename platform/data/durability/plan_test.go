package durability

import "testing"

func TestParse(t *testing.T) {
	p, err := Parse("durable-ack,background=async,list=relaxed,goods_sale.create=sync,report=async")
	if err != nil {
		t.Fatal(err)
	}
	for operation, want := range map[string]struct {
		commit Mode
		waits  bool
	}{
		"goods_receipt.create": {DurableAck, true},
		"goods_sale.create":    {Sync, true}, // it may have seen rows that are not flushed
		"goods_sale.list":      {DurableAck, false},
		"report.stock":         {Async, false},
		"":                     {Async, false},
	} {
		if commit, waits := p.Commit(operation), p.Waits(operation); commit != want.commit || waits != want.waits {
			t.Errorf("%q: %s, waits %t", operation, commit, waits)
		}
	}
	for _, text := range []string{"", "sync", "async", "group"} {
		if p, err := Parse(text); err != nil || p.Waits("x.y") {
			t.Errorf("%q waits, %v", text, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"fast", "relaxed", "sync,async", "sync,=async", "sync,a=b", "sync,a=sync,a=async",
		","} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%q is %+v", text, p)
		}
	}
}

// The insert position skips headers of pages that do not exist yet.
func TestEndOfTheLastRecord(t *testing.T) {
	const page, segment = 8192, 16 << 20
	l := layout{page, segment}
	for lsn, want := range map[int64]int64{
		segment + longHeader:      segment,
		page + shortHeader:        page,
		page + longHeader:         page + longHeader,
		3*page + 100:              3*page + 100,
		segment + page + 24:       segment + page,
		7*segment + 5*page + 8184: 7*segment + 5*page + 8184,
	} {
		if got := l.end(lsn); got != want {
			t.Errorf("%d: %d, want %d", lsn, got, want)
		}
	}
}
