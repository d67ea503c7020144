package replay

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/recorded/pglog"
)

func entryOf(message, detail string) *pglog.Entry {
	return &pglog.Entry{At: time.Unix(100, 0), Session: "1", Database: "d", Severity: "LOG", Message: message,
		Detail: detail}
}

func TestOf_TakesWhatCanBeReplayedAndNamesTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		entry  *pglog.Entry
		text   string
		values string
		why    string
	}{
		"simple": {entryOf("duration: 1.000 ms  statement: SELECT 1; SELECT '$1'", ""),
			"SELECT 1; SELECT '$1'", "[]", ""},
		"with values": {entryOf("duration: 1.000 ms  execute <unnamed>: SELECT $1, $2",
			"Parameters: $1 = 'it''s', $2 = NULL"), "SELECT $1, $2", "[it's <nil>]", ""},
		"older words": {entryOf("duration: 1.000 ms  execute S_1: SELECT $1", "parameters: $1 = 'a, $2 = ''b'''"),
			"SELECT $1", "[a, $2 = 'b']", ""},
		"parse": {entryOf("duration: 1.000 ms  parse <unnamed>: SELECT $1", ""), "", "", ""},
		"bind": {entryOf("duration: 1.000 ms  bind <unnamed>: SELECT $1", "Parameters: $1 = '1'"), "", "",
			""},
		"something else": {entryOf("checkpoint starting: time", ""), "", "", ""},
		"duration alone": {entryOf("duration: 1.000 ms", ""), "", "", NoText},
		"copy in":        {entryOf("duration: 1.000 ms  statement: copy t (a) from stdin", ""), "", "", NoData},
		"copy out": {entryOf("duration: 1.000 ms  statement: COPY t TO STDOUT", ""), "COPY t TO STDOUT", "[]",
			""},
		"no values": {entryOf("duration: 1.000 ms  execute <unnamed>: SELECT $1", ""), "", "", NoValues},
		"cut values": {entryOf("duration: 1.000 ms  execute <unnamed>: SELECT $1", "Parameters: $1 = 'abc...'"),
			"", "", NoValues},
		"a portal":    {entryOf("duration: 1.000 ms  execute fetch from S_1/C_2: SELECT 1", ""), "", "", Fetch},
		"replication": {entryOf("duration: 1.000 ms  statement: IDENTIFY_SYSTEM", ""), "", "", Replication},
		"failed": {&pglog.Entry{Session: "1", Severity: "ERROR", State: "23505", Message: "duplicate key",
			Statement: "INSERT INTO t VALUES (1)"}, "INSERT INTO t VALUES (1)", "[]", ""},
		"failed, without values": {&pglog.Entry{Session: "1", Severity: "ERROR", State: "23505",
			Statement: "INSERT INTO t VALUES ($1)"}, "", "", NoValues},
	} {
		s, why := of(c.entry)
		if why != c.why || (s == nil) != (c.text == "") {
			t.Errorf("%s: %+v, %q, expected the text %q or the reason %q", name, s, why, c.text, c.why)
			continue
		}
		if s == nil {
			continue
		}
		var shown []any
		for _, v := range s.Values {
			if v == nil {
				shown = append(shown, nil)
			} else {
				shown = append(shown, *v)
			}
		}
		if got := fmt.Sprint(shown); s.Text != c.text || got != c.values {
			t.Errorf("%s: %q with %s", name, s.Text, got)
		}
	}
}

// Runs on disk come back as one, in the order of begins; of one moment in the order of the log.
func TestOrder_ManyRunsAreOne(t *testing.T) {
	o, err := newOrder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for n := range 60 {
		at := time.Unix(int64(n*7%20), 0)
		if err := o.add(statement{Text: fmt.Sprint(n), Begun: at}); err != nil {
			t.Fatal(err)
		}
		if n%9 == 8 {
			if err := o.spill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for second := range 20 {
		for n := range 60 {
			if n*7%20 == second {
				want = append(want, fmt.Sprint(n))
			}
		}
	}
	var got []string
	if err := o.each(func(s statement) error { got = append(got, s.Text); return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := o.remove(); err != nil {
		t.Error(err)
	}
}

func FuzzValues(f *testing.F) {
	f.Add("Parameters: $1 = 'a', $2 = NULL")
	f.Add("Parameters: $1 = '")
	f.Add("Parameters: $1")
	f.Fuzz(func(_ *testing.T, detail string) { _, _ = values(detail) })
}
