package kept

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"plimsoll/ground/problem"
)

// labelFile lies beside the JSON of a result.
const labelFile = "label.json"

// Label is what a person says of a result. It is no part of what was measured and may change afterwards, so it has a
// file of its own.
type Label struct {
	Tags []string `json:"tags,omitempty"`
	Note string   `json:"note,omitempty"`
}

// IsEmpty says that nobody has said anything.
func (l Label) IsEmpty() bool { return len(l.Tags) == 0 && l.Note == "" }

// Has says whether it has the tag. Every label has the empty one.
func (l Label) Has(tag string) bool { return tag == "" || slices.Contains(l.Tags, tag) }

// With tags, without others, and with another note unless nil. Tags are sorted.
func (l Label) With(tags, without []string, note *string) Label {
	all := slices.Concat(l.Tags, tags)
	all = slices.DeleteFunc(all, func(tag string) bool { return slices.Contains(without, tag) })
	slices.Sort(all)
	if l.Tags = slices.Compact(all); note != nil {
		l.Note = *note
	}
	return l
}

// tagForm keeps tags easy to type and to list.
var tagForm = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]{0,63}$`)

// CheckTags refuses words that are no tags.
func CheckTags(tags []string) error {
	for _, tag := range tags {
		if !tagForm.MatchString(tag) {
			return problem.New(problem.Usage, fmt.Errorf("%q is no tag", tag),
				"a tag has letters, digits, dots, hyphens and _, and begins with a letter or a digit")
		}
	}
	return nil
}

// Label of a result; an empty one if nobody gave it any.
func (f Folder) Label(id string) (l Label, err error) {
	text, err := os.ReadFile(filepath.Join(f.Dir(id), labelFile))
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	return l, f.Problem("read the label of "+f.Kind+" "+id, err)
}

// DropLabel of a result that did not come about.
func (f Folder) DropLabel(id string) error {
	err := os.Remove(filepath.Join(f.Dir(id), labelFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.Problem("clean up the folder of the "+f.Kind, err)
}

// AddLabel to that of a result which goes on: it has the label of its beginning. An empty note leaves that one.
func (f Folder) AddLabel(id string, more Label) error {
	if info, err := os.Stat(f.Dir(id)); more.IsEmpty() || id == "" || err != nil || !info.IsDir() {
		return nil
	}
	l, err := f.Label(id)
	if err != nil {
		return err
	}
	note := cmp.Or(more.Note, l.Note)
	return f.SetLabel(id, l.With(more.Tags, nil, &note))
}

// SetLabel of a result.
func (f Folder) SetLabel(id string, l Label) error {
	sorted := l.With(nil, nil, nil)
	err := Write(filepath.Join(f.Dir(id), labelFile), func(w io.Writer) error { return JSON(w, sorted) })
	return f.Problem("label "+f.Kind+" "+id, err)
}
