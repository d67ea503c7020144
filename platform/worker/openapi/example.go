package openapi

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Resolve follows a reference to the components.
func (d *Document) Resolve(s *Schema) *Schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		if found, ok := d.Components.Schemas.Get(name); ok {
			return found
		}
	}
	return s
}

// Example is a value of the schema as a user would first try it: only what is required. A reference becomes a shell
// variable, as nobody can guess an id.
func (d *Document) Example(s *Schema) json.RawMessage {
	var b bytes.Buffer
	d.example(&b, "", s)
	var indented bytes.Buffer
	if json.Indent(&indented, b.Bytes(), "", "  ") != nil {
		return b.Bytes()
	}
	return indented.Bytes()
}

func (d *Document) example(b *bytes.Buffer, name string, s *Schema) {
	s = d.Resolve(s)
	switch s.Type {
	case "object":
		b.WriteByte('{')
		for i, required := range s.Required {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(required) + ":")
			p, _ := s.Properties.Get(required)
			d.example(b, required, p)
		}
		b.WriteByte('}')
	case "array":
		b.WriteByte('[')
		for i := range max(1, s.MinItems) {
			if i > 0 {
				b.WriteByte(',')
			}
			d.example(b, name, s.Items)
		}
		b.WriteByte(']')
	case "integer", "number":
		b.WriteString("1")
	case "boolean":
		b.WriteString("true")
	default:
		b.WriteString(quote(exampleText(name, s)))
	}
}

func exampleText(name string, s *Schema) string {
	switch {
	case s.Format == "uuid":
		return "$" + strings.ToUpper(name)
	case s.Format == "date-time":
		return "2025-12-31T12:00:00Z"
	case s.Pattern == quantityGiven, s.Pattern == quantityRequired:
		return "2"
	case s.Pattern == moneyGiven, s.Pattern == moneyRequired:
		return "100.00"
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	return name
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a string always has a JSON form
	return string(text)
}
