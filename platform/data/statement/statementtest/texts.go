// Package statementtest compares the SQL that a package makes with golden files.
package statementtest

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/test/golden"
)

// Compare all statements in a value with a golden file. White space outside literals is ignored: the file has each
// statement in one layout.
func Compare(t testing.TB, file string, value any) {
	t.Helper()
	texts := map[string]string{}
	collect(texts, "", reflect.ValueOf(value), map[uintptr]bool{})
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "-- %s\n%s\n\n", name, layOut(texts[name]))
	}
	golden.Compare(t, file, b.String())
}

var verb = regexp.MustCompile(`^\(*(SELECT|INSERT|UPDATE|DELETE|WITH|SET|LOCK|CREATE|ALTER)\b`)

// collect the strings that are statements, by their path of fields, indexes and keys.
func collect(texts map[string]string, path string, v reflect.Value, seen map[uintptr]bool) {
	switch v.Kind() {
	case reflect.String:
		if verb.MatchString(strings.TrimSpace(v.String())) {
			texts[strings.TrimPrefix(strings.TrimSuffix(path, ".text"), ".")] = v.String()
		}
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			collect(texts, path, v.Elem(), seen)
		}
	case reflect.Interface:
		collect(texts, path, v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			collect(texts, path+"."+v.Type().Field(i).Name, v.Field(i), seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			collect(texts, fmt.Sprintf("%s[%d]", path, i), v.Index(i), seen)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			collect(texts, path+"."+key.String(), v.MapIndex(key), seen)
		}
	}
}

var (
	blank  = regexp.MustCompile(`\s+`)
	clause = regexp.MustCompile(" (WITH|SELECT|FROM|JOIN|LEFT|FULL|CROSS|WHERE|GROUP BY|HAVING|ORDER BY|UNION|" +
		"ON CONFLICT|VALUES|SET) ")
)

const columns = 118

// layOut puts each clause on its own line and breaks long lines.
func layOut(sql string) string {
	parts := strings.Split(strings.TrimSpace(sql), "'")
	for i := 0; i < len(parts); i += 2 { // the others are literals
		parts[i] = strings.NewReplacer("( ", "(", " )", ")").Replace(blank.ReplaceAllString(parts[i], " "))
	}
	sql = strings.Join(parts, "'")
	var lines []string
	for line := range strings.SplitSeq(clause.ReplaceAllString(sql, "\n$1 "), "\n") {
		lines = append(lines, broken(line)...)
	}
	return strings.Join(lines, "\n")
}

// broken breaks a line outside literals.
func broken(line string) (lines []string) {
	current := ""
	for word := range strings.SplitSeq(line, " ") {
		if current != "" && len(current)+1+len(word) > columns && strings.Count(current, "'")%2 == 0 {
			lines = append(lines, current)
			current = "   "
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	return append(lines, current)
}
