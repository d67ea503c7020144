package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
)

// dayFile reads the pace of a recorded day: a file with the columns at and rate. The unit of the rate does not matter:
// at the busiest moment people think as long as the scenario says.
func dayFile(r *reader, e tomlfile.Entry) error {
	path, table, _, err := r.rows(e)
	if err != nil {
		return err
	}
	at, rate := slices.Index(table.Columns, "at"), slices.Index(table.Columns, "rate")
	wrong := func(row int, format string, args ...any) error {
		return problem.New(problem.Usage, fmt.Errorf("%s: %s: row %d: %s", path, keyText(e.Key), row+1,
			fmt.Sprintf(format, args...)), "such as a line 09:30,41.5 below at,rate")
	}
	if at < 0 || rate < 0 {
		return r.wrong(e, fmt.Sprintf("%s has no columns at and rate", path), "at is a time, rate any number in it")
	}
	peak := 0.0
	for row := range table.Rows {
		moment, err := momentOf(table.Value(row, at).String())
		if err != nil {
			return wrong(row, "%v", err)
		}
		level, err := strconv.ParseFloat(table.Value(row, rate).String(), 64)
		if err != nil || !(level >= 0 && level < 1e15) {
			return wrong(row, "rate is %q, not a number of 0 or more", table.Value(row, rate))
		}
		if n := len(r.Day); n > 0 && moment <= r.Day[n-1].At {
			return wrong(row, "its time is not after the one before")
		}
		r.Day, peak = append(r.Day, Point{At: moment, Level: level}), max(peak, level)
	}
	if peak == 0 {
		return r.wrong(e, path+": the rate is 0 all the time", "")
	}
	for i := range r.Day {
		r.Day[i].Level /= peak
	}
	return nil
}

// checkDay refuses a recorded day with points beside it.
func (r *reader) checkDay() error {
	points, file := 0, -1
	for i, e := range r.file.Entries {
		if len(e.Key) == 2 && e.Key[0] == "day" {
			if points++; e.Key[1] == "file" {
				file = i
			}
		}
	}
	if file >= 0 && points > 1 {
		return r.wrong(r.file.Entries[file], "the day has points in this file, too", "leave one of the two out")
	}
	return nil
}

// momentOf a time of the day, or a date and time.
func momentOf(text string) (time.Duration, error) {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)), nil
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05Z07", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return time.Duration(t.UnixNano()), nil
		}
	}
	return 0, fmt.Errorf("%q is no time such as 09:30 or 2026-01-31 09:30:00", text)
}
