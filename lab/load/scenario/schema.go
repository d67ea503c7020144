package scenario

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// Schema is the JSON schema of scenario files, made from the same table as their reader and reference. Editors complete
// and check TOML by it. It judges one key at a time; rules that span several are the reader's alone.
//
// Of the drafts of JSON schema it uses what draft 4 and later ones have in common, since editors differ.
func Schema() []byte {
	root := tree{"type": "object", "additionalProperties": false, "properties": tree{}}
	for _, k := range keys {
		root.put(strings.Split(k.pattern, "."), k)
	}
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["$id"] = "urn:plimsoll:schema:scenario-1"
	root["title"] = "Plimsoll scenario"
	root["description"] = "What users of an application do, how often, and how long it may take."
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // texts and numbers alone
	}
	return append(text, '\n')
}

// tree of a schema.
type tree map[string]any

// put a key below the table that the tree describes.
func (t tree) put(path []string, k key) {
	child := t.child(path[0])
	if len(path) > 1 {
		child.put(path[1:], k)
		return
	}
	a, _ := aboutKey(k.pattern)
	child["description"] = a.text()
	if !k.table {
		kind, _ := kindOf(a.takes)
		for name, value := range kind {
			child[name] = value
		}
		return
	}
	child["type"] = "object"
	if child["properties"] == nil {
		child["properties"], child["additionalProperties"] = tree{}, false
	}
}

// child is what a table has under a name, * for any, and for each of a list.
func (t tree) child(name string) tree {
	if items, list := t["items"].(tree); list {
		return items
	}
	if name == "*" {
		if _, any := t["additionalProperties"].(tree); !any {
			t["additionalProperties"] = tree{}
		}
		return t["additionalProperties"].(tree)
	}
	all := t["properties"].(tree)
	if all[name] == nil {
		all[name] = tree{}
	}
	return all[name].(tree)
}

// text of a description, for an editor.
func (a about) text() string {
	if a.instead == "" {
		return a.says
	}
	return a.says + " Without it: " + a.instead + "."
}

// The parts of a duration, as Go reads it.
const durationPattern = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$`

var (
	someNumber = regexp.MustCompile(`^(number|whole number)(?: from ([0-9.]+))?(?: to ([0-9.]+))?$`)
	someWords  = regexp.MustCompile(`^[^ |]+(\|[^ |]+)+$`)
)

// kindOf is the schema of what a key takes; false: these words mean nothing to it. Alternatives stand between "or".
func kindOf(takes string) (tree, bool) {
	const either = "true or false"
	takes = strings.NewReplacer(", or ", " or ", " a list of ", " list of ").Replace(takes)
	if takes == either {
		return tree{"type": "boolean"}, true
	}
	if all := strings.Split(strings.Replace(takes, either, "yes/no", 1), " or "); len(all) > 1 {
		return anyOf(all)
	}
	if of, is := strings.CutPrefix(takes, "list of "); is {
		item, known := kindOf(singular(of))
		return tree{"type": "array", "items": item}, known
	}
	if n := someNumber.FindStringSubmatch(takes); n != nil {
		return numberFrom(n[1], n[2], n[3]), true
	}
	if someWords.MatchString(takes) {
		return tree{"enum": strings.Split(takes, "|")}, true
	}
	switch takes {
	case "yes/no":
		return tree{"type": "boolean"}, true
	case "text", "SQL", "path":
		return tree{"type": "string"}, true
	case "script":
		return tree{"type": "string", "minLength": 1}, true
	case "duration":
		return tree{"type": "string", "pattern": durationPattern}, true
	case "share":
		return numberFrom("number", "0", "1"), true
	case "value":
		return tree{"type": []string{"string", "number", "boolean"}}, true
	case "table":
		return tree{"type": "object", "additionalProperties": false, "properties": tree{}}, true
	case "status":
		return numberFrom("whole number", "100", "599"), true
	case "SQLSTATE":
		return tree{"type": "string", "minLength": 5, "maxLength": 5}, true
	}
	return tree{}, false
}

func anyOf(all []string) (tree, bool) {
	var each []tree
	for _, takes := range all {
		one, known := kindOf(takes)
		if !known {
			return tree{}, false
		}
		each = append(each, one)
	}
	return tree{"anyOf": each}, true
}

func singular(all string) string {
	if one, is := strings.CutSuffix(all, "ses"); is {
		return one + "s"
	}
	return strings.TrimSuffix(all, "s")
}

func numberFrom(kind, least, most string) tree {
	t := tree{"type": "number"}
	if kind == "whole number" {
		t["type"] = "integer"
	}
	for name, text := range map[string]string{"minimum": least, "maximum": most} {
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			t[name] = x
		}
	}
	return t
}
