package openapi

import (
	"encoding/json"
	"strings"

	"plimsoll/platform/data/amount"
	"plimsoll/platform/model/metadata"
)

// Schema is a JSON Schema of 2020-12, as far as the API needs it.
type Schema struct {
	Ref                  string         `json:"$ref,omitempty"`
	Title                string         `json:"title,omitempty"`
	Description          string         `json:"description,omitempty"`
	Type                 string         `json:"type,omitempty"`
	Format               string         `json:"format,omitempty"`
	Pattern              string         `json:"pattern,omitempty"`
	Enum                 []string       `json:"enum,omitempty"`
	MinLength            int            `json:"minLength,omitempty"`
	MaxLength            int            `json:"maxLength,omitempty"`
	Minimum              *int64         `json:"minimum,omitempty"`
	Maximum              *int64         `json:"maximum,omitempty"`
	Default              any            `json:"default,omitempty"`
	Items                *Schema        `json:"items,omitempty"`
	MinItems             int            `json:"minItems,omitempty"`
	MaxItems             int            `json:"maxItems,omitempty"`
	Properties           Named[*Schema] `json:"properties,omitempty"`
	Required             []string       `json:"required,omitempty"`
	AdditionalProperties *Additional    `json:"additionalProperties,omitempty"`
	ReadOnly             bool           `json:"readOnly,omitempty"`
	// Catalog names the list that provides the ids of a reference.
	Catalog string `json:"x-catalog,omitempty"`
	// Documents are the types that a reference to a document may have, as written in a path.
	Documents []string `json:"x-documents,omitempty"`
}

// Additional is what an object may hold besides its properties: nothing, or values of a schema.
type Additional struct{ Schema *Schema }

// MarshalJSON writes false or the schema.
func (a Additional) MarshalJSON() ([]byte, error) {
	if a.Schema == nil {
		return []byte("false"), nil
	}
	return json.Marshal(a.Schema)
}

// Patterns of strings. Decimals in a request are not negative, and not zero if required; sums may be negative. No text
// contains the zero character.
const (
	moneyGiven       = `^[0-9]{1,12}(\.[0-9]{1,2})?$`
	moneyRequired    = `^([1-9][0-9]{0,11}(\.[0-9]{1,2})?|0\.(0[1-9]|[1-9][0-9]?))$`
	quantityGiven    = `^[0-9]{1,9}(\.[0-9]{1,3})?$`
	quantityRequired = `^([1-9][0-9]{0,8}(\.[0-9]{1,3})?|0\.(00[1-9]|0[1-9][0-9]?|[1-9][0-9]{0,2}))$`
	moneyShown       = `^-?[0-9]+\.[0-9]{2}$`
	quantityShown    = `^-?[0-9]+\.[0-9]{3}$`
	textGiven        = `^[^\x00]*$`
	notEmptyString   = 1
)

// Ref refers to a schema of the components.
func Ref(name string) *Schema { return &Schema{Ref: "#/components/schemas/" + name} }

// String, Integer and the others are schemas of plain values.
func String(description string) *Schema { return &Schema{Type: "string", Description: description} }

// Integer is a whole number of 64 bits.
func Integer(description string) *Schema {
	return &Schema{Type: "integer", Format: "int64", Description: description}
}

// Between is a whole number within bounds.
func Between(least, most int64, description string) *Schema {
	return &Schema{Type: "integer", Minimum: &least, Maximum: &most, Description: description}
}

// Number is a number with a fraction.
func Number(description string) *Schema { return &Schema{Type: "number", Description: description} }

// Boolean is true or false.
func Boolean(description string) *Schema { return &Schema{Type: "boolean", Description: description} }

// UUID is an id.
func UUID(description string) *Schema {
	return &Schema{Type: "string", Format: "uuid", Description: description}
}

// Moment is a time.
func Moment(description string) *Schema {
	return &Schema{Type: "string", Format: "date-time", Description: description}
}

// MoneyShown is an amount in an answer.
func MoneyShown(description string) *Schema {
	return &Schema{Type: "string", Pattern: moneyShown, Description: description}
}

// Array of values.
func Array(items *Schema) *Schema { return &Schema{Type: "array", Items: items} }

// Object has exactly these properties; those not listed in optional are always present.
func Object(properties Named[*Schema], optional ...string) *Schema {
	s := &Schema{Type: "object", Properties: properties, AdditionalProperties: &Additional{}}
	left := map[string]bool{}
	for _, name := range optional {
		left[name] = true
	}
	for _, p := range properties {
		if !left[p.Name] {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

// Shown is a selected object in an answer: each attribute is always present. Computed ones are never read from a
// request.
func Shown(attributes []metadata.Attribute) *Schema {
	var properties Named[*Schema]
	for _, a := range attributes {
		s := value(a, moneyShown, quantityShown)
		if s.ReadOnly = a.Computed; a.Computed {
			s.Description = "set by posting"
		}
		properties.Set(a.Name, s)
	}
	return Object(properties)
}

// Given is the object in a request, without computed attributes.
func Given(attributes []metadata.Attribute) *Schema {
	s := &Schema{Type: "object", AdditionalProperties: &Additional{}}
	for _, a := range attributes {
		if a.Computed {
			continue
		}
		money, quantity := moneyGiven, quantityGiven
		if a.Required {
			s.Required, money, quantity = append(s.Required, a.Name), moneyRequired, quantityRequired
		}
		v := value(a, money, quantity)
		if a.Type == metadata.Text {
			if v.MaxLength, v.Pattern = a.Length, textGiven; a.Required {
				v.MinLength = notEmptyString
			}
		}
		s.Properties.Set(a.Name, v)
	}
	return s
}

func value(a metadata.Attribute, money, quantity string) *Schema {
	switch a.Type {
	case metadata.Reference:
		if a.Document || a.Documents != nil {
			reference := UUID("id of a document")
			for _, name := range a.Documents {
				reference.Documents = append(reference.Documents, strings.ReplaceAll(name, "_", "-"))
			}
			return reference
		}
		if a.Catalog != "" {
			reference := UUID("id in the catalog " + a.Catalog)
			reference.Catalog = strings.ReplaceAll(a.Catalog, "_", "-")
			return reference
		}
		return UUID("")
	case metadata.Quantity:
		return &Schema{Type: "string", Pattern: quantity,
			Description: "decimal, up to three places, at most " + amount.QuantityMax.String()}
	case metadata.Money:
		return &Schema{Type: "string", Pattern: money,
			Description: "decimal, up to two places, at most " + amount.MoneyMax.String()}
	case metadata.Integer:
		return Integer("")
	case metadata.Boolean:
		return Boolean("")
	case metadata.Moment:
		return Moment("")
	}
	return String("")
}
