package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"plimsoll/platform/worker/openapi"
)

// Security schemes.
const (
	bearer        = "session"
	figuresBearer = "figures"
)

// description of the API: as JSON, and as a page.
type description struct {
	json, page []byte
	policy     string
}

// describeAPI builds the description on the first request for it, because few workers are ever asked.
func (s *Server) describeAPI(endpoints []Endpoint) func() (description, error) {
	return sync.OnceValues(func() (d description, err error) {
		api := s.openAPI(endpoints)
		if d.json, err = json.Marshal(api); err != nil {
			return d, fmt.Errorf("describe the API: %w", err)
		}
		d.page, d.policy, err = openapi.Page(api)
		return d, err
	})
}

func (s *Server) openAPI(endpoints []Endpoint) *openapi.Document {
	app := s.app.Metadata
	d := &openapi.Document{
		OpenAPI: openapi.Version, Info: openapi.Info{Title: "Plimsoll: " + app.Name, Version: strconv.Itoa(app.Version),
			Description: introduction},
		Tags: []openapi.Tag{{Name: tagSession}, {Name: tagCatalog}},
	}
	d.Components.SecuritySchemes = map[string]openapi.SecurityScheme{
		bearer: {Type: "http", Scheme: "bearer", Description: "the token of POST /v1/sessions"},
		figuresBearer: {Type: "http", Scheme: "bearer", Description: "the token for the worker's metrics " +
			"(--metrics-token-file); clients on the worker's own machine need none"},
	}
	for i := range app.Catalogs {
		schema := openapi.Shown(s.catalogs[app.Catalogs[i].Name].Shown())
		schema.Title = app.Catalogs[i].Title
		d.Components.Schemas.Set(app.Catalogs[i].Name, schema)
	}
	for i := range app.Documents {
		meta := &app.Documents[i]
		documentSchemas(meta, s.documents[meta.Name], &d.Components.Schemas)
		d.Tags = append(d.Tags, openapi.Tag{Name: meta.Name, Description: meta.Title})
	}
	d.Tags = append(d.Tags, openapi.Tag{Name: tagReport}, openapi.Tag{Name: tagWorker})
	d.Components.Schemas.Set(writtenSchema, writtenAnswer())
	for _, status := range failureStatuses() {
		d.Components.Responses.Set(strconv.Itoa(status), failureResponse(status))
	}
	for i := range endpoints {
		e := &endpoints[i]
		item, _ := d.Paths.Get(e.Path)
		item.Set(methodKey[e.Method], e.describe())
		d.Paths.Set(e.Path, item)
	}
	return d
}

const introduction = "Documents are created, posted, changed, unposted and listed; each session sees the data of its " +
	"organisation. Amounts and quantities are decimal strings, times are RFC 3339. Every failure is " +
	"`{\"error\":{\"code\",\"message\"}}`; 429 comes with Retry-After; 503 comes with Retry-After and means that " +
	"nothing was done, or that the operation may be repeated under its Idempotency-Key."

var methodKey = map[string]string{http.MethodGet: "get", http.MethodPost: "post", http.MethodPut: "put",
	http.MethodDelete: "delete", http.MethodPatch: "patch"}

func (e *Endpoint) describe() *openapi.Operation {
	o := &openapi.Operation{
		OperationID: e.Operation, Summary: e.Summary, Description: e.Description, Tags: []string{e.Tag},
		Parameters: slices.Clone(e.Parameters),
		Security:   []map[string][]string{{bearer: {}}},
	}
	if e.direct == nil {
		o.Parameters = append(o.Parameters, openapi.Parameter{
			Name: traceHeader, In: "header", Description: "1 requests the cost of the request: statements, round " +
				"trips, WAL, processor time", Schema: &openapi.Schema{Type: "string", Enum: []string{"1"}},
		})
	}
	if e.Public {
		o.Security = []map[string][]string{}
	}
	if e.figures {
		o.Security = []map[string][]string{{}, {figuresBearer: {}}}
	}
	if e.Body != nil {
		o.RequestBody = &openapi.Body{Required: !e.BodyOptional, Content: content(jsonType, e.Body)}
	}
	for _, a := range e.Success {
		response := openapi.Response{Description: a.Means, Headers: slices.Clone(a.Header)}
		if e.direct == nil {
			response.Headers.Set(traceHeader, openapi.Header{Description: "JSON; see the documentation of the API",
				Schema: openapi.String("")})
		}
		switch {
		case a.Type != "":
			response.Content = content(a.Type, openapi.String(""))
		case a.Schema != nil:
			response.Content = content(jsonType, a.Schema)
		}
		o.Responses.Set(strconv.Itoa(a.Status), response)
	}
	for _, status := range e.failsWith() {
		o.Responses.Set(strconv.Itoa(status), openapi.Response{Ref: "#/components/responses/" + strconv.Itoa(status)})
	}
	return o
}

func content(kind string, schema *openapi.Schema) map[string]openapi.Media {
	return map[string]openapi.Media{kind: {Schema: schema}}
}

// failsWith are the failure statuses of the endpoint, sorted: its own, and those of every request of its kind.
func (e *Endpoint) failsWith() (statuses []int) {
	codes := slices.Clone(e.Fails)
	if e.direct == nil || e.Body != nil {
		codes = append(codes, codeIncomplete, codeTooLarge, codeInternal, codeOverloaded)
	}
	if e.direct == nil && !e.Public || e.figures {
		codes = append(codes, codeUnauthorized)
	}
	if e.Body != nil {
		codes = append(codes, codeMediaType)
	}
	if e.Body != nil || e.direct == nil {
		codes = append(codes, codeInvalid)
	}
	for _, code := range codes {
		statuses = append(statuses, statusOf(code))
	}
	slices.Sort(statuses)
	return slices.Compact(statuses)
}

func failureStatuses() (statuses []int) {
	for _, f := range failures {
		statuses = append(statuses, f.status)
	}
	slices.Sort(statuses)
	return slices.Compact(statuses)
}

func failureResponse(status int) openapi.Response {
	code := openapi.String("")
	means := ""
	for _, f := range failures {
		if f.status == status {
			code.Enum = append(code.Enum, f.code)
			means += fmt.Sprintf("; `%s`: %s", f.code, f.means)
		}
	}
	properties := openapi.Named[*openapi.Schema]{{Name: "code", Value: code},
		{Name: "message", Value: openapi.String("for people")}}
	var optional []string
	if status == statusRefused {
		properties.Set("control", openapi.Object(openapi.Named[*openapi.Schema]{
			{Name: "id", Value: openapi.String("of the control")},
			{Name: "items", Value: openapi.Array(
				&openapi.Schema{Type: "object", Description: "what is missing, line by line"})},
		}, "items"))
		optional = append(optional, "control")
	}
	if status == statusOverloaded || status == http.StatusInternalServerError {
		properties.Set("sqlstate", openapi.String("of the database's error"))
		optional = append(optional, "sqlstate")
	}
	if status == statusOverloaded {
		properties.Set("lock", lockSchema())
		optional = append(optional, "lock")
	}
	r := openapi.Response{Description: means[2:],
		Content: content(jsonType, openapi.Object(openapi.Named[*openapi.Schema]{
			{Name: "error", Value: openapi.Object(properties, optional...)},
		}))}
	if status == statusOverloaded || status == http.StatusTooManyRequests {
		r.Headers = openapi.Named[openapi.Header]{{Name: "Retry-After",
			Value: openapi.Header{Description: "seconds", Schema: openapi.String("")}}}
	}
	return r
}

func lockSchema() *openapi.Schema {
	holder := openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "user", Value: openapi.String("of the same organisation")},
		{Name: "operation", Value: openapi.String("")}, {Name: "worker", Value: openapi.String("")},
		{Name: "state", Value: openapi.String("of its connection")},
		{Name: "held_ms", Value: openapi.Number("since its transaction began")},
	}, "user", "operation", "worker", "state")
	return openapi.Object(openapi.Named[*openapi.Schema]{{Name: "holders", Value: openapi.Array(holder)}})
}

func (s *Server) showDescription(w http.ResponseWriter, _ *http.Request) {
	s.show(w, func(d description) answer { return answer{status: http.StatusOK, body: d.json} })
}

func (s *Server) showDocs(w http.ResponseWriter, _ *http.Request) {
	s.show(w, func(d description) answer {
		return answer{status: http.StatusOK, body: d.page}.withHeader("Content-Type", "text/html; charset=utf-8").
			withHeader("Content-Security-Policy", d.policy).withHeader("Referrer-Policy", "no-referrer")
	})
}

func (s *Server) show(w http.ResponseWriter, as func(description) answer) {
	d, err := s.description()
	if err != nil {
		s.log.Error("describe the API", "error", err)
		f, _ := classify(err)
		s.write(w, failed(f))
		return
	}
	s.write(w, as(d))
}
