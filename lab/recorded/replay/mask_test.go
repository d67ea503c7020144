package replay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/recorded/mask"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/recorded/techlog"
)

const rules = `columns = ["_reference1._code", "_reference1._name"]
patterns = ["email"]
`

// personal data in all places of a log where it may stand; each begins with one of these.
var personal = []string{"Ivanov", "Petrov", "secret@"}

// What is masked stands in nothing that is kept or sent: not in the statements on disk, not in the result, not in the
// base; and statements find in the masked base what they look for.
func TestRun_MaskedDataIsNowhere(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, "CREATE TABLE _reference1 (_code text PRIMARY KEY, _name text, _n int)")
	clustertest.Exec(t, dsn, "INSERT INTO _reference1 VALUES ('Ivanov', 'Ivanov I. I.', 1)")
	const well, tuples, failed = "PGRES_COMMAND_OK", "PGRES_TUPLES_OK", "PGRES_FATAL_ERROR"
	path := written(t,
		sql("SELECT * FROM _reference1 T1 WHERE T1._code = 'Ivanov' AND T1._name LIKE 'Ivanov I. I.'", "0", "1",
			tuples),
		sql("INSERT INTO _reference1 VALUES ($1, $2, 2)", "0", "1", well, "Prm", "\np_0: 'Petrov'\np_1: 'Petrov''s'\n"),
		sql("SELECT * FROM _reference1 WHERE _name IN ('Petrov''s')", "0", "1", tuples),
		sql("INSERT INTO _reference1 VALUES ('Petrov', '', 3)", "0", "0", failed),
		event("EXCP", "Descr", "23505: ERROR:  duplicate key (_code)=(Petrov)"),
		sql("SELECT 'call secret@firm.example'::int", "0", "1", tuples), // fails here, and the message quotes it
		techlog.Event{Name: "CALL", Fields: []techlog.Field{{Name: "Context",
			Value: "Document.Sale.Post : 7 : Find(\"Ivanov\");"}}})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "59:00.000000-1,CALL,1,process=rphost,x='a'Petrov secret@firm.example\n"...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.toml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	named, err := mask.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, path, dsn, 1)
	o.Database, o.Mask, o.MaskBase = "trade", mask.New(named), true
	stored := 0
	o.Progress = func(what string, _ float64, _ time.Duration) {
		if what != "replay" {
			return
		}
		for _, path := range replay.FilesIn(t, o.State) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			stored += len(content)
			mustNotHold(t, "a file of the replay", content)
		}
	}
	r, err := replay.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, r.Fidelity)
	if f := r.Fidelity; f.Rows.Compared != 3 || f.Rows.Equal != 3 || f.Alike != 1 || f.MaskedInBase != 2 ||
		stored == 0 ||
		r.Unread.Events != 1 || len(f.Messages) != 1 {
		t.Errorf("%+v, %d bytes stored, unread %+v", f, stored, r.Unread)
	}
	result, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	mustNotHold(t, "the JSON", result)
	var shown bytes.Buffer
	if err := r.Text(&shown, true); err != nil {
		t.Fatal(err)
	}
	mustNotHold(t, "the text", shown.Bytes())
	mustNotHold(t, "the base", []byte(clustertest.Value(t, dsn, "SELECT string_agg(t::text, ';') FROM _reference1 t")))
}

func mustNotHold(t *testing.T, what string, content []byte) {
	t.Helper()
	for _, secret := range personal {
		if strings.Contains(string(content), secret) {
			t.Errorf("%s holds %s: %s", what, secret, content[:min(len(content), 2000)])
		}
	}
}
