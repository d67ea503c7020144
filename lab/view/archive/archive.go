// Package archive owns the file in which runs travel to another machine: results, reports, conditions and scenarios,
// without secrets.
//
//	manifest.json                 which runs, and who wrote it
//	runs/ID/result.json           what 'plimsoll report' reads
//	runs/ID/report.html           the page, for whoever has no plimsoll
//	runs/ID/conditions.json
//	runs/ID/scenario.json         where the run kept it
//
// It is a .tar.zst or a .zip. Reading trusts nothing in it: nothing is written to disk, names, kinds and sizes that
// Write would not have made are refused, and the page is rebuilt from the result.
package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/report"
)

// Schema is the form of an archive.
const Schema = "plimsoll.archive/1"

// Limits of what is read. They are far above what runs need: the result of a run of ten hours has 2 MB.
const (
	runsMost  = 500
	filesMost = 4*runsMost + 1
	fileMost  = 64 << 20
	totalMost = 1 << 30
)

// Names of the files.
const (
	manifestFile   = "manifest.json"
	resultFile     = "result.json"
	reportFile     = "report.html"
	conditionsFile = "conditions.json"
	scenarioFile   = "scenario.json"
)

var named = regexp.MustCompile(`^runs/([0-9A-Za-z][0-9A-Za-z._-]{0,79})/(result\.json|report\.html|conditions\.json|` +
	`scenario\.json)$`)

// Run is one run with what it played.
type Run struct {
	Result *result.Result
	// Scenario is JSON without secrets; nil: it was not kept.
	Scenario []byte
}

// Archive is what a file holds.
type Archive struct {
	Software string // that wrote it
	Runs     []Run
}

type manifest struct {
	Schema   string   `json:"schema"`
	Software string   `json:"software"`
	Runs     []string `json:"runs"`
}

// Is says whether a name is that of an archive.
func Is(name string) bool { return formatOf(name) != nil }

// Check that a name is that of an archive.
func Check(name string) error {
	if Is(name) {
		return nil
	}
	return problem.New(problem.Usage, fmt.Errorf("%s: an archive's name ends in .tar.zst or .zip", name),
		"such as --archive result.tar.zst")
}

// Write the runs to a file.
func Write(name string, a Archive) error {
	if err := Check(name); err != nil {
		return err
	}
	if len(a.Runs) > runsMost {
		return problem.New(problem.Usage, fmt.Errorf("%d runs: an archive has at most %d", len(a.Runs), runsMost), "")
	}
	files, err := a.files()
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return kept.Page(name).Write(func(w io.Writer) error { return formatOf(name).write(w, files) })
}

// file of an archive.
type file struct {
	name string
	text []byte
}

func (a Archive) files() (all []file, err error) {
	list := manifest{Schema: Schema, Software: a.Software}
	for _, run := range a.Runs {
		clean, err := withoutSecrets(run.Result)
		if err != nil {
			return nil, err
		}
		at := "runs/" + clean.ID + "/"
		if !named.MatchString(at + resultFile) {
			return nil, fmt.Errorf("%q is no id of a run", clean.ID)
		}
		list.Runs = append(list.Runs, clean.ID)
		for _, one := range []struct {
			name  string
			write func(io.Writer) error
		}{
			{resultFile, clean.WriteJSON},
			{conditionsFile, func(w io.Writer) error { return kept.JSON(w, clean.Conditions) }},
			{reportFile, func(w io.Writer) error { return report.HTML(w, clean) }},
			{scenarioFile, func(w io.Writer) error { _, err := w.Write(run.Scenario); return err }},
		} {
			var b bytes.Buffer
			if err := one.write(&b); err != nil {
				return nil, err
			}
			if b.Len() > 0 {
				all = append(all, file{at + one.name, b.Bytes()})
			}
		}
	}
	var b bytes.Buffer
	err = kept.JSON(&b, list)
	return append([]file{{manifestFile, b.Bytes()}}, all...), err
}

// withoutSecrets is a copy of a result in which each text is redacted.
func withoutSecrets(r *result.Result) (*result.Result, error) {
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		return nil, err
	}
	d := json.NewDecoder(&b)
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	text, err := json.Marshal(human.EachText(tree, human.Redact))
	if err != nil {
		return nil, err
	}
	clean := new(result.Result)
	return clean, json.Unmarshal(text, clean)
}

// Read an archive, whoever wrote it.
func Read(name string) (*Archive, error) {
	files, err := readFiles(name)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read archive %s: %w", name, err),
			"give a file that 'plimsoll export --archive' wrote")
	}
	a, err := archiveOf(name, files)
	if err != nil && !problem.Classified(err) {
		err = problem.New(problem.Usage, fmt.Errorf("read archive %s: %w", name, err),
			"the file was changed after it was written")
	}
	return a, err
}

func archiveOf(name string, files map[string][]byte) (*Archive, error) {
	var list manifest
	if err := json.Unmarshal(files[manifestFile], &list); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	switch {
	case list.Schema != Schema && strings.HasPrefix(list.Schema, "plimsoll.archive/"):
		return nil, problem.New(problem.Usage, fmt.Errorf("read archive %s: schema %q, want %q", name, list.Schema,
			Schema), "another version of Plimsoll wrote it; open it with that version")
	case list.Schema != Schema:
		return nil, fmt.Errorf("%s: schema %q, want %q", manifestFile, list.Schema, Schema)
	case len(list.Runs) == 0:
		return nil, fmt.Errorf("it has no run")
	}
	a := &Archive{Software: list.Software}
	for _, id := range list.Runs {
		at := "runs/" + id + "/"
		text, found := files[at+resultFile]
		if !found {
			return nil, fmt.Errorf("it lacks %s", at+resultFile)
		}
		r, err := store.Parse(path.Join(name, at+resultFile), text)
		if err != nil {
			return nil, err
		}
		if r.ID != id {
			return nil, fmt.Errorf("%s is that of run %q", at+resultFile, r.ID)
		}
		a.Runs = append(a.Runs, Run{Result: r, Scenario: files[at+scenarioFile]})
	}
	return a, nil
}
