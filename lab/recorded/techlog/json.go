package techlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// parseJSON reads one event of the JSON form: one object a line, whose keys may occur twice, values mostly as text.
func parseJSON(text []byte, zone *time.Location) (Event, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return Event{}, errors.New("no JSON object")
	}
	var e Event
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return Event{}, fmt.Errorf("broken JSON: %w", err)
		}
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return Event{}, fmt.Errorf("broken JSON: %w", err)
		}
		if err := e.take(fmt.Sprint(key), plain(raw), zone); err != nil {
			return Event{}, err
		}
	}
	if _, err := in.Token(); err != nil {
		return Event{}, fmt.Errorf("broken JSON: %w", err)
	}
	if e.At.IsZero() || e.Name == "" {
		return Event{}, errors.New("no ts or no name")
	}
	return e, nil
}

// plain is a value as the text form has it.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func (e *Event) take(key, value string, zone *time.Location) error {
	switch {
	case key == "ts" && e.At.IsZero():
		at, err := time.ParseInLocation("2006-01-02T15:04:05.999999", value, zone)
		if err != nil {
			return fmt.Errorf("ts %q is no time", value)
		}
		e.At = at
	case key == "duration":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n > int64(longest/time.Microsecond) {
			return fmt.Errorf("duration %q is no number of microseconds", value)
		}
		e.Duration = time.Duration(n) * time.Microsecond
	case key == "name" && e.Name == "":
		e.Name = value
	case key == "depth" || key == "level":
	default:
		e.Fields = append(e.Fields, Field{key, value})
	}
	return nil
}
