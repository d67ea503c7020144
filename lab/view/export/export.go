// Package export writes a run's figures as tables for other programs: the series, a row per interval, and the key
// operations, a row each with its histogram in units of T. Columns have the names of the JSON; what was not measured is
// empty or null.
package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"plimsoll/lab/run/result"
)

// Second is one interval of the series.
type Second struct {
	Run          string   `parquet:"run"`
	T            float64  `parquet:"t"` // start of the interval, seconds since the start of the ramp
	Steady       bool     `parquet:"steady"`
	Users        int64    `parquet:"users"`
	OK           int64    `parquet:"ok"`
	Refused      int64    `parquet:"refused"`
	Errors       int64    `parquet:"errors"`
	Overload     int64    `parquet:"overload"`
	InFlight     int64    `parquet:"in_flight"`
	Backlog      int64    `parquet:"backlog"`
	Apdex        *float64 `parquet:"apdex,optional"`
	P50MS        *float64 `parquet:"p50_ms,optional"`
	P95MS        *float64 `parquet:"p95_ms,optional"`
	P99MS        *float64 `parquet:"p99_ms,optional"`
	LagMSMax     float64  `parquet:"lag_ms_max"`
	CPUGenerator *float64 `parquet:"cpu_generator,optional"`
	CPUWorkers   *float64 `parquet:"cpu_workers,optional"`
	CPUDatabase  *float64 `parquet:"cpu_database,optional"`
	CPUMachine   *float64 `parquet:"cpu_machine,optional"`
	// Bytes.
	MemoryGenerator *float64 `parquet:"memory_generator,optional"`
	MemoryWorkers   *float64 `parquet:"memory_workers,optional"`
	MemoryDatabase  *float64 `parquet:"memory_database,optional"`
}

// Operation is one key operation over the steady state.
type Operation struct {
	Run      string   `parquet:"run"`
	ID       string   `parquet:"id"`
	Title    string   `parquet:"title"`
	TargetMS float64  `parquet:"target_ms"`
	Priority int64    `parquet:"priority"`
	Weight   float64  `parquet:"weight"`
	Ops      int64    `parquet:"ops"`
	OK       int64    `parquet:"ok"`
	Refused  int64    `parquet:"refused"`
	Errors   int64    `parquet:"errors"`
	Overload int64    `parquet:"overload"`
	Apdex    *float64 `parquet:"apdex,optional"`
	// Of all operations, failures being the longest: empty where one is a failure.
	P50MS *float64 `parquet:"p50_ms,optional"`
	P95MS *float64 `parquet:"p95_ms,optional"`
	P99MS *float64 `parquet:"p99_ms,optional"`
	MaxMS *float64 `parquet:"max_ms,optional"`
	// Of answered operations alone.
	AnsweredP50MS *float64 `parquet:"answered_p50_ms,optional"`
	AnsweredP95MS *float64 `parquet:"answered_p95_ms,optional"`
	AnsweredP99MS *float64 `parquet:"answered_p99_ms,optional"`
	AnsweredMaxMS *float64 `parquet:"answered_max_ms,optional"`
	WithinT       int64    `parquet:"within_t"`
	Within2T      int64    `parquet:"within_2t"` // but not within T, and so on
	Within3T      int64    `parquet:"within_3t"`
	Within4T      int64    `parquet:"within_4t"`
	Beyond4T      int64    `parquet:"beyond_4t"`
	Satisfied     int64    `parquet:"satisfied"`
	Tolerating    int64    `parquet:"tolerating"`
	Frustrated    int64    `parquet:"frustrated"`
}

// Series are the intervals of a run.
func Series(r *result.Result) (rows []Second) {
	s := r.Series
	for i, at := range s.T {
		rows = append(rows, Second{
			Run: r.ID, T: at, Steady: at >= s.SteadyFromS && at < s.SteadyToS,
			Users: s.Users[i], OK: s.OK[i], Refused: s.Refused[i], Errors: s.Errors[i], Overload: s.Overload[i],
			InFlight: s.InFlight[i], Backlog: at0(s.Backlog, i), LagMSMax: s.LagMSMax[i],
			Apdex: s.Apdex[i], P50MS: s.P50MS[i], P95MS: s.P95MS[i], P99MS: s.P99MS[i],
			CPUGenerator: s.CPUGenerator[i], CPUWorkers: s.CPUWorkers[i], CPUDatabase: s.CPUDatabase[i],
			CPUMachine:      s.CPUMachine[i],
			MemoryGenerator: at0(s.MemoryGenerator, i), MemoryWorkers: at0(s.MemoryWorkers, i),
			MemoryDatabase: at0(s.MemoryDatabase, i),
		})
	}
	return rows
}

// at0 is a column that older results lack.
func at0[T any](column []T, i int) (value T) {
	if i < len(column) {
		value = column[i]
	}
	return value
}

// Operations are the key operations of a run.
func Operations(r *result.Result) (rows []Operation) {
	for _, op := range r.Operations {
		h, all := op.HistogramT, op.LatencyOrAnswered()
		rows = append(rows, Operation{
			Run: r.ID, ID: op.ID, Title: op.Title, TargetMS: op.TargetMS, Priority: int64(op.Priority),
			Weight: op.Weight,
			Ops:    op.Ops, OK: op.OK, Refused: op.Refused, Errors: op.Errors, Overload: op.Overload,
			Apdex: op.Apdex, P50MS: all.P50, P95MS: all.P95, P99MS: all.P99, MaxMS: all.Max,
			AnsweredP50MS: op.Latency.P50, AnsweredP95MS: op.Latency.P95, AnsweredP99MS: op.Latency.P99,
			AnsweredMaxMS: op.Latency.Max,
			WithinT:       h[0], Within2T: h[1], Within3T: h[2], Within4T: h[3], Beyond4T: h[4],
			Satisfied: op.Satisfied, Tolerating: op.Tolerating, Frustrated: op.Frustrated,
		})
	}
	return rows
}

// Parquet writes rows as one file.
func Parquet[Row any](w io.Writer, rows []Row) error {
	out := parquet.NewGenericWriter[Row](w, parquet.Compression(&parquet.Zstd))
	if _, err := out.Write(rows); err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	return nil
}

// CSV writes rows below a line of names. Text that a spreadsheet would take for a formula begins with a quote.
func CSV[Row any](w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	rowType := reflect.TypeFor[Row]()
	names := make([]string, rowType.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(rowType.Field(i).Tag.Get("parquet"), ",")
	}
	if err := out.Write(names); err != nil {
		return err
	}
	for _, row := range rows {
		cells := make([]string, len(names))
		for i := range cells {
			cells[i] = cell(reflect.ValueOf(row).Field(i))
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func cell(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		return cell(v.Elem())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return text(v.String())
}

// formulaStarts begin a formula, or are skipped before one; spreadsheets take the full-width forms for the narrow ones.
const formulaStarts = "=+-@\t\r\n\v\f\u00a0\u3000 ＝＋－＠"

func text(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune(formulaStarts, first) {
		return "'" + s
	}
	return s
}
