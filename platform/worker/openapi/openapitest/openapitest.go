// Package openapitest checks a running API against its own description: which operations there are, what they take, and
// whether an answer is allowed by the description.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// API is the description that a worker serves.
type API struct {
	Text       []byte
	Operations []*Operation
	root       map[string]any
}

// Operation of the description.
type Operation struct {
	ID, Method, Path string
	Public           bool
	Parameters       []Parameter
	Body             map[string]any // schema; nil means none
	answers          map[int]content
}

// Parameter of an operation.
type Parameter struct {
	Name, In string
	Required bool
	Schema   map[string]any
}

type content struct {
	kind   string // "" means no body
	schema *jsonschema.Schema
}

// Load reads the description of the worker at base.
func Load(t testing.TB, base string) *API {
	t.Helper()
	answer, err := http.Get(base + "/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := &API{Text: text}
	if err := a.read(); err != nil {
		t.Fatalf("the description of the API: %v", err)
	}
	return a
}

const resource = "openapi.json"

func (a *API) read() error {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Text))
	if err != nil {
		return err
	}
	root, ok := parsed.(map[string]any)
	if !ok {
		return fmt.Errorf("not an object")
	}
	a.root = root
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(resource, parsed); err != nil {
		return err
	}
	for path, item := range root["paths"].(map[string]any) {
		for method, described := range item.(map[string]any) {
			o, err := a.operation(compiler, path, method, described.(map[string]any))
			if err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			a.Operations = append(a.Operations, o)
		}
	}
	slices.SortFunc(a.Operations, func(x, y *Operation) int { return strings.Compare(x.ID, y.ID) })
	return nil
}

func (a *API) operation(compiler *jsonschema.Compiler, path, method string, described map[string]any) (*Operation,
	error) {
	o := &Operation{ID: described["operationId"].(string), Method: strings.ToUpper(method), Path: path,
		answers: map[int]content{}}
	schemes := described["security"].([]any)
	o.Public = len(schemes) == 0
	for _, s := range schemes { // one that asks for nothing lets everybody in
		o.Public = o.Public || len(s.(map[string]any)) == 0
	}
	given, _ := described["parameters"].([]any)
	for _, p := range given {
		p := p.(map[string]any)
		required, _ := p["required"].(bool)
		o.Parameters = append(o.Parameters, Parameter{p["name"].(string), p["in"].(string), required,
			p["schema"].(map[string]any)})
	}
	if body, ok := described["requestBody"].(map[string]any); ok {
		content := body["content"].(map[string]any)["application/json"].(map[string]any)
		o.Body = a.Resolve(content["schema"].(map[string]any))
	}
	for status, r := range described["responses"].(map[string]any) {
		var code int
		if _, err := fmt.Sscan(status, &code); err != nil {
			return nil, err
		}
		at := fmt.Sprintf("/paths/%s/%s/responses/%s", escaped(path), method, status)
		response := r.(map[string]any)
		if ref, ok := response["$ref"].(string); ok {
			at = strings.TrimPrefix(ref, "#")
			response = a.Resolve(response)
		}
		c, err := compile(compiler, at, response)
		if err != nil {
			return nil, err
		}
		o.answers[code] = c
	}
	return o, nil
}

func compile(compiler *jsonschema.Compiler, at string, response map[string]any) (content, error) {
	kinds, _ := response["content"].(map[string]any)
	for kind := range kinds {
		schema, err := compiler.Compile(resource + "#" + at + "/content/" + escaped(kind) + "/schema")
		return content{kind, schema}, err
	}
	return content{}, nil
}

// escaped is a part of a JSON pointer inside of a URL.
func escaped(part string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(part)
}

// Resolve follows a reference of the description.
func (a *API) Resolve(v map[string]any) map[string]any {
	ref, ok := v["$ref"].(string)
	if !ok {
		return v
	}
	at := a.root
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		at = at[part].(map[string]any)
	}
	return at
}

// Find gives an operation by its id.
func (a *API) Find(t testing.TB, id string) *Operation {
	t.Helper()
	for _, o := range a.Operations {
		if o.ID == id {
			return o
		}
	}
	t.Fatalf("the API describes no operation %s", id)
	return nil
}

// Statuses that the operation may answer with.
func (o *Operation) Statuses() (all []int) {
	for status := range o.answers {
		all = append(all, status)
	}
	slices.Sort(all)
	return all
}

// Check says in what an answer differs from its description.
func (o *Operation) Check(status int, header http.Header, body []byte) error {
	c, ok := o.answers[status]
	if !ok {
		return fmt.Errorf("%s: status %d is not described: %.300s", o.ID, status, body)
	}
	if c.kind == "" {
		if len(body) > 0 {
			return fmt.Errorf("%s: %d has a body that is not described: %.300s", o.ID, status, body)
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || kind != c.kind {
		return fmt.Errorf("%s: %d is %q, described as %s", o.ID, status, header.Get("Content-Type"), c.kind)
	}
	if kind != "application/json" {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %d: %w: %.300s", o.ID, status, err, body)
	}
	if err := c.schema.Validate(value); err != nil {
		return fmt.Errorf("%s: %d: %w: %.300s", o.ID, status, err, body)
	}
	return nil
}

// Example is a body allowed by the schema, with all fields; pick returns ids of a catalog or document type.
func (a *API) Example(schema map[string]any, pick func(name string) string) any {
	schema = a.Resolve(schema)
	switch schema["type"] {
	case "object":
		object := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			object[name] = a.Example(p.(map[string]any), pick)
		}
		return object
	case "array":
		least, _ := strconv.Atoi(fmt.Sprint(schema["minItems"]))
		rows := make([]any, max(1, least))
		for i := range rows {
			rows[i] = a.Example(schema["items"].(map[string]any), pick)
		}
		return rows
	case "integer", "number":
		return 1
	case "boolean":
		return true
	}
	return exampleText(schema, pick)
}

func exampleText(schema map[string]any, pick func(name string) string) string {
	pattern, _ := schema["pattern"].(string)
	switch {
	case schema["format"] == "uuid":
		name, _ := schema["x-catalog"].(string)
		if types, ok := schema["x-documents"].([]any); ok {
			name = types[0].(string)
		}
		return pick(name)
	case schema["format"] == "date-time":
		return "2025-06-15T12:00:00Z"
	case !regexp.MustCompile(pattern).MatchString("x"): // a pattern of decimals
		return "1"
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[0].(string)
	}
	return "x"
}

// JSON of a value made by Example.
func JSON(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
