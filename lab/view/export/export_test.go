package export

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"plimsoll/lab/run/result/resulttest"
)

func TestParquet_ReadsAsItWasWritten(t *testing.T) {
	r := resulttest.Overloaded(t)
	checkParquet(t, Series(r), len(r.Series.T))
	checkParquet(t, Operations(r), len(r.Operations))
}

func checkParquet[Row any](t *testing.T, rows []Row, n int) {
	t.Helper()
	var b bytes.Buffer
	if err := Parquet(&b, rows); err != nil {
		t.Fatal(err)
	}
	read, err := parquet.Read[Row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(read) != n || n == 0 {
		t.Fatalf("%d rows of %d, %v", len(read), n, err)
	}
	if diff := cmp.Diff(rows, read); diff != "" {
		t.Error(diff)
	}
}

func TestCSV_HoldsTheFigures(t *testing.T) {
	r := resulttest.Overloaded(t)
	r.Operations[0].Title = `=HYPERLINK("x")`
	r.Series.P99MS[3] = nil
	var ok, answered int64
	for _, op := range r.Operations {
		ok += op.OK
	}
	for _, n := range r.Series.OK {
		answered += n
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"series":     func(b *bytes.Buffer) error { return CSV(b, Series(r)) },
		"operations": func(b *bytes.Buffer) error { return CSV(b, Operations(r)) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		table, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := map[string]int{}
		for i, name := range table[0] {
			column[name] = i
		}
		sum := int64(0)
		for _, row := range table[1:] {
			n, err := strconv.ParseInt(row[column["ok"]], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		if name == "operations" && (sum != ok || table[1][column["title"]] != `'=HYPERLINK("x")`) {
			t.Errorf("%d ok of %d; title %s", sum, ok, table[1][column["title"]])
		}
		if name == "series" && (table[4][column["p99_ms"]] != "" || len(table) != len(r.Series.T)+1 ||
			sum != answered) {
			t.Errorf("%d lines, %d ok, empty figure %q", len(table), sum, table[4][column["p99_ms"]])
		}
	}
}

func TestCSV_TextIsNoFormula(t *testing.T) {
	for _, s := range []string{"=1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1", "－1", "＠A"} {
		if got := text(s); got != "'"+s {
			t.Errorf("%q is written as %q", s, got)
		}
	}
	for _, s := range []string{"", "Post = pay", "проведение", "a-b"} {
		if got := text(s); got != s {
			t.Errorf("%q is written as %q", s, got)
		}
	}
}
