package web

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{Title: "A < B", Label: "Table of B", Class: "wide", Columns: []string{"name", "figure", "why"},
		Rows: [][]string{{"a", "1", "it <b>is</b>"}, {"longer", "22", ""}}, Names: true, Says: true}
	var text, page strings.Builder
	if err := table.Text(&text, "  "); err != nil {
		t.Fatal(err)
	}
	if want := "  name    figure  why\n  a       1       it <b>is</b>\n  longer  22      \n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
	if err := Templates().ExecuteTemplate(&page, "table", table); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(page.String()), " ")
	for _, part := range []string{`aria-label="Table of B, scrolls sideways"`, `<table class="wide">`,
		`<caption>A &lt; B</caption>`, `<th scope="col">name</th> <th scope="col" class="n">figure</th>`,
		`<th scope="row">a</th> <td class="n">1</td> <td class="says">it &lt;b&gt;is&lt;/b&gt;</td></tr>`} {
		if !strings.Contains(got, part) {
			t.Errorf("lacks %s:\n%s", part, got)
		}
	}
	figures := Table{Columns: []string{"n", "of"}, Rows: [][]string{{"1", "100"}}}
	text.Reset()
	if err := figures.Text(&text, ""); err != nil || text.String() != "  n   of\n  1  100\n" {
		t.Errorf("%q, %v", text.String(), err)
	}
}
