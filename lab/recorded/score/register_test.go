package score_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/recorded/score"
)

// export of a register: operations with a target, and their durations from a second of 10:00 on.
func export(second int, operations ...string) string {
	const namespace = "www.v8.1c.ru/ssl/performace-assessment/apdexExport/1.0.0.4" //nolint:misspell // as 1C spells it
	text := `<Performance xmlns="` + namespace + `">` +
		fmt.Sprintf("<!-- %d -->", second)
	return text + strings.Join(operations, "") + "</Performance>"
}

func keyOperation(second int, name, target, long string, durations ...string) string {
	text := fmt.Sprintf("<KeyOperation><nameFull>%s</nameFull><long>%s</long><targetValue>%s</targetValue>", name, long,
		target)
	for _, d := range durations {
		value, failed := strings.CutSuffix(d, "!")
		text += fmt.Sprintf("<measurement><value>%s</value><tUTC>%d</tUTC><runningError>%t</runningError>"+
			"</measurement>", value, 63_931_456_800_000+1000*int64(second), failed)
	}
	return text + "</KeyOperation>"
}

func exports(t *testing.T, dir string, texts ...string) string {
	t.Helper()
	for n, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("2026-11-28 1%d-00-00-00001.xml", n))
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func operation(t *testing.T, r *score.Result, name string) score.Operation {
	t.Helper()
	at := slices.IndexFunc(r.Operations, func(op score.Operation) bool { return op.Name == name })
	if at < 0 {
		t.Fatalf("no operation %s: %+v", name, r.Operations)
	}
	return r.Operations[at]
}

func TestRead_OfARegister(t *testing.T) {
	dir := exports(t, t.TempDir(),
		export(0, keyOperation(0, "Заказ", "1", "false", "0.5", "0.999", "1.5", "4", "0.2!"),
			keyOperation(0, "Заказ.Строка", "0.1", "true", "0.05", "0.06")),
		export(1, keyOperation(3600, "Отчет", "2.5", "false", "2"), keyOperation(3600, "Обмен", "0", "false", "7"),
			keyOperation(3600, "x", "1", "false", "-3")))
	r, err := score.Read(t.Context(), score.Options{Paths: []string{dir}, Zone: time.UTC,
		Targets: map[string]time.Duration{"Отчет": time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Source != score.OfRegister || r.Calls != 7 || r.Events != 9 || r.Unread.Events != 1 || len(r.Hours) != 2 ||
		r.Register.PerUnit != 2 || r.Register.Targets != 1 || r.Register.Unset != 1 {
		t.Errorf("%+v, %+v", r, r.Register)
	}
	for name, want := range map[string]struct {
		zones    apdex.Counts
		target   float64
		proposed bool
	}{
		"Заказ": {apdex.Counts{Satisfied: 2, Tolerating: 1, Frustrated: 2}, 1, false},
		"Отчет": {apdex.Counts{Tolerating: 1}, 1, false}, // --targets go before the register's
		"Обмен": {apdex.Counts{Tolerating: 1}, 7, true},
	} {
		op := operation(t, r, name)
		if op.Zones != want.zones || op.TargetS != want.target || op.Proposed != want.proposed {
			t.Errorf("%s: %+v", name, op)
		}
	}
	if at := r.From.Format(time.RFC3339); at != "2026-11-28T10:00:00Z" {
		t.Error("from", at)
	}
	var b strings.Builder
	if err := r.Text(&b, true); err != nil || !strings.Contains(b.String(), "2 measurements of a unit of data") {
		t.Error(b.String(), err)
	}
}

// A folder of exports grows by files; a score that was stopped within one goes on behind what it had counted.
func TestRead_ARegisterReadOn(t *testing.T) {
	dir, kept := t.TempDir(), filepath.Join(t.TempDir(), "kept.json")
	var first []string
	for n := range 40 {
		first = append(first, keyOperation(n, fmt.Sprintf("Op%d", n%3), "0.5", "false", "0.1", "0.7"))
	}
	second := export(9, keyOperation(50, "Op0", "0.25", "false", "0.3"))
	o := score.Options{Paths: []string{dir}, Zone: time.UTC, Resume: kept}
	exports(t, dir, export(0, first...))
	stopped := &stopAfter{Context: t.Context(), left: 10}
	if _, err := score.Read(stopped, o); err == nil {
		t.Fatal("it was not stopped")
	}
	resumed(t, o)
	exports(t, dir, export(0, first...), second)
	got := resumed(t, o)
	o.Resume = ""
	sameScore(t, "read on", resumed(t, o), got)
	if got.Resumed.New != 1 || operation(t, got, "Op0").TargetS != 0.25 {
		t.Errorf("%+v, %+v", got.Resumed, operation(t, got, "Op0"))
	}
}

// stopAfter so many looks at it.
type stopAfter struct {
	context.Context
	left int
}

func (s *stopAfter) Err() error {
	if s.left--; s.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestTargetsOf(t *testing.T) {
	dir := exports(t, t.TempDir(), export(0, keyOperation(0, "Заказ", "1.5", "false", "1")),
		export(1, keyOperation(0, "Заказ", "2", "false"), keyOperation(0, "Отчет", "0.8", "false")))
	table := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(table, []byte("Заказ;3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]map[string]time.Duration{
		dir:   {"Заказ": 2 * time.Second, "Отчет": 800 * time.Millisecond},
		table: {"Заказ": 3 * time.Second},
	} {
		if got, err := score.TargetsOf(t.Context(), path); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, %v", got, err)
		}
	}
	for _, bad := range []string{export(0, keyOperation(0, "Заказ", "1.2345", "false")), export(0)} {
		if got, err := score.TargetsOf(t.Context(), exports(t, t.TempDir(), bad)); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}
