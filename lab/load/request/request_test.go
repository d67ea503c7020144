package request

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
)

// shop is a real server that says what it was asked.
func shop(t *testing.T) string {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Bearer t1" || r.Header.Get("Content-Type") != "application/json" ||
			string(body) != `{"name":"a \"b\"","n":5}` {
			http.Error(w, string(body), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"order":{"id":9007199254740993,"lines":[{"ok":true},{"price":1.50}],"note":null}}`)
	})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "found "+r.URL.Query().Get("q"))
	})
	mux.HandleFunc("GET /status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code := map[string]int{"409": 409, "503": 503, "429": 429, "500": 500}[r.PathValue("code")]
		http.Error(w, "no", code)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// sources by the variables that they set.
func sources(t testing.TB, pairs ...string) map[string]Source {
	t.Helper()
	all := map[string]Source{}
	for i := 0; i < len(pairs); i += 2 {
		s, err := ParseSource(pairs[i+1])
		if err != nil {
			t.Fatal(err)
		}
		all[pairs[i]] = s
	}
	return all
}

func TestDo(t *testing.T) {
	base := shop(t)
	start := map[string]script.Value{"token": script.Text("t1"), "name": script.Text(`a "b"`), "n": script.Int(5),
		"q": script.Text("a&b c")}
	order := Request{Method: "POST", URL: "/orders", Headers: map[string]string{"Authorization": "Bearer {{token}}"},
		Body: `{"name":"{{name}}","n":{{ n }}}`}
	for _, c := range []struct {
		name    string
		request Request
		change  func(*Request)
		outcome tally.Outcome
		says    string
		sets    map[string]string
	}{
		{"ExtractsFromJSON", order, func(r *Request) {
			r.Expect = []int{201}
			r.Extract = sources(t, "id", "order.id", "price", "order.lines.1.price", "ok", "json:order.lines.0.ok",
				"note", "order.note")
		}, tally.OK, "", map[string]string{"id": "9007199254740993", "price": "1.50", "ok": "true", "note": "NULL"}},
		{"EscapesInTheAddress", Request{Method: "GET", URL: "/search?q={{q}}", Contains: "found a&b c"}, nil, tally.OK,
			"", nil},
		{"AbsoluteAddress", Request{Method: "GET", URL: base + "/search?q=1"}, nil, tally.OK, "", nil},
		{"OtherStatusFails", order, func(r *Request) { r.Expect = []int{200} }, tally.Failed, "status 201", nil},
		{"RefusedIsValid", Request{Method: "GET", URL: "/status/409", Refused: []int{409}}, nil, tally.Refused, "",
			nil},
		{"TooBusyIsOverload", Request{Method: "GET", URL: "/status/503"}, nil, tally.Overload, "status 503", nil},
		{"TooManyIsOverload", Request{Method: "GET", URL: "/status/429"}, nil, tally.Overload, "status 429", nil},
		{"ErrorFails", Request{Method: "GET", URL: "/status/500"}, nil, tally.Failed, "status 500", nil},
		{"MissingTextFails", Request{Method: "GET", URL: "/search?q=1", Contains: "lost"}, nil, tally.Failed,
			`does not contain "lost"`, nil},
		{"NoJSONFails", Request{Method: "GET", URL: "/search?q=1", Extract: sources(t, "a", "b")}, nil,
			tally.Failed, "not JSON", nil},
		{"MissingPathFails", order, func(r *Request) { r.Extract = sources(t, "a", "order.lines.7.x") },
			tally.Failed, "the answer has no order.lines.7.x", nil},
		{"ListIsNoValue", order, func(r *Request) { r.Extract = sources(t, "a", "order.lines") }, tally.Failed,
			"not a single value", nil},
		{"UndefinedVariableFails", Request{Method: "GET", URL: "/search?q={{lost}}"}, nil, tally.Failed,
			`undefined variable "lost"`, nil},
		{"NobodyThereFails", Request{Method: "GET", URL: "http://127.0.0.1:1/"}, nil, tally.Failed,
			"connection refused", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change(&c.request)
			}
			variables := maps.Clone(start)
			outcome, err := c.request.Do(t.Context(), &Settings{}, &User{Variables: variables,
				Transport: http.DefaultTransport, Base: base})
			if outcome != c.outcome || (err != nil) != (c.says != "") ||
				err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, %v: want %v, %q", outcome, err, c.outcome, c.says)
			}
			for name, want := range c.sets {
				if got := variables[name].String(); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestVariablesOfATemplate(t *testing.T) {
	names, err := Variables("{{a}} and {{ b }} and {{a}}")
	if err != nil || strings.Join(names, " ") != "a b" {
		t.Errorf("variables %v, error %v: want a and b", names, err)
	}
	for _, wrong := range []string{"{{", "{{a", "{{a b}}", "{{}}", "{{1}}"} {
		if _, err := Variables(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
