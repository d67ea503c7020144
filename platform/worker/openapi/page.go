package openapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"
)

//go:embed page.html.tmpl
var pageTemplate string

//go:embed page.css
var pageStyle string

// Page renders the description for readers: one file that loads nothing, and a Content-Security-Policy that enforces
// it.
func Page(d *Document) (html []byte, policy string, err error) {
	t, err := template.New("page").Funcs(template.FuncMap{"style": func() template.CSS {
		return template.CSS(pageStyle)
	}, "prose": prose}).Parse(pageTemplate)
	if err != nil {
		return nil, "", fmt.Errorf("parse page of the API: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, d.view()); err != nil {
		return nil, "", fmt.Errorf("render page of the API: %w", err)
	}
	sum := sha256.Sum256([]byte(pageStyle))
	policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return b.Bytes(), policy, nil
}

// prose renders text in backticks as code.
func prose(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if part = template.HTMLEscapeString(part); i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String())
}

// What the template sees.
type (
	view struct {
		*Document
		Groups []group
	}
	group struct {
		Tag
		Operations []operationView
		Schemas    []schemaView
	}
	operationView struct {
		*Operation
		Method, Path string
		Curl         string
		Answers      []answerView
	}
	answerView struct{ Status, Description string }
	schemaView struct {
		Title string
		Rows  []propertyView
	}
	propertyView struct {
		Name, Type, Means string
		Required, Given   bool
		Depth             int
	}
)

func (d *Document) view() view {
	v := view{Document: d}
	for _, tag := range d.Tags {
		g := group{Tag: tag}
		for _, path := range d.Paths {
			for _, method := range path.Value {
				if o := method.Value; len(o.Tags) > 0 && o.Tags[0] == tag.Name {
					g.Operations = append(g.Operations, d.operationView(strings.ToUpper(method.Name), path.Name, o))
				}
			}
		}
		g.Schemas = d.schemas(g.Operations)
		v.Groups = append(v.Groups, g)
	}
	return v
}

func (d *Document) operationView(method, path string, o *Operation) operationView {
	v := operationView{Operation: o, Method: method, Path: path, Curl: d.curl(method, path, o)}
	for _, r := range o.Responses {
		description := r.Value.Description
		if name, ok := strings.CutPrefix(r.Value.Ref, "#/components/responses/"); ok {
			shared, _ := d.Components.Responses.Get(name)
			description = shared.Description
		}
		v.Answers = append(v.Answers, answerView{r.Name, description})
	}
	return v
}

// curl is the command line; shell variables stand for what only the reader knows.
func (d *Document) curl(method, path string, o *Operation) string {
	var b strings.Builder
	b.WriteString("curl -sS")
	if method != "GET" {
		b.WriteString(" -X " + method)
	}
	if len(o.Security) > 0 {
		b.WriteString(` -H "Authorization: Bearer $TOKEN"`)
	}
	for _, p := range o.Parameters {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", "$"+strings.ToUpper(p.Name))
		}
		if p.In == "header" && p.Required {
			fmt.Fprintf(&b, ` -H "%s: $VERSION"`, p.Name)
		}
	}
	fmt.Fprintf(&b, ` "$BASE%s"`, path)
	if o.RequestBody != nil {
		fmt.Fprintf(&b, " --json @- <<END\n%s\nEND", d.Example(o.RequestBody.Content["application/json"].Schema))
	}
	return b.String()
}

// schemas are the objects that operations take and return, each once.
func (d *Document) schemas(operations []operationView) (views []schemaView) {
	seen := map[string]bool{}
	add := func(s *Schema) {
		if s == nil {
			return
		}
		for s.Ref == "" && s.Type == "array" {
			s = s.Items
		}
		if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok && !seen[name] {
			seen[name] = true
			full := d.Resolve(s)
			title := full.Title
			if title == "" {
				title = name
			}
			views = append(views, schemaView{title, d.properties(full, 0)})
		}
	}
	for _, o := range operations {
		if o.RequestBody != nil {
			add(o.RequestBody.Content["application/json"].Schema)
		}
	}
	for _, o := range operations {
		for _, r := range o.Responses {
			s := r.Value.Content["application/json"].Schema
			add(s)
			if s != nil {
				if items, found := s.Properties.Get("items"); found {
					add(items)
				}
			}
		}
	}
	return views
}

func (d *Document) properties(s *Schema, depth int) (rows []propertyView) {
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	for _, p := range s.Properties {
		v := d.Resolve(p.Value)
		rows = append(rows, propertyView{Name: p.Name, Type: v.kind(), Means: v.means(), Required: required[p.Name],
			Given: !v.ReadOnly, Depth: depth})
		if v.Type == "array" {
			v = d.Resolve(v.Items)
		}
		rows = append(rows, d.properties(v, depth+1)...)
	}
	return rows
}

func (s *Schema) kind() string {
	switch {
	case s.Type == "array":
		return "array of objects"
	case s.Format == "int64":
		return s.Type
	case s.Format != "":
		return s.Format
	}
	return s.Type
}

func (s *Schema) means() string {
	parts := []string{}
	if s.Description != "" {
		parts = append(parts, s.Description)
	}
	if s.MaxLength > 0 {
		parts = append(parts, fmt.Sprintf("at most %d characters", s.MaxLength))
	}
	if s.MaxItems > 0 {
		parts = append(parts, fmt.Sprintf("%d to %d rows", s.MinItems, s.MaxItems))
	}
	if len(s.Enum) > 0 {
		parts = append(parts, "one of "+strings.Join(s.Enum, ", "))
	}
	return strings.Join(parts, "; ")
}
