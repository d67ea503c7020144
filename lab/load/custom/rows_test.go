package custom

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/data"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
)

func items(t *testing.T, rows int, take data.Take) *data.Source {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,name\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,item %d\n", i+1, i+1)
	}
	table, err := data.ReadCSV(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	s := &data.Source{Name: "items", File: "items.csv", Take: take}
	s.Put(table)
	return s
}

func TestRowsOfAllKindsOfSourcesAreVariables(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Value(t, dsn, "CREATE TABLE seen (what text); CREATE TABLE people AS SELECT i AS id, "+
		"CASE WHEN i % 2 = 0 THEN 'p' || i END AS name FROM generate_series(1, 4) i")
	people := &data.Source{Name: "people", SQL: "SELECT id, name FROM people ORDER BY id", Take: data.PerUser}
	made := &data.Source{Name: "made", Rows: 1000, Take: data.Sequence,
		Columns: []data.Column{{Name: "twice", Text: "{{2 * :row}}"}, {Name: "mail", Text: "u{{:row}}@example.com"}}}
	settings := Settings{Connections: 1, Mode: script.Prepared, Data: []*data.Source{items(t, 3, data.Once),
		people, made}}
	if err := settings.ReadData(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	p := open(t, Options{Settings: settings, Users: 2, DSN: dsn, Actions: []*Action{
		action(t, "\\set half :made_twice / 2\nINSERT INTO seen VALUES (concat_ws(' ', :items_id::text, "+
			":items_name::text, "+
			":people_id::text, coalesce(:people_name::text, 'nobody'), :half::text, :made_mail::text));"),
		action(t, "INSERT INTO seen VALUES (:people_id::text);"),
	}})
	mustPlay(t, p, 0, 0)
	mustPlay(t, p, 0, 1)
	mustPlay(t, p, 1, 0)
	mustPlay(t, p, 0, 0)
	got := clustertest.Value(t, dsn, "SELECT string_agg(what, '; ') FROM seen")
	want := "1 item 1 1 nobody 1 u1@example.com; 1; 2 item 2 2 p2 2 u2@example.com; 3 item 3 1 nobody 3 u3@example.com"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s := play(t, p, 1, 0)
	var usedUp *data.UsedUp
	if s.Outcome != tally.Failed || !errors.As(s.Err, &usedUp) || len(p.UsedUp()) != 1 {
		t.Errorf("a fourth of three rows: %v %v, %q", s.Outcome, s.Err, p.UsedUp())
	}
}

func TestColumnsAndRowsThatAreLackingAreRefused(t *testing.T) {
	web := &Action{Request: &request.Request{Method: "GET", URL: "/{{items_id}}?q={{ items_nome }}"}}
	own := Settings{Data: []*data.Source{items(t, 3, data.Random)}}
	if err := CheckData(own, []*Action{nil, web}, 5); err == nil || problem.ClassOf(err) != problem.Usage ||
		!strings.Contains(err.Error(), "data.items has no column nome") {
		t.Error(err)
	}
	own.Data[0].Take = data.Once
	web.Request.URL = "/{{items_id}}"
	if err := CheckData(own, []*Action{web}, 5); err == nil || !strings.Contains(err.Error(), "5 users need one each") {
		t.Error(err)
	}
	if err := CheckData(own, []*Action{web}, 3); err != nil {
		t.Error(err)
	}
	other := action(t, "SELECT 1;")
	if err := CheckEnough(own, []*Action{web, other}, []float64{4, 100}); err == nil ||
		!strings.Contains(err.Error(), "the load takes about 4") {
		t.Error(err)
	}
	if err := CheckEnough(own, []*Action{web, other}, []float64{3, 100}); err != nil {
		t.Error(err)
	}
}

// An action uses what it names as a variable, and not what only looks like it.
func TestNamesOfColumns(t *testing.T) {
	source := items(t, 1, data.Random)
	for text, want := range map[string]string{
		"SELECT :items_id, :items_name":         "[id name]",
		"SELECT items_id FROM items_old":        "[]",
		"SELECT 1::items_id":                    "[]",
		"SELECT 1::items_id, ':items_id'":       "[id]",
		"SELECT :more_items_id, x.items_id":     "[]",
		"\\set a :items_id + 1\nSELECT :a::int": "[id]",
	} {
		if got := fmt.Sprint(namesIn(&Action{SQL: text}, source)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	steps := &Action{Steps: []*Action{{}, {Request: &request.Request{Body: `{"id": {{items_id}}}`}}}}
	if got := fmt.Sprint(namesIn(steps, source)); got != "[id]" {
		t.Errorf("of a step: %s", got)
	}
}
