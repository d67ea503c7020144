package diagnose

import (
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	m := plant(nil, nil, active(1, "IO:WalSync", "COMMIT"), active(2, "IO:WalSync", `SELECT "</script><b>x"`))
	d := Diagnosis{Schema: Schema, Ledger: m.ledger, Server: Server{Database: "<i>shop"}}
	var s sources
	d.Findings, d.Healthy = judge(m, &s)
	d.Contradictions = contradict(m)
	var b strings.Builder
	if err := d.HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"Commits wait for the write-ahead log", "add up to it", "100.0 %", "Not the problem",
		"&lt;i&gt;shop", `id="diagnosis"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"<b>x", "<i>shop", "\"</script><b>"} {
		if strings.Contains(page, never) {
			t.Errorf("the page holds foreign text as it is: %q", never)
		}
	}
	if says := (&Diagnosis{}).Statement(); says != "No session was active" {
		t.Errorf("an idle server: %q", says)
	}
}
