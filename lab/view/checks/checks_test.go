package checks

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/test/golden"
)

// judged is a run with a gate of each verdict, and hostile names.
func judged(t *testing.T) *result.Result {
	r := resulttest.Overloaded(t)
	r.Valid, r.InvalidReasons, r.InvalidCauses = true, nil, nil
	ms, share, high := 245.2, 0.002, 260.0
	r.Operations[1].ID = `list <b>|"x"` + "\x01"
	r.Gates = []result.Gate{
		{Gate: "goods_sale.post: p95 > 200ms", Unit: "ms", Limit: 200, Verdict: result.GateFailed, Measured: &ms,
			Interval: &result.Range{Low: 231, High: &high}, Operations: 1204},
		{Gate: "errors > 1%", Unit: "share", Limit: 0.01, Verdict: result.GatePassed, Measured: &share,
			Operations: 9000},
		{Gate: "goods_sale.post: p99.9 > 1s", Unit: "ms", Limit: 1000, Verdict: result.GateUndecided,
			Because: "1,204 operations, at least 3,838 are needed", Operations: 1204},
	}
	return r
}

func TestReport_ReadsAsItDid(t *testing.T) {
	report := OfRun(judged(t), 0.85)
	report.Host = "ci"
	var x, m strings.Builder
	if err := errors.Join(report.JUnit(&x), report.Markdown(&m)); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/run.xml", x.String())
	golden.Compare(t, "testdata/run.md", m.String())
}

// form is what the schemas of Ant (windyroad), Jenkins (xunit) and Surefire all allow: attributes that must be there,
// and children in this order, at most so many of each (0: any number).
var form = map[string]struct {
	attributes []string
	children   []string
	most       map[string]int
}{
	"testsuites": {nil, []string{"testsuite"}, nil},
	"testsuite": {[]string{"name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "skipped",
		"time"}, []string{"properties", "testcase", "system-out", "system-err"},
		map[string]int{"properties": 1, "system-out": 1, "system-err": 1}},
	"properties": {nil, []string{"property"}, nil},
	"property":   {[]string{"name", "value"}, nil, nil},
	"testcase": {[]string{"name", "classname", "time"}, []string{"skipped", "error", "failure"},
		map[string]int{"skipped": 1, "error": 1, "failure": 1}},
	"skipped": {}, "system-out": {}, "system-err": {},
	"error":   {[]string{"message", "type"}, nil, nil},
	"failure": {[]string{"message", "type"}, nil, nil},
}

// element of a document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
}

func (e element) attribute(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e element) check(t *testing.T) {
	t.Helper()
	name := e.XMLName.Local
	want, known := form[name]
	if !known {
		t.Fatalf("element %s is in no schema", name)
	}
	var attributes []string
	for _, a := range e.Attrs {
		attributes = append(attributes, a.Name.Local)
	}
	if !slices.Equal(attributes, want.attributes) {
		t.Errorf("%s has %v, want %v", name, attributes, want.attributes)
	}
	at, count := 0, map[string]int{}
	for _, child := range e.Children {
		place := slices.Index(want.children, child.XMLName.Local)
		if count[child.XMLName.Local]++; place < at {
			t.Errorf("%s in %s comes too late, or is not allowed", child.XMLName.Local, name)
		}
		at = max(at, place)
		if most := want.most[child.XMLName.Local]; most > 0 && count[child.XMLName.Local] > most {
			t.Errorf("%d %s in %s", count[child.XMLName.Local], child.XMLName.Local, name)
		}
		child.check(t)
	}
	if name == "testcase" && len(e.Children) > 1 {
		t.Errorf("a case with %d outcomes", len(e.Children))
	}
}

// A CI server adds up the attributes, or counts the cases: both must give the same.
func TestJUnit_HasTheCommonForm(t *testing.T) {
	hostile := Report{Command: "plimsoll run", Headline: "a < b & \x00", Checks: []Check{
		{"gates", `<script>"' & ]]>` + "\x1b", Failed, "]]> \xff"}, {"gates", "b", Skipped, ""},
		{"other", "c", Passed, ""}}}
	for name, report := range map[string]Report{"Run": OfRun(judged(t), 0.85), "NoTarget": OfRun(judged(t), 0),
		"Hostile": hostile, "Empty": {Command: "plimsoll run"}} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := report.JUnit(&b); err != nil {
				t.Fatal(err)
			}
			var all element
			d := xml.NewDecoder(strings.NewReader(b.String()))
			if err := d.Decode(&all); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Token(); err == nil {
				_, err = d.Token()
				if !errors.Is(err, io.EOF) {
					t.Errorf("there is more: %v", err)
				}
			}
			all.check(t)
			for _, suite := range all.Children {
				count := map[string]int{}
				for _, c := range suite.Children {
					if c.XMLName.Local == "testcase" {
						count["tests"]++
						for _, outcome := range c.Children {
							count[outcome.XMLName.Local]++
						}
					}
				}
				for attribute, n := range map[string]int{"tests": count["tests"], "failures": count["failure"],
					"errors": count["error"], "skipped": count["skipped"]} {
					if suite.attribute(attribute) != strconv.Itoa(n) {
						t.Errorf("suite %s: %s %s, counted %d", suite.attribute("name"), attribute,
							suite.attribute(attribute), n)
					}
				}
				if _, err := time.Parse("2006-01-02T15:04:05", suite.attribute("timestamp")); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestOfRun_WhatIsNotKnownIsNoPass(t *testing.T) {
	outcome := func(r *result.Result, target float64, name string) Outcome {
		for _, c := range OfRun(r, target).Checks {
			if strings.HasPrefix(c.Name, name) {
				return c.Outcome
			}
		}
		return "missing"
	}
	invalid := judged(t)
	invalid.Valid, invalid.InvalidReasons = false, []string{"the machine slept"}
	score := 0.99
	invalid.Apdex, invalid.Operations[0].Apdex = &score, &score
	idle := judged(t)
	idle.Operations[0].Totals, idle.Operations[0].Apdex = result.Totals{}, nil
	broken := judged(t)
	broken.Operations[0].Totals = result.Totals{Ops: 12, Errors: 12}
	first := invalid.Operations[0].ID + " within"
	for name, c := range map[string]struct {
		r      *result.Result
		target float64
		check  string
		want   Outcome
	}{
		"InvalidRun":        {invalid, 0.85, "the run is valid", Undecided},
		"ScoreOfInvalidRun": {invalid, 0.85, "Apdex of at least", Undecided},
		"OperationOfIt":     {invalid, 0.85, first, Undecided},
		"NobodyDidIt":       {idle, 0.85, first, Skipped},
		"AlwaysFails":       {broken, 0, first, Failed},
		"GateFailed":        {judged(t), 0, "goods_sale.post: p95", Failed},
		"GateUndecided":     {judged(t), 0, "goods_sale.post: p99.9", Undecided},
		"GatePassed":        {judged(t), 0, "errors > 1%", Passed},
		"NoTargetNoCheck":   {judged(t), 0, "Apdex of at least", "missing"},
	} {
		if got := outcome(c.r, c.target, c.check); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestMarkdown_NothingInATextIsMarkup(t *testing.T) {
	r := Report{Command: "run", Headline: "a | b\n# c @team <img src=x>", Checks: []Check{
		{"g", "x|y`z`", Failed, "[l](http://e) **b** _i_"}}}
	var b strings.Builder
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"\n# c", "@team", "<img", "[l](", " x|y", "**b**"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("%q passes:\n%s", bad, b.String())
		}
	}
}
