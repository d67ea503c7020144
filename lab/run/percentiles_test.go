package run

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// One name, one meaning: latency_ms is that of all operations wherever it stands, so that a server that fails quickly
// does not look quick; what was answered alone has a name of its own.
func TestLatencyIsThatOfAllOperations(t *testing.T) {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n"+
		"[operations.a]\ntarget = \"1s\"\nurl = \""+server.URL+"/\"\n")
	r := mustRun(t, t.Context(), o)
	var b strings.Builder
	var tree struct {
		Operations []map[string]json.RawMessage
		Series     struct {
			P50MS []*float64 `json:"p50_ms"`
			P99MS []*float64 `json:"p99_ms"`
		}
	}
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b.String()), &tree); err != nil {
		t.Fatal(err)
	}
	percentiles := func(name string) (l struct{ P50, P95, P99, Max, Mean *float64 }) {
		if err := json.Unmarshal(tree.Operations[0][name], &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return l
	}
	if l := percentiles("latency_ms"); l.P50 == nil || l.P95 != nil || l.P99 != nil || l.Max != nil || l.Mean != nil {
		t.Errorf("latency_ms %s", tree.Operations[0]["latency_ms"])
	}
	if l := percentiles("latency_answered_ms"); l.P50 == nil || l.P95 == nil || l.Max == nil || l.Mean == nil {
		t.Errorf("latency_answered_ms %s", tree.Operations[0]["latency_answered_ms"])
	}
	if p50, p99 := tree.Series.P50MS[1], tree.Series.P99MS[1]; p50 == nil || p99 != nil {
		t.Errorf("a second with failures has p50 %v and p99 %v", p50, p99)
	}
}
