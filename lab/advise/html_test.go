package advise

import (
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	price := 0.25
	r := Report{Schema: Schema, Server: Server{Database: "<i>shop"}, Healthy: []string{"settings are right"},
		Advice: []Advice{{ID: "x", Level: Problem, Title: "Index </script><b>x is missing", Mechanism: "It is read.",
			Evidence: []string{"seen 3 times"}, Do: []string{"CREATE INDEX"}, Prove: "plimsoll compare --sql-b 'x'",
			Revert: "DROP INDEX", Price: &price, ExpectedGain: &Range{0.1, 0.3}},
			{ID: "y", Level: Note, Title: "For a person", Do: []string{"ask"}}}}
	var b strings.Builder
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"problem, 25 % of the time", "seen 3 times", "plimsoll compare", "10 % to 30 %",
		"settings are right", "&lt;i&gt;shop", `id="advice"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"<b>x", "<i>shop", "</script><b>", "revert: </li>", "<code></code>"} {
		if strings.Contains(b.String(), never) {
			t.Errorf("the page holds foreign text as it is: %q", never)
		}
	}
	if says := (&Report{Advice: []Advice{{Level: Note, Title: "n"}}}).Statement(); says != "No problem was found" {
		t.Error(says)
	}
}
