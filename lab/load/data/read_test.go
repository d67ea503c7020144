package data

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"plimsoll/ground/postgres/cluster/clustertest"
)

// cells of a table, row by row; null as NULL.
func cells(t *Table) (all []string) {
	for row := range t.Rows {
		var line []string
		for column := range t.Columns {
			line = append(line, t.Value(row, column).String())
		}
		all = append(all, strings.Join(line, "|"))
	}
	return all
}

func TestCSV(t *testing.T) {
	table, err := ReadCSV(strings.NewReader("\xef\xbb\xbfid,unit price,name\n1,x,\"a, \"\"b\"\"\nc\"\n2,y,\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q %q", table.Columns, cells(table)); got != `["id" "name"] ["1|a, \"b\"\nc" "2|"]` {
		t.Error(got)
	}
}

func TestCSV_SaysLineAndWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, text, says string
		line             int
	}{
		{"Empty", "", "the file is empty", 1},
		{"HeaderOnly", "id,name\n", "there is no row", 1},
		{"Semicolons", "id;name\n1;a\n", "not separated by commas", 1},
		{"Twice", "id,id\n1,2\n", "the column id occurs twice", 1},
		{"NoName", "unit price,x y\n1,2\n", "no column has a name", 1},
		{"TooFewValues", "id,name\n1,a\n2\n", "another number of values", 3},
		{"TooManyValues", "id,name\n1,a\n2,b,c\n", "another number of values", 3},
		{"Quote", "id,name\n1,a\n2,b\"c\n", "bare", 3},
		{"NotUTF8", "id,name\n1,a\n2,\xff\n", "the value of name is not text in UTF-8", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadCSV(strings.NewReader(c.text))
			var m *Mistake
			if !errors.As(err, &m) || m.Line != c.line || !strings.Contains(m.Says, c.says) {
				t.Errorf("%+v, want line %d: %s", err, c.line, c.says)
			}
		})
	}
}

// What can be read is read the same again; what cannot is a mistake in a line of the text.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"id,name\n1,a\n", "id\n\"1\n2\"\n", "a,b\n1\n", "\xef\xbb\xbfa\n1", "a;b\n",
		"\"a\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			var m *Mistake
			if lines := strings.Count(text, "\n") + 1; !errors.As(err, &m) || m.Line < 1 || m.Line > lines ||
				m.Says == "" {
				t.Fatalf("%v is no mistake in one of %d lines", err, lines)
			}
			return
		}
		encoded, err := table.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(encoded)
		if err != nil || fmt.Sprint(cells(again)) != fmt.Sprint(cells(table)) || again.Rows != table.Rows {
			t.Fatalf("%v, %d rows of %d", err, again.Rows, table.Rows)
		}
	})
}

func TestRowsThatTakeTooMuchMemoryAreRefused(t *testing.T) {
	table, _, err := NewTable([]string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	table.most = 100
	for range 10 {
		if err = table.add(0, []byte("1234567890"), false); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "the rows take more than 100") || hintOf(err) == "" {
		t.Error(err)
	}
}

type parquetRow struct {
	ID      int64     `parquet:"id"`
	Name    *string   `parquet:"name,optional"`
	Price   float64   `parquet:"price"`
	Amount  int64     `parquet:"amount,decimal(2:18)"`
	Sold    bool      `parquet:"sold"`
	Day     int32     `parquet:"day,date"`
	At      time.Time `parquet:"at,timestamp(microsecond)"`
	Small   uint32    `parquet:"small"`
	Tags    []string  `parquet:"tags,list"`
	Unnamed string    `parquet:"two words"`
}

func TestParquet(t *testing.T) {
	name := "nail"
	var file bytes.Buffer
	out := parquet.NewGenericWriter[parquetRow](&file)
	at := time.Date(2026, 1, 31, 9, 30, 0, 5000, time.UTC)
	_, err := out.Write([]parquetRow{
		{ID: 1, Name: &name, Price: 1.5, Amount: -1205, Sold: true, Day: 20484, At: at, Small: 1 << 31,
			Tags: []string{"a"}},
		{ID: 2, Price: 1e20, Amount: 7, At: at},
	})
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	table, err := ReadParquet(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := `["id" "name" "price" "amount" "sold" "day" "at" "small"] ` +
		`["1|nail|1.5|-12.05|true|2026-01-31|2026-01-31T09:30:00.000005Z|2147483648" ` +
		`"2|NULL|1e+20|0.07|false|1970-01-01|2026-01-31T09:30:00.000005Z|0"]`
	if got := fmt.Sprintf("%q %q", table.Columns, cells(table)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, text := range []string{"", "id,name\n1,a\n", "PAR1PAR1", file.String()[:file.Len()-3]} {
		_, err := ReadParquet(strings.NewReader(text), int64(len(text)))
		var m *Mistake
		if !errors.As(err, &m) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
}

func TestQuery(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	s := &Source{Name: "items", Take: Random,
		SQL: "SELECT i AS id, CASE WHEN i = 2 THEN NULL ELSE 'n' || i END AS name FROM generate_series(1, 3) i"}
	if err := s.Query(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q %q", s.Names(), cells(s.Table())); got != `["id" "name"] ["1|n1" "2|NULL" "3|n3"]` {
		t.Error(got)
	}
	for sql, says := range map[string]string{"SELECT 1 AS a WHERE false": "no row", "SELECT nosuch": "nosuch",
		"SELECT 1 AS \"a b\"": "no column has a name", "SELECT 1 AS a, 2 AS a": "occurs twice"} {
		if err := (&Source{SQL: sql}).Query(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
