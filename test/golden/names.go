package golden

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Names freezes the JSON of a type: every field is filled, written, and compared with a file, sorted by name, so that
// neither a name nor a form can change unseen. What the file holds must also be read back whole. Fields that are never
// written (json:"-") and what only points back to its own type are left out.
func Names[T any](t testing.TB, file string) {
	t.Helper()
	var full T
	fill(reflect.ValueOf(&full).Elem(), nil)
	text := indented(t, full)
	Compare(t, file, text)
	var again T
	in := json.NewDecoder(bytes.NewReader([]byte(text)))
	in.DisallowUnknownFields()
	if err := in.Decode(&again); err != nil {
		t.Fatalf("%s cannot be read back: %v", file, err)
	}
	if back := indented(t, again); back != text {
		t.Errorf("%s reads back as\n%s", file, back)
	}
}

// indented JSON with sorted names.
func indented(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	var tree any
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err == nil {
		text, err = json.MarshalIndent(tree, "", "  ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// fill gives every exported field of v a value that omitempty does not leave out.
func fill(v reflect.Value, above []reflect.Type) {
	if !v.CanSet() {
		return
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.5)
	case reflect.String:
		v.SetString("text")
	case reflect.Pointer:
		fillElement(v.Type().Elem(), above, func(e reflect.Value) { v.Set(e.Addr()) })
	case reflect.Slice:
		fillElement(v.Type().Elem(), above, func(e reflect.Value) { v.Set(reflect.Append(v, e)) })
	case reflect.Map:
		fillElement(v.Type().Elem(), above, func(e reflect.Value) {
			key := reflect.New(v.Type().Key()).Elem()
			fill(key, above)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, e)
		})
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), above)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i), append(above, v.Type()))
			}
		}
	}
}

// fillElement makes one element, unless its type is one that it is itself within.
func fillElement(kind reflect.Type, above []reflect.Type, put func(reflect.Value)) {
	for _, t := range above {
		if t == kind {
			return
		}
	}
	e := reflect.New(kind).Elem()
	fill(e, above)
	put(e)
}
