package checks

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The form is the part that the schemas of Ant, Jenkins and Surefire have in common: suites without attributes, a
// suite for each group with all that Ant's demands, at most one of skipped, error and failure in a case.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Package    string          `xml:"package,attr"`
		ID         int             `xml:"id,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Hostname   string          `xml:"hostname,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`
		Err        string          `xml:"system-err"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		Time    string      `xml:"time,attr"`
		Skipped *junitEmpty `xml:"skipped"`
		Error   *junitWhy   `xml:"error"`
		Failure *junitWhy   `xml:"failure"`
	}
	junitEmpty struct{}
	junitWhy   struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the checks as test cases.
func (r Report) JUnit(w io.Writer) error {
	var all junitSuites
	names, of := r.groups()
	for i, name := range names {
		all.Suites = append(all.Suites, r.suite(i, name, of[name]))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r Report) suite(id int, name string, checks []Check) junitSuite {
	s := junitSuite{Name: name, Package: strings.ReplaceAll(r.Command, " ", "."), ID: id,
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"), Hostname: r.Host, Tests: len(checks),
		Time: fmt.Sprintf("%.3f", r.Took.Seconds()), Properties: []junitProperty{{"id", r.ID}, {"answer", r.Headline}}}
	if s.Hostname == "" {
		s.Hostname = "localhost"
	}
	for i, fact := range r.Facts {
		s.Properties = append(s.Properties, junitProperty{fmt.Sprintf("condition.%d", i+1), fact})
	}
	var out strings.Builder
	for _, c := range checks {
		one := junitCase{Name: c.Name, Class: s.Package + "." + name, Time: "0"}
		why := &junitWhy{Message: c.Says, Type: string(c.Outcome), Text: c.Name + ": " + c.Says}
		switch c.Outcome {
		case Failed:
			one.Failure = why
			s.Failures++
		case Undecided:
			one.Error = why
			s.Errors++
		case Skipped:
			one.Skipped = &junitEmpty{}
			s.Skipped++
		}
		s.Cases = append(s.Cases, one)
		fmt.Fprintf(&out, "%s: %s: %s\n", c.Name, c.Outcome, c.Says)
	}
	s.Out = out.String()
	return s
}
