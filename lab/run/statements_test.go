package run

import (
	"testing"

	"plimsoll/lab/diagnose"
	"plimsoll/lab/diagnose/plan"
)

// updateOfStock is a statement as the samples show it, and as its plan does: with the numbers of parameters.
const updateOfStock = "UPDATE stock SET quantity = quantity - ? WHERE item = ?"

var plansOfStock = []*plan.Plan{
	{Statement: "SELECT ?", How: plan.Custom},
	{Statement: "UPDATE stock SET quantity = quantity - $? WHERE item = $?", How: plan.Generic,
		Lines:   []string{"Update on stock", "  Seq Scan on stock"},
		Remarks: []plan.Remark{{Text: "reads all of stock"}}},
}

func TestStatements_StandBesideTheirOperationWithTheirPlans(t *testing.T) {
	l := planted(true)
	l.found.Plans = plansOfStock
	l.database[0].Statements = []diagnose.Part{{Name: updateOfStock, S: 60}, {Name: "COMMIT", S: 15},
		{Name: "SELECT now()", S: 1}}
	got := l.statementsOf(0)
	if len(got) != 2 || got[0].Text != updateOfStock || got[1].Plan != nil || got[0].Plan == nil {
		t.Fatalf("want the two that take time, one of them with its plan, got %+v", got)
	}
	near(t, "the update", got[0].Share, 0.4)
	near(t, "the commit", got[1].Share, 0.1)
	if p := got[0].Plan; p.How != "generic" || len(p.Lines) != 2 || len(p.Remarks) != 1 || p.Remarks[0] !=
		"reads all of stock" {
		t.Errorf("plan %+v", p)
	}
	if none := l.statementsOf(1); none != nil {
		t.Errorf("of an operation whose statements nobody saw: %+v", none)
	}
	if all := l.statements(); all != nil {
		t.Errorf("statements of nobody beside those of operations: %+v", all)
	}
}

func TestStatements_OfAllWhereTheirOperationIsUnknown(t *testing.T) {
	l := planted(false)
	l.found.Plans, l.found.Sampled = plansOfStock, []diagnose.Part{{Name: updateOfStock, S: 50}}
	got := l.statements()
	if len(got) != 1 || got[0].Plan == nil {
		t.Fatalf("want the update with its plan, got %+v", got)
	}
	near(t, "the update", got[0].Share, 50/l.total)
	if l.statementsOf(0) != nil {
		t.Error("it is given to an operation")
	}
}
