package replay

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// parameter of a statement as a technological log has it, one a line: "p_0: 17N", "p_1: 'it”s'", "p_2: 0x80C5",
// "p_3: 20261128101500T", "p_4: NULL". Behind a value may stand a letter for its type.
var parameter = regexp.MustCompile(`(?s)^p_(\d+):[ \t]*(.*)$`)

// parameters of Prm in their order; false: one is missing or cut.
func parameters(text string) (values []*string, whole bool) {
	text = strings.TrimSpace(text)
	for text != "" {
		line := text
		if end := nextParameter.FindStringIndex(text); end != nil {
			line, text = text[:end[0]], text[end[0]+1:]
		} else {
			text = ""
		}
		m := parameter.FindStringSubmatch(strings.TrimRight(line, "\r\n \t"))
		if m == nil || m[1] != strconv.Itoa(len(values)) {
			return values, false
		}
		value, ok := parameterValue(m[2])
		if !ok {
			return values, false
		}
		values = append(values, value)
	}
	return values, true
}

// nextParameter begins on a line of its own, also behind a value of several lines.
var nextParameter = regexp.MustCompile(`\n[ \t]*p_\d+:`)

var (
	numberValue = regexp.MustCompile(`^([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)N?$`)
	binaryValue = regexp.MustCompile(`^0x([0-9A-Fa-f]*)B?$`)
	momentValue = regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)T?$`)
	textValue   = regexp.MustCompile(`(?s)^'((?:[^']|'')*)'[A-Z]?$`)
)

// parameterValue as PostgreSQL reads it; nil is NULL.
func parameterValue(text string) (value *string, ok bool) {
	set := func(s string) (*string, bool) { return &s, true }
	if strings.EqualFold(text, "NULL") {
		return nil, true
	}
	if m := momentValue.FindStringSubmatch(text); m != nil {
		return set(m[1] + "-" + m[2] + "-" + m[3] + " " + m[4] + ":" + m[5] + ":" + m[6])
	}
	if m := binaryValue.FindStringSubmatch(text); m != nil {
		if _, err := hex.DecodeString(m[1]); err != nil {
			return nil, false
		}
		return set(`\x` + m[1])
	}
	if m := numberValue.FindStringSubmatch(text); m != nil {
		return set(m[1])
	}
	if m := textValue.FindStringSubmatch(text); m != nil {
		return set(strings.ReplaceAll(m[1], "''", "'"))
	}
	if strings.HasPrefix(text, "'") || strings.HasSuffix(text, "...") {
		return nil, false // cut
	}
	return set(text)
}
