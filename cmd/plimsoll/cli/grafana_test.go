package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"plimsoll/erp/erptest"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/files"
	"plimsoll/test/loopback"
	"plimsoll/test/patience"
)

// TestGrafana_DashboardsShowWhatIsExposed: each is a dashboard by Grafana's schema, and each series that a query
// selects is in a real scrape, with the labels that it names.
func TestGrafana_DashboardsShowWhatIsExposed(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	for file, scrape := range map[string]func(*testing.T) exposed{"run.json": scrapedRun, "serve.json": scrapedServer} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../../docs/grafana", file))
			if err != nil {
				t.Fatal(err)
			}
			//nolint:staticcheck // the next form needs Grafana 13; these load in 11, too
			var board dashboard.Dashboard
			if err := board.UnmarshalJSONStrict(text); err != nil && err.Error() != "" { // an empty list is one, too
				t.Fatalf("not by Grafana's schema: %v", err)
			}
			if err := board.Validate(); err != nil {
				t.Errorf("not valid by Grafana's schema: %v", err)
			}
			checkLayout(t, text)
			there := scrape(t)
			queries := queriesOf(t, text)
			if len(queries) < 10 {
				t.Errorf("only %d queries found", len(queries))
			}
			for _, query := range queries {
				for _, problem := range there.lacks(query) {
					t.Errorf("%s: %s", query, problem)
				}
			}
		})
	}
}

// checkLayout: ids are unique, and no panel lies over another or beyond the 24 columns.
func checkLayout(t *testing.T, text []byte) {
	t.Helper()
	var board struct {
		Panels []struct {
			ID    int    `json:"id"`
			Title string `json:"title"`
			At    struct {
				X, Y, W, H int
			} `json:"gridPos"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &board); err != nil || len(board.Panels) == 0 {
		t.Fatal("no panels:", err)
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, one := range board.Panels {
		if at := one.At; one.ID == 0 || ids[one.ID] || at.W == 0 || at.H == 0 || at.X+at.W > 24 {
			t.Fatalf("%s: no id of its own, or no place", one.Title)
		}
		ids[one.ID] = true
		for x := one.At.X; x < one.At.X+one.At.W; x++ {
			for y := one.At.Y; y < one.At.Y+one.At.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s lies over %s", one.Title, other)
				}
				taken[[2]int{x, y}] = one.Title
			}
		}
	}
}

var (
	// inGrafana replaces what Grafana fills in before it asks Prometheus.
	inGrafana   = strings.NewReplacer("$__rate_interval", "1m", "$operation", ".*", "$instance", ".*")
	labelValues = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)
)

// queriesOf a dashboard: of its panels and of its variables.
func queriesOf(t *testing.T, text []byte) (all []string) {
	t.Helper()
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			if expr, is := v["expr"].(string); is {
				all = append(all, inGrafana.Replace(expr))
			}
			if query, is := v["definition"].(string); is {
				found := labelValues.FindStringSubmatch(query)
				if found == nil {
					t.Errorf("variable %s", query)
					return
				}
				all = append(all, fmt.Sprintf(`%s{%s=~".+"}`, found[1], found[2]))
			}
			for _, one := range v {
				walk(one)
			}
		}
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	walk(tree)
	return all
}

// exposed are the series of a scrape, by name, as Prometheus stores them.
type exposed map[string][]map[string]string

// What the dashboards' queries are made of: a series with its matchers and range, what stands before it, and labels to
// group by. Prometheus' own parser comes with a hundred modules of clouds.
var (
	aSeries  = regexp.MustCompile(`(rate\()?\b((?:plimsoll|process|go)_[a-z_]+)(?:\{([^}]*)\})?(\[\w+\])?`)
	aMatcher = regexp.MustCompile(`^(\w+)(=~?)"([^"]*)"$`)
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
	counting = regexp.MustCompile(`_(total|bucket|sum|count)$`)
)

// lacks says what a query selects and nobody exposes, and what is wrong with its form.
func (e exposed) lacks(query string) (problems []string) {
	if open, closed := strings.Count(query, "("), strings.Count(query, ")"); open != closed {
		problems = append(problems, fmt.Sprintf("%d brackets open and %d close", open, closed))
	}
	all := aSeries.FindAllStringSubmatch(query, -1)
	if len(all) == 0 {
		problems = append(problems, "no series")
	}
	for _, one := range all {
		rated, name, ranged := one[1] != "", one[2], one[4] != ""
		if counted := counting.MatchString(name); strings.Contains(query, "rate(") && (rated != counted ||
			ranged != counted) {
			problems = append(problems, name+": a rate of a counter over a range is meant")
		}
		if !e.has(name, one[3]) {
			problems = append(problems, "not exposed: "+one[0])
		}
	}
	for _, group := range grouping.FindAllStringSubmatch(query, -1) {
		for _, label := range strings.Split(group[1], ", ") {
			if !e.labelled(label) {
				problems = append(problems, "no label "+label)
			}
		}
	}
	return problems
}

func (e exposed) has(name, matchers string) bool {
	for _, series := range e[name] {
		fits := true
		for _, text := range strings.Split(matchers, ",") {
			if text == "" {
				continue
			}
			m := aMatcher.FindStringSubmatch(text)
			switch {
			case m == nil:
				return false
			case m[2] == "=~" && strings.ContainsAny(m[3], ".*"): // such as 5.., of which none need be there
				fits = fits && series[m[1]] != ""
			default:
				fits = fits && series[m[1]] != "" && slices.Contains(strings.Split(m[3], "|"), series[m[1]])
			}
		}
		if fits {
			return true
		}
	}
	return false
}

func (e exposed) labelled(label string) bool {
	for _, all := range e {
		for _, series := range all {
			if series[label] != "" {
				return true
			}
		}
	}
	return false
}

// scraped is a scrape as Prometheus stores it: with the instance, and a histogram as its buckets, sum and count.
func scraped(t *testing.T, url string) exposed {
	t.Helper()
	r, err := http.NewRequestWithContext(patience.Context(t), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	read := expfmt.NewTextParser(model.LegacyValidation)
	families, err := read.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	all := exposed{}
	add := func(name string, m *dto.Metric, more ...string) {
		series := map[string]string{"instance": r.Host}
		for _, l := range m.GetLabel() {
			series[l.GetName()] = l.GetValue()
		}
		if len(more) > 0 {
			series["le"] = more[0]
		}
		all[name] = append(all[name], series)
	}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetType() != dto.MetricType_HISTOGRAM {
				add(name, m)
				continue
			}
			add(name+"_sum", m)
			add(name+"_count", m)
			for _, b := range m.GetHistogram().GetBucket() {
				add(name+"_bucket", m, fmt.Sprint(b.GetUpperBound()))
			}
		}
	}
	return all
}

// scrapedRun is a run in its steady state.
func scrapedRun(t *testing.T) (all exposed) {
	freshState(t)
	address := loopback.Address(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	args := []string{"run", "--dsn", clustertest.Database(t).Secret(), "--duration", "10m", "--ramp", "0s", "--quiet",
		"--scenario", files.Write(t, t.TempDir(), "look.toml", oneSelect), "--metrics", address}
	ended := make(chan int)
	go func() { ended <- Exec(ctx, args, nil, io.Discard, io.Discard) }()
	patience.Until(t, "an operation of the steady state is scored", func() bool {
		all = scraped(t, "http://"+address+"/metrics")
		return len(all["plimsoll_run_operation_apdex"]) > 0
	})
	cancel()
	<-ended
	return all
}

// scrapedServer is an application server that was asked for something.
func scrapedServer(t *testing.T) exposed {
	desk := erptest.NewDesk(t, 1)
	desk.Call(t, http.MethodGet, "/v1/catalogs/items", "", nil)
	return scraped(t, desk.Base+"/metrics")
}

// TestGrafana_TheCheckFinds what a dashboard may get wrong.
func TestGrafana_TheCheckFinds(t *testing.T) {
	there := exposed{"plimsoll_a_total": {{"operation": "x"}}, "plimsoll_g": {{"operation": "x"}}}
	for query, want := range map[string]string{
		`sum by (operation) (rate(plimsoll_a_total[1m]))`: "",
		`max by (operation) (plimsoll_g{operation="x"})`:  "",
		`rate(plimsoll_b_total[1m])`:                      "not exposed: rate(plimsoll_b_total",
		`rate(plimsoll_a_total{operation="y"}[1m])`:       "not exposed",
		`rate(plimsoll_a_total{operation=~"y|z"}[1m])`:    "not exposed",
		`rate(plimsoll_a_total{operation=~"y.*"}[1m])`:    "",
		`rate(plimsoll_a_total{place=~".*"}[1m])`:         "not exposed",
		`rate(plimsoll_a_total{operation:"x"}[1m])`:       "not exposed",
		`sum by (place) (plimsoll_g)`:                     "no label place",
		`sum by (operation) (rate(plimsoll_a_total[1m])`:  "brackets",
		`rate(plimsoll_a_total)`:                          "over a range is meant",
		`rate(plimsoll_g[1m])`:                            "a rate of a counter",
		`sum(1)`:                                          "no series",
	} {
		problems := strings.Join(there.lacks(query), "; ")
		if (want == "") != (problems == "") || !strings.Contains(problems+" ", want) {
			t.Errorf("%s: %q, want %q", query, problems, want)
		}
	}
}
