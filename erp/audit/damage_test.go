package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/erp/audit"
	"plimsoll/erp/audit/damage"
	"plimsoll/erp/audit/damagetest"
)

// Books of all types of documents, made by workers of all shapes, are clean; and each of many kinds of damage, done at
// once, each to a document of its own, is named by document and field.
func TestEveryDamageIsNamedByDocumentAndField(t *testing.T) {
	c := damagetest.Company(t, damagetest.Rounds)
	if ids, report := violated(t, c); len(ids) > 0 {
		t.Fatalf("violated before any damage: %v %+v", ids, examplesOf(report))
	}
	if n := len(damage.All); n < 60 {
		t.Errorf("%d kinds of damage", n)
	}
	subjects := damagetest.Inflict(t, c, damage.All)
	report, err := audit.RunAs(t.Context(), c.Database, audit.Options{Examples: 1000})
	if err != nil {
		t.Fatal(err)
	}
	all := examplesOf(report)
	for name, d := range damage.All {
		t.Run(name, func(t *testing.T) {
			for _, v := range all {
				if strings.Contains(v.Subject, subjects[name]) && v.Field == d.Field && v.Expected != v.Found {
					return
				}
			}
			var about []string
			for _, v := range all {
				if strings.Contains(v.Subject, subjects[name]) {
					about = append(about, fmt.Sprintf("%s: expected %s, found %s", v.Where(), v.Expected, v.Found))
				}
			}
			t.Errorf("nobody names %s of %s:\n%s", d.Field, subjects[name], strings.Join(about, "\n"))
		})
	}
}

func examplesOf(report audit.Report) (all []audit.Violation) {
	for _, check := range report.Checks {
		all = append(all, check.Examples...)
	}
	return all
}
