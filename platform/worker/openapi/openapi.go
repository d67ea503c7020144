// Package openapi describes an HTTP API in OpenAPI 3.1: the types of a description, schemas from metadata, and the page
// that shows it to readers.
package openapi

import (
	"bytes"
	"encoding/json"
)

// Version of the specification.
const Version = "3.1.0"

// Document is a whole description.
type Document struct {
	OpenAPI    string          `json:"openapi"`
	Info       Info            `json:"info"`
	Tags       []Tag           `json:"tags,omitempty"`
	Paths      Named[PathItem] `json:"paths"`
	Components Components      `json:"components"`
}

// Info names the API.
type Info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
}

// Tag groups operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// PathItem holds the operations of a path by method, in lower case.
type PathItem = Named[*Operation]

// Operation is one method of one path.
type Operation struct {
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Tags        []string              `json:"tags,omitempty"`
	Parameters  []Parameter           `json:"parameters,omitempty"`
	RequestBody *Body                 `json:"requestBody,omitempty"`
	Responses   Named[Response]       `json:"responses"`
	Security    []map[string][]string `json:"security"`
}

// Parameter of a path, a query or a header.
type Parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema"`
}

// Body of a request.
type Body struct {
	Required bool             `json:"required"`
	Content  map[string]Media `json:"content"`
}

// Media is the content of a body of one type.
type Media struct {
	Schema  *Schema         `json:"schema,omitempty"`
	Example json.RawMessage `json:"example,omitempty"`
}

// Response to a request, or a reference to one of the components.
type Response struct {
	Ref         string           `json:"$ref,omitempty"`
	Description string           `json:"description,omitempty"`
	Headers     Named[Header]    `json:"headers,omitempty"`
	Content     map[string]Media `json:"content,omitempty"`
}

// Header of a response.
type Header struct {
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema"`
}

// Components are referred to from elsewhere.
type Components struct {
	Schemas         Named[*Schema]            `json:"schemas"`
	Responses       Named[Response]           `json:"responses"`
	SecuritySchemes map[string]SecurityScheme `json:"securitySchemes"`
}

// SecurityScheme is how a client authenticates.
type SecurityScheme struct {
	Type        string `json:"type"`
	Scheme      string `json:"scheme"`
	Description string `json:"description,omitempty"`
}

// Named keeps named things in the order in which they were added, which is the order to read them in.
type Named[T any] []Entry[T]

// Entry of a Named.
type Entry[T any] struct {
	Name  string
	Value T
}

// Get finds by name.
func (n Named[T]) Get(name string) (value T, found bool) {
	for _, e := range n {
		if e.Name == name {
			return e.Value, true
		}
	}
	return value, false
}

// Set adds, or replaces what has the name.
func (n *Named[T]) Set(name string, value T) {
	for i := range *n {
		if (*n)[i].Name == name {
			(*n)[i].Value = value
			return
		}
	}
	*n = append(*n, Entry[T]{name, value})
}

// MarshalJSON writes an object.
func (n Named[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(e.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(e.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
