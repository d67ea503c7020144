package scenario

import "strings"

// about describes a key of a scenario file for the reference, docs/scenario.md, and for editors.
type about struct {
	says    string // what it does, a sentence
	takes   string // kind of value, in the words of kindOf: "duration", "whole number from 1 to 100000", "get|post"
	instead string // what holds without it
	example string // a line of TOML, or more
}

// reference describes every key, by its pattern.
var reference = map[string]about{}

// alike are tables whose keys mean what the keys of another table mean.
var alike = map[string]string{"login": "operations.*", "operations.*.steps.*": "operations.*", "roles.*.think": "think"}

// aboutKey is the description of a key: its own, or that of the same key in a table that is alike.
func aboutKey(pattern string) (about, bool) {
	if a, own := reference[pattern]; own {
		return a, true
	}
	for table, other := range alike {
		if rest, inside := strings.CutPrefix(pattern, table+"."); inside {
			return aboutKey(other + "." + rest)
		}
	}
	return about{}, false
}
