package techlog

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// head is the beginning of an event: minute, second and fraction of its end, duration, name. Fractions of six digits
// and durations are microseconds; the log of version 8.2 has four digits and tenths of milliseconds.
var head = regexp.MustCompile(
	`^([0-5][0-9]):([0-5][0-9])\.([0-9]{4}|[0-9]{6})-([0-9]+),([A-Za-z][A-Za-z0-9_]*)(,|\r?\n?$)`)

// headOfProcess is that of an event as servers write it.
var headOfProcess = regexp.MustCompile(
	`^[0-5][0-9]:[0-5][0-9]\.[0-9]{4,6}-[0-9]+,[A-Za-z0-9_]+,[0-9]+,(level=\w+,)?process=`)

// parseText reads one event. The hour is in the name of the file.
func parseText(text []byte, hour time.Time) (Event, error) {
	m := head.FindSubmatch(text)
	if m == nil {
		return Event{}, errors.New("no time, duration and name at its beginning")
	}
	number := func(digits []byte) int64 {
		n, _ := strconv.ParseInt(string(digits), 10, 64) // of too many digits it is the largest number
		return n
	}
	unit := time.Microsecond
	if len(m[3]) == 4 {
		unit = 100 * time.Microsecond
	}
	if number(m[4]) > int64(longest/unit) {
		return Event{}, fmt.Errorf("a duration of %s", m[4])
	}
	e := Event{
		At: hour.Add(time.Duration(number(m[1]))*time.Minute + time.Duration(number(m[2]))*time.Second +
			time.Duration(number(m[3]))*unit),
		Duration: time.Duration(number(m[4])) * unit,
		Name:     string(m[5]),
	}
	rest := bytes.TrimRight(text[len(m[0]):], "\r\n")
	// The level comes next, a number without a name.
	if level, after, _ := bytes.Cut(rest, []byte(",")); isNumber(level) {
		rest = after
	}
	return e, e.fields(rest)
}

// longest duration that is believed: one event, open for a year.
const longest = 366 * 24 * time.Hour

func isNumber(text []byte) bool {
	return len(bytes.Trim(text, "0123456789")) == 0
}

// fields reads "name=value,name=value". A value is bare, in single or in double quotes, which are doubled inside.
func (e *Event) fields(rest []byte) error {
	for len(rest) > 0 {
		name, after, found := bytes.Cut(rest, []byte("="))
		if !found || bytes.ContainsAny(name, ",\n") {
			return fmt.Errorf("no field at %q", beginning(rest))
		}
		value, left, ok := cutValue(after)
		if !ok {
			return fmt.Errorf("the quotes of %s do not end", name)
		}
		e.Fields = append(e.Fields, Field{string(name), string(value)})
		rest = left
	}
	return nil
}

// cutValue takes a value and the comma behind it; false if its quotes do not end.
func cutValue(text []byte) (value, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '\'' && text[0] != '"' {
		value, rest, _ = bytes.Cut(text, []byte(","))
		return value, rest, true
	}
	end := endOfQuotes(text)
	if end < 0 {
		return nil, nil, false
	}
	quote := text[:1]
	value = bytes.ReplaceAll(text[1:end], append(bytes.Clone(quote), quote...), quote)
	rest = text[end+1:]
	if len(rest) > 0 && rest[0] != ',' {
		return nil, nil, false
	}
	return value, bytes.TrimPrefix(rest, []byte(",")), true
}

// endOfQuotes is the place of the quote that ends a value, which begins with its quote; -1 if it is not here.
func endOfQuotes(text []byte) int {
	for i := 1; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], text[0])
		if next < 0 {
			return -1
		}
		i += next
		if i+1 == len(text) || text[i+1] != text[0] {
			return i
		}
		i++ // a doubled quote
	}
	return -1
}

// openQuotes says whether a value of an event's lines so far has begun and not ended. Only what stands behind "=" at
// the beginning of a field opens quotes.
type openQuotes struct {
	quote byte // 0: outside
	// inField: a name is being read, whose "=" begins a value.
	inField bool
}

func (o *openQuotes) open() bool { return o.quote != 0 }

// line follows one more line, with its end.
func (o *openQuotes) line(text []byte) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case o.quote != 0 && c == o.quote && i+1 < len(text) && text[i+1] == c:
			i++
		case o.quote != 0 && c == o.quote:
			o.quote, o.inField = 0, false
		case o.quote != 0:
		case c == '=' && o.inField:
			o.inField = false
			if i+1 < len(text) && (text[i+1] == '\'' || text[i+1] == '"') {
				o.quote = text[i+1]
				i++
			}
		case c == ',':
			o.inField = true
		}
	}
}

// beginning of a text, for a message.
func beginning(text []byte) []byte { return text[:min(len(text), 60)] }
