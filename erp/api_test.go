package erp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/openapi/openapitest"
	"plimsoll/platform/worker/server"
)

// caller calls operations of the description and holds every answer against it.
type caller struct {
	api     *openapitest.API
	base    string
	token   string
	seen    map[string]map[int]bool // statuses by operation
	known   map[string]string       // an id of each catalog
	library validator.Validator     // a second opinion
}

func newCaller(t testing.TB, c *erptest.Company, base string, o erptest.Organisation) *caller {
	t.Helper()
	u := erptest.Login(t, base, o.User)
	return &caller{
		api: openapitest.Load(t, base), base: base, token: u.Token, seen: map[string]map[int]bool{},
		known: firstOfEach(t, u),
	}
}

// firstOfEach asks the lists for an element of each catalog; one that has none gives the zero id.
func firstOfEach(t testing.TB, u *erptest.User) map[string]string {
	t.Helper()
	known := map[string]string{}
	for _, o := range openapitest.Load(t, u.Base).Operations {
		name, ok := strings.CutPrefix(o.Path, "/v1/catalogs/")
		if !ok {
			continue
		}
		var page struct{ Items []struct{ ID string } }
		if a := u.Call(t, o.Method, o.Path, "", nil); json.Unmarshal(a.Body, &page) != nil || a.Status != 200 {
			t.Fatalf("%s: %d %s", o.Path, a.Status, a.Body)
		}
		known[name] = id.ID{}.String()
		if len(page.Items) > 0 {
			known[name] = page.Items[0].ID
		}
	}
	return known
}

// pick gives an id of a catalog, or of a type of document, of which it makes one if there is none.
func (c *caller) pick(t testing.TB, name string) string {
	t.Helper()
	if known, ok := c.known[name]; ok {
		return known
	}
	kind := strings.ReplaceAll(name, "-", "_")
	c.known[name] = id.ID{}.String() // types may refer to each other
	create := c.api.Find(t, kind+".create")
	body := openapitest.JSON(t, c.api.Example(create.Body, func(name string) string { return c.pick(t, name) }))
	var made struct{ ID string }
	if status, _, answer := c.do(t, create, call{path: create.Path + "?post=false", token: c.token,
		body: body}); status != 201 || json.Unmarshal(answer, &made) != nil {
		t.Errorf("create %s from %s: %d %s", kind, body, status, answer)
	}
	c.known[name] = made.ID
	return made.ID
}

type call struct {
	path, token string
	header      map[string]string
	body        []byte
}

// do calls and checks; what it returns has been held against the description.
func (c *caller) do(t testing.TB, o *openapitest.Operation, with call) (status int, header http.Header, body []byte) {
	t.Helper()
	if with.path == "" {
		with.path = o.Path
	}
	request, err := http.NewRequest(o.Method, c.base+with.path, bytes.NewReader(with.body))
	if err != nil {
		t.Fatal(err)
	}
	if with.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range with.header {
		request.Header.Set(name, value)
	}
	if with.token != "" {
		request.Header.Set("Authorization", "Bearer "+with.token)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatalf("%s %s: %v", o.Method, with.path, err)
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	if err := o.Check(answer.StatusCode, answer.Header, body); err != nil {
		t.Errorf("%s %s: %v", o.Method, with.path, err)
	}
	if c.library != nil && answer.StatusCode < 300 {
		c.secondOpinion(t, request, with.body, answer, body)
	}
	if c.seen[o.ID] == nil {
		c.seen[o.ID] = map[int]bool{}
	}
	c.seen[o.ID][answer.StatusCode] = true
	return answer.StatusCode, answer.Header, body
}

// secondOpinion holds a request that was done, and its answer, against the description with another library.
func (c *caller) secondOpinion(t testing.TB, request *http.Request, sent []byte, answer *http.Response, body []byte) {
	request.Body, answer.Body = io.NopCloser(bytes.NewReader(sent)), io.NopCloser(bytes.NewReader(body))
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/") {
		return // the library wants to read HTML as JSON
	}
	if valid, errs := c.library.ValidateHttpRequestResponse(request, answer); !valid {
		for _, e := range errs {
			t.Errorf("%s %s: %s: %s %v", request.Method, request.URL.Path, e.Message, e.Reason,
				e.SchemaValidationErrors)
		}
	}
}

func TestTheDescriptionIsValid(t *testing.T) {
	c := erptest.New(t, 1)
	api := openapitest.Load(t, c.Worker(t, server.Config{}))
	document, err := libopenapi.NewDocument(api.Text)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(document)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if valid, wrong := v.ValidateDocument(); !valid {
		for _, e := range wrong {
			t.Errorf("%s: %s %v", e.Message, e.Reason, e.SchemaValidationErrors)
		}
	}
}

// Every operation of the description is done, and what it answers is what the description says. A new type of
// document, catalog or report is called as soon as it is in the metadata.
func TestEveryOperationAnswersAsDescribed(t *testing.T) {
	company := erptest.New(t, 2)
	base := company.Worker(t, server.Config{})
	company.Stock(t, base, 1000)
	c := newCaller(t, company, base, company.Organisations[0])
	document, err := libopenapi.NewDocument(c.api.Text)
	if err != nil {
		t.Fatal(err)
	}
	c.library, _ = validator.NewValidator(document)
	own := erptest.Login(t, base, company.Organisations[0].User).Token // one to log out with
	for _, o := range c.api.Operations {
		switch {
		case strings.HasSuffix(o.ID, ".create"):
			c.life(t, strings.TrimSuffix(o.ID, ".create"))
		case o.ID == "session.data.put":
			c.keep(t)
		case strings.Contains(o.Path, "{"):
		case o.ID == "session.open":
			c.do(t, o, call{body: fmt.Appendf(nil, `{"user":%q}`, company.Organisations[0].User)})
			c.do(t, o, call{body: []byte(`{"user":"nobody"}`)})
		case o.ID == "session.close":
			c.do(t, o, call{token: own})
		case o.ID == "health.load":
			c.do(t, o, call{body: []byte(`{"load":"a load","key":"of its own"}`)})
			c.do(t, o, call{body: []byte(`{"load":"a load","key":"of its own","ends":true}`)})
		default:
			c.do(t, o, call{path: o.Path + c.requiredQuery(t, o), token: c.token})
		}
		c.mistakes(t, o)
	}
	for _, o := range c.api.Operations {
		done := false
		for status := range c.seen[o.ID] {
			// what was made up may not be posted
			done = done || status < 300 || strings.HasSuffix(o.ID, ".repost") && (status == 409 || status == 400)
		}
		if !done && o.ID != books.MonthClose+".card" { // which there is none of: a job writes them
			t.Errorf("%s was never done: %v", o.ID, c.seen[o.ID])
		}
	}
}

// requiredQuery is what an operation cannot do without.
func (c *caller) requiredQuery(t testing.TB, o *openapitest.Operation) string {
	query := url.Values{}
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required {
			query.Set(p.Name, fmt.Sprint(c.api.Example(p.Schema, func(name string) string { return c.pick(t, name) })))
		}
	}
	return "?" + query.Encode()
}

// keep lets the session keep something and forget it.
func (c *caller) keep(t *testing.T) {
	const path, value = "/v1/sessions/current/data/form.sale", `{"lines":[{"quantity":"1"}],"open":true}`
	for _, step := range []struct {
		operation, body string
		status          int
		want            string
	}{
		{"session.data.put", value, 204, ""}, {"session.data.get", "", 200, value},
		{"session.data.delete", "", 204, ""},
		{"session.data.get", "", 404, `"not_found"`}, {"session.data.put", "{", 400, `"invalid"`},
	} {
		with := call{path: path, token: c.token}
		if step.body != "" {
			with.body = []byte(step.body)
		}
		if status, _, answer := c.do(t, c.api.Find(t, step.operation), with); status != step.status ||
			!strings.Contains(string(answer), step.want) {
			t.Errorf("%s: %d %s", step.operation, status, answer)
		}
	}
	if status, _, answer := c.do(t, c.api.Find(t, "session.data.put"),
		call{path: "/v1/sessions/current/data/platform.recent", token: c.token, body: []byte("1")}); status != 400 {
		t.Errorf("a key of the platform: %d %s", status, answer)
	}
}

// life takes a document of a type from its creation to its unposting.
func (c *caller) life(t *testing.T, kind string) {
	create := c.api.Find(t, kind+".create")
	body := openapitest.JSON(t, c.api.Example(create.Body, func(name string) string { return c.pick(t, name) }))
	var made struct {
		ID      string
		Version int64
	}
	status, _, answer := c.do(t, create, call{path: create.Path + "?post=false", token: c.token, body: body,
		header: map[string]string{"Idempotency-Key": kind}})
	if status != 201 || json.Unmarshal(answer, &made) != nil {
		t.Errorf("create %s from %s: %d %s", kind, body, status, answer)
		return
	}
	at := func(o *openapitest.Operation) string { return strings.Replace(o.Path, "{id}", made.ID, 1) }
	for _, step := range []string{".repost", ".change", ".card", ".list", ".unpost", ".card"} {
		o := c.api.Find(t, kind+step)
		with := call{path: at(o), token: c.token, header: map[string]string{}}
		if step == ".change" {
			with.body, with.header["If-Match"] = body, fmt.Sprint(made.Version)
		}
		status, header, answer := c.do(t, o, with)
		var now struct{ Version int64 }
		if json.Unmarshal(answer, &now) == nil && now.Version > 0 {
			made.Version = now.Version
			if tag := header.Get("ETag"); tag != fmt.Sprintf(`"%d"`, now.Version) {
				t.Errorf("%s: version %d with ETag %s", o.ID, now.Version, tag)
			}
		}
		// what was made up may be refused by a control, or contradict itself, when it is to be posted; nothing else
		// may fail
		if status != 200 && !(step == ".repost" && (status == 409 || status == 400) ||
			step == ".change" && status == 409) {
			t.Errorf("%s: %d %s", o.ID, status, answer)
		}
	}
}

// mistakes are made with every operation.
func (c *caller) mistakes(t *testing.T, o *openapitest.Operation) {
	path := strings.Replace(o.Path, "{id}", id.New().String(), 1)
	if !o.Public {
		if status, _, said := c.do(t, o, call{path: path}); status != 401 {
			t.Errorf("%s without a session: %d %s", o.ID, status, said)
		}
	}
	if strings.Contains(o.Path, "{id}") {
		var body []byte
		if o.Body != nil {
			body = openapitest.JSON(t, c.api.Example(o.Body, func(name string) string { return c.pick(t, name) }))
		}
		status, _, said := c.do(t, o, call{path: path, token: c.token, body: body,
			header: map[string]string{"If-Match": "1"}})
		if status != 404 {
			t.Errorf("%s of nothing: %d %s", o.ID, status, said)
		}
	}
	if o.Body != nil {
		path = strings.Replace(path, "{key}", "mistake", 1)
		if status, _, said := c.do(t, o, call{path: path, token: c.token,
			body: []byte(`{"nothing":[`)}); status != 400 {
			t.Errorf("%s with half a body: %d %s", o.ID, status, said)
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json-seq"} {
			if status, _, said := c.do(t, o, call{path: path, token: c.token, body: []byte(`{}`),
				header: map[string]string{"Content-Type": kind}}); status != 415 {
				t.Errorf("%s with a body of %q: %d %s", o.ID, kind, status, said)
			}
		}
		large := []byte(`{"x":"` + strings.Repeat("x", server.BodyMax) + `"}`)
		if status, _, said := c.do(t, o, call{path: path, token: c.token, body: large}); status != 413 {
			t.Errorf("%s with too large a body: %d %s", o.ID, status, said)
		}
	}
	for _, p := range o.Parameters {
		if _, number := p.Schema["maximum"]; p.In == "query" && number {
			if status, _, said := c.do(t, o, call{path: path + "?" + p.Name + "=0", token: c.token}); status != 400 {
				t.Errorf("%s with %s=0: %d %s", o.ID, p.Name, status, said)
			}
		}
	}
	other, err := http.NewRequest("TRACE", c.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(other)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 405 || !strings.Contains(answer.Header.Get("Allow"), o.Method) {
		t.Errorf("TRACE %s: %d, Allow %q", path, answer.StatusCode, answer.Header.Get("Allow"))
	}
}
