package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/password"
	"plimsoll/platform/worker/session"
)

// Endpoint is one method of one path. Routes and API description are built from the same endpoints.
type Endpoint struct {
	Method, Path string
	// Operation is its name in the description, the profile and the metrics.
	Operation            string
	Tag                  string
	Summary, Description string
	// Public means that no session is needed.
	Public     bool
	Parameters []openapi.Parameter
	// Body is the expected schema; nil means no body.
	Body         *openapi.Schema
	BodyOptional bool // the body may be missing
	Success      []Success
	// Fails are the codes that the operation may fail with, besides those that failsWith adds.
	Fails []string

	handle   handle
	remember remember
	// direct bypasses session, body and queue, so that it works on an overloaded worker.
	direct http.HandlerFunc
	// figures requires FiguresToken from clients on other machines.
	figures bool
}

// Success is one successful answer.
type Success struct {
	Status int
	Means  string
	Schema *openapi.Schema // nil means no body, if Type is empty
	Type   string          // defaults to JSON
	Header openapi.Named[openapi.Header]
}

// request is what a handler sees: the session is known and the body has been read.
type request struct {
	*http.Request
	session *session.Session
	user    session.User
	body    []byte
}

// handle does the work of one request. It returns either an answer or an error.
type handle func(ctx context.Context, r *request) (answer, error)

// Tags of operations that belong to no document type.
const (
	tagSession = "session"
	tagCatalog = "catalogs"
	tagReport  = "reports"
	tagJob     = "jobs"
	tagWorker  = "worker"
)

// pathName is a metadata name as written in a path: goods-sale for goods_sale.
func pathName(name string) string { return strings.ReplaceAll(name, "_", "-") }

// endpoints returns the whole API.
func (s *Server) endpoints() []Endpoint {
	all := append(s.sessionEndpoints(), s.dataEndpoints()...)
	for i := range s.app.Metadata.Catalogs {
		all = append(all, s.catalogEndpoint(&s.app.Metadata.Catalogs[i]))
	}
	for i := range s.app.Metadata.Documents {
		all = append(all, s.documentEndpoints(&s.app.Metadata.Documents[i])...)
	}
	all = append(append(all, s.reportEndpoints()...), s.jobEndpoints()...)
	return append(all, s.workerEndpoints()...)
}

func (s *Server) sessionEndpoints() []Endpoint {
	return []Endpoint{{
		Method: "POST", Path: "/v1/sessions", Operation: "session.open", Tag: tagSession, Public: true,
		Summary: "Log in", Description: "The token goes into the header `Authorization: Bearer TOKEN` of every " +
			"other request. A session exists only on the worker that opened it. The password is required if the " +
			"worker was started with --passwords.",
		Body: openapi.Given([]metadata.Attribute{{Name: "user", Type: metadata.Text, Length: searchMax,
			Required: true}, {Name: "password", Type: metadata.Text, Length: password.LengthMax}}),
		Success: []Success{{Status: http.StatusCreated, Means: "a session",
			Schema: openapi.Object(openapi.Named[*openapi.Schema]{
				{Name: "token", Value: openapi.String("")}, {Name: "user", Value: userSchema()},
				{Name: "organisation", Value: openapi.UUID("whose data the session sees")},
			})}},
		Fails: []string{codeUnauthorized, codeLimited}, handle: s.openSession,
	}, {
		Method: "DELETE", Path: "/v1/sessions/current", Operation: "session.close", Tag: tagSession, Summary: "Log out",
		Success: []Success{{Status: http.StatusNoContent, Means: "the session has ended"}}, handle: s.closeSession,
	}, {
		Method: "GET", Path: "/v1/application", Operation: "application", Tag: tagSession, Public: true,
		Summary: "What is served",
		Success: []Success{{Status: http.StatusOK, Means: "the application",
			Schema: openapi.Object(openapi.Named[*openapi.Schema]{
				{Name: "application", Value: openapi.String("")},
				{Name: "version", Value: openapi.Integer("of the metadata")},
				{Name: "users", Value: openapi.Integer("number of users who can log in")},
			})}},
		handle: s.describe,
	}}
}

func userSchema() *openapi.Schema {
	return openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "id", Value: openapi.UUID("")}, {Name: "code", Value: openapi.String("")},
		{Name: "name", Value: openapi.String("")},
	})
}

func (s *Server) catalogEndpoint(meta *metadata.Catalog) Endpoint {
	searched := append([]string{"name", "code"}, meta.Search...)
	return Endpoint{
		Method: "GET", Path: "/v1/catalogs/" + pathName(meta.Name), Operation: meta.Name + ".list", Tag: tagCatalog,
		Summary: meta.Title + ": list", Description: "By name. Searches: " + strings.Join(searched, ", ") + ".",
		Parameters: listParameters("after"),
		Success:    []Success{{Status: http.StatusOK, Means: "a page", Schema: page(openapi.Ref(meta.Name))}},
		handle:     s.listCatalog(s.catalogs[meta.Name]), remember: s.rememberList(meta.Name),
	}
}

func (s *Server) reportEndpoints() []Endpoint {
	var all []Endpoint
	for _, name := range slices.Sorted(maps.Keys(s.app.Reports)) {
		report := s.app.Reports[name]
		all = append(all, Endpoint{
			Method: "GET", Path: "/v1/reports/" + name, Operation: "report." + name, Tag: tagReport,
			Summary:    report.Title,
			Parameters: report.Parameters, Success: []Success{{Status: http.StatusOK, Means: "the report",
				Schema: report.Answer}},
			handle: s.runReport(report),
		})
	}
	return all
}

func (s *Server) workerEndpoints() []Endpoint {
	healthy := []Success{{Status: http.StatusOK, Means: "yes"}}
	return []Endpoint{
		{Method: "GET", Path: "/health/live", Operation: "health.live", Tag: tagWorker, Public: true,
			Summary: "Is the worker alive?", Success: healthy, direct: s.alive},
		{
			Method: "GET", Path: "/health/ready", Operation: "health.ready", Tag: tagWorker, Public: true,
			Summary: "Is the worker ready for requests?",
			Success: append(healthy, Success{Status: statusOverloaded,
				Means: "no: it is draining, or the database does not answer"}), direct: s.ready,
		},
		{
			Method: "GET", Path: "/health/profile", Operation: "health.profile", Tag: tagWorker, Public: true,
			Summary: "What each operation has cost so far",
			Success: []Success{{Status: http.StatusOK, Means: "the shape of the worker, since when it runs and on " +
				"which database, and by operation", Schema: openapi.Object(openapi.Named[*openapi.Schema]{
				{Name: "shape", Value: openapi.String("")},
				{Name: "started", Value: openapi.Moment("when the worker was started")},
				{Name: "database", Value: openapi.String(
					"the same for all workers of one database; empty: not known")},
				{Name: "operations", Value: &openapi.Schema{Type: "object",
					AdditionalProperties: &openapi.Additional{Schema: &openapi.Schema{Type: "object"}}}},
			})}}, Description: "`unnamed` counts the requests without the header " + OperationHeader +
				": Plimsoll's load generators send it, other clients usually do not.",
			direct: s.showProfile, figures: true,
		},
		{
			Method: "GET", Path: "/health/running", Operation: "health.running", Tag: tagWorker, Public: true,
			Summary: "Which operations have a connection to the database now",
			Success: []Success{{Status: http.StatusOK, Means: "operations by the process of the database server that " +
				"executes them; the client's operation name (" + OperationHeader + ") takes precedence",
				Schema: openapi.Object(openapi.Named[*openapi.Schema]{
					{Name: "running", Value: &openapi.Schema{Type: "object",
						AdditionalProperties: &openapi.Additional{Schema: openapi.String("")}}},
				})}}, direct: s.showRunning, figures: true,
		},
		{
			Method: "POST", Path: "/health/load", Operation: "health.load", Tag: tagWorker, Public: true,
			Summary: "Mark the database as under load, and see who else uses it",
			Description: "For load generators that reach the database only through workers. The mark lasts until " +
				"`ends`, or for " + loadLease.String() + " after the last request with its key.",
			Body: openapi.Given([]metadata.Attribute{
				{Name: "load", Type: metadata.Text, Length: loadNameMax, Required: true},
				{Name: "key", Type: metadata.Text, Length: loadNameMax, Required: true},
				{Name: "ends", Type: metadata.Boolean},
			}),
			Success: []Success{{Status: http.StatusOK, Means: "other loads of Plimsoll by name, and the active " +
				"sessions of other applications", Schema: openapi.Object(openapi.Named[*openapi.Schema]{
				{Name: "loads", Value: openapi.Array(openapi.String(""))},
				{Name: "at_work", Value: &openapi.Schema{Type: "object",
					AdditionalProperties: &openapi.Additional{Schema: openapi.Integer("")}}},
			})}},
			Fails: []string{codeLimited}, direct: s.markLoad, figures: true,
		},
		{
			Method: "GET", Path: "/metrics", Operation: "metrics", Tag: tagWorker, Public: true,
			Summary: "Prometheus metrics",
			Success: []Success{{Status: http.StatusOK, Means: "its text format", Type: "text/plain"}},
			direct:  s.metrics.handler.ServeHTTP, figures: true,
		},
		{
			Method: "GET", Path: "/v1/openapi.json", Operation: "openapi", Tag: tagWorker, Public: true,
			Summary: "This description",
			Success: []Success{{Status: http.StatusOK, Means: "OpenAPI " + openapi.Version,
				Schema: &openapi.Schema{Type: "object"}}}, direct: s.showDescription,
		},
		{
			Method: "GET", Path: "/docs", Operation: "docs", Tag: tagWorker, Public: true,
			Summary: "This description for people",
			Success: []Success{{Status: http.StatusOK, Means: "a page", Type: "text/html"}}, direct: s.showDocs,
		},
	}
}
