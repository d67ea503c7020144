package script

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// kind of a value.
type kind uint8

const (
	null kind = iota
	integer
	double
	boolean
	unread // text from a query or the scenario, type not yet determined
)

func (k kind) String() string { return [...]string{"null", "int", "double", "boolean", "text"}[k] }

// Value of a variable or an expression.
type Value struct {
	kind kind
	i    int64
	d    float64
	b    bool
	s    string
}

// Int, Double and Text make values; a text is parsed as a number when an expression needs one.
func Int(i int64) Value      { return Value{kind: integer, i: i} }
func Double(d float64) Value { return Value{kind: double, d: d} }
func Text(s string) Value    { return Value{kind: unread, s: s} }
func boolOf(b bool) Value    { return Value{kind: boolean, b: b} }

// Null says whether the value is null.
func (v Value) Null() bool { return v.kind == null }

// String is the value as SQL text.
func (v Value) String() string {
	switch v.kind {
	case integer:
		return strconv.FormatInt(v.i, 10)
	case double:
		return doubleText(v.d)
	case boolean:
		return strconv.FormatBool(v.b)
	case unread:
		return v.s
	}
	return "NULL"
}

// Texts are the values of variables as SQL text.
func Texts(variables map[string]Value) map[string]string {
	all := make(map[string]string, len(variables))
	for name, v := range variables {
		all[name] = v.String()
	}
	return all
}

// doubleText is %.15g as PostgreSQL prints it.
func doubleText(d float64) string {
	switch {
	case math.IsNaN(d):
		return "NaN"
	case math.IsInf(d, 1):
		return "Infinity"
	case math.IsInf(d, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(d, 'g', 15, 64)
}

// read parses a text: null, a boolean (any prefix of true, false, yes or no), an integer or a double.
func (v Value) read() (Value, error) {
	if v.kind != unread {
		return v, nil
	}
	low := strings.ToLower(v.s)
	begins := func(word string) bool { return low != "" && strings.HasPrefix(word, low) }
	switch {
	case low == "null":
		return Value{}, nil
	case begins("true"), begins("yes"), low == "on":
		return boolOf(true), nil
	case begins("false"), begins("no"), low == "off", low == "of":
		return boolOf(false), nil
	case looksWhole(v.s):
		i, err := strconv.ParseInt(strings.TrimSpace(v.s), 10, 64)
		if err != nil {
			return v, fmt.Errorf("value %q is out of range for a whole number", v.s)
		}
		return Int(i), nil
	}
	d, err := strconv.ParseFloat(strings.TrimSpace(v.s), 64)
	if err != nil {
		return v, fmt.Errorf("value %q is not a number", v.s)
	}
	return Double(d), nil
}

func looksWhole(s string) bool {
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (v Value) asInt() (int64, error) {
	switch v.kind {
	case integer:
		return v.i, nil
	case double:
		d := math.RoundToEven(v.d)
		if math.IsNaN(d) || d < -0x1p63 || d >= 0x1p63 {
			return 0, fmt.Errorf("double to int overflow for %g", v.d)
		}
		return int64(d), nil
	}
	return 0, fmt.Errorf("cannot coerce %s to int", v.kind)
}

func (v Value) asDouble() (float64, error) {
	switch v.kind {
	case integer:
		return float64(v.i), nil
	case double:
		return v.d, nil
	}
	return 0, fmt.Errorf("cannot coerce %s to double", v.kind)
}

func (v Value) asBool() (bool, error) {
	if v.kind != boolean {
		return false, fmt.Errorf("cannot coerce %s to boolean", v.kind)
	}
	return v.b, nil
}

// truth of a condition: anything but null, false and zero.
func (v Value) truth() bool {
	switch v.kind {
	case boolean:
		return v.b
	case integer:
		return v.i != 0
	case double:
		return v.d != 0
	}
	return false
}
