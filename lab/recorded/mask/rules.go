package mask

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
)

// Rules say what is masked.
type Rules struct {
	columns  []string // in lower case, with * and ?; "table.column" or "column"
	patterns []*regexp.Regexp
}

// known patterns by name.
var known = map[string]string{
	"email": `[\p{L}\d._%+-]+@[\p{L}\d-]+(?:\.[\p{L}\d-]+)+`,
	"phone": `\+?\b\d[\d ()-]{8,16}\d\b`,
	"inn":   `\b(?:\d{12}|\d{10})\b`, // the number of a taxpayer
	"snils": `\b\d{3}-\d{3}-\d{3}[ -]\d{2}\b`,
	"card":  `\b(?:\d{4}[ -]?){3}\d{4}\b`,
}

// order of known patterns, the most particular first.
var order = []string{"email", "card", "snils", "inn", "phone"}

const example = "columns = [\"_reference18._description\"], patterns = [\"" + "email\", \"phone\"]"

// Read rules from a file:
//
//	columns  = ["_reference18._description", "*.phone"]   text compared with these columns, or written to them
//	patterns = ["email", "phone", "inn", "snils", "card"] wherever they occur in a value
//	own      = ['\bA\d{6}\b']                             regular expressions of one's own
func Read(file string) (Rules, error) {
	f, err := tomlfile.Read(file)
	var lacks *fs.PathError
	if errors.As(err, &lacks) {
		return Rules{}, problem.New(problem.Usage, fmt.Errorf("read rules: %w", err), example)
	}
	if err != nil {
		return Rules{}, err
	}
	return read(f)
}

func read(f *tomlfile.File) (r Rules, err error) {
	var names []string
	var own []*regexp.Regexp
	for _, e := range f.Entries {
		key := strings.Join(e.Key, ".")
		values, is := texts(e.Raw)
		wrong := func(text, hint string) error {
			return problem.New(problem.Usage, fmt.Errorf("%s: %s: %s", f.At(e.Line), key, text), hint)
		}
		if !is && slices.Contains([]string{"columns", "patterns", "own"}, key) {
			return r, wrong("must be a list of texts", example)
		}
		switch key {
		case "columns":
			for _, text := range values {
				if _, err := path.Match(text, ""); err != nil || text == "" {
					return r, wrong(fmt.Sprintf("%q is no name of a column", text), example)
				}
				r.columns = append(r.columns, strings.ToLower(text))
			}
		case "patterns":
			for _, name := range values {
				if known[name] == "" {
					return r, wrong(fmt.Sprintf("%q is no pattern", name),
						human.NearestHint(name, order, "there are: "+strings.Join(order, ", ")))
				}
			}
			names = values
		case "own":
			for _, text := range values {
				expression, err := regexp.Compile(text)
				if err != nil {
					return r, wrong(err.Error(), "a regular expression in single quotes")
				}
				own = append(own, expression)
			}
		default:
			return r, wrong("is not known", "there are: columns, patterns, own")
		}
	}
	r.patterns = own
	for _, name := range order {
		if slices.Contains(names, name) {
			r.patterns = append(r.patterns, regexp.MustCompile(known[name]))
		}
	}
	if len(r.columns)+len(r.patterns) == 0 {
		return r, problem.New(problem.Usage, fmt.Errorf("%s: no rule in it", f.Path), example)
	}
	return r, nil
}

func texts(raw any) (all []string, is bool) {
	list, is := raw.([]any)
	for _, one := range list {
		text, isText := one.(string)
		if !isText {
			return nil, false
		}
		all = append(all, text)
	}
	return all, is
}

// names says whether a rule names a column: "table.column", or a column alone where its table is not known.
func (r Rules) names(column string) bool {
	if column == "" {
		return false
	}
	column = strings.ToLower(column)
	table, name, qualified := strings.Cut(column, ".")
	if !qualified {
		table, name = "", column
	}
	return slices.ContainsFunc(r.columns, func(rule string) bool {
		ofTable, ofName, whole := strings.Cut(rule, ".")
		if !whole {
			ofTable, ofName = "*", rule
		}
		isName, _ := path.Match(ofName, name)
		isTable, _ := path.Match(ofTable, table)
		return isName && (isTable || table == "")
	})
}
