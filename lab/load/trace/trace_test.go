package trace

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTrace_KeepsWhatHappenedInItsOrder(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "got "+string(body)+strings.Repeat("é", BodyKept))
	}))
	defer server.Close()
	variables := map[string]string{"client_id": "0"}
	record := &Trace{}
	ctx := With(t.Context(), record)
	record.Watch(func() map[string]string { return maps.Clone(variables) })
	variables["item"] = "5"
	answer, body := send(t, ctx, server.URL+"/x", "item 5")
	variables["item"], variables["id"] = "6", "7"
	Of(ctx).Look()
	Of(ctx).Look() // nothing new

	if answer.StatusCode != http.StatusCreated || !strings.HasPrefix(body, "got item 5é") {
		t.Errorf("the answer has changed: %d, %.20s", answer.StatusCode, body)
	}
	if len(record.Events) != 3 {
		t.Fatalf("%+v", record.Events)
	}
	if diff := cmp.Diff([]Variable{{"item", "5"}}, record.Events[0].Sets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Variable{{"id", "7"}, {"item", "6"}}, record.Events[2].Sets); diff != "" {
		t.Error(diff)
	}
	r := record.Events[1].Request
	if r.Method != "POST" || r.Body != "item 5" || r.Bytes != 6 || r.Answer.Status != 201 || r.Error != "" ||
		r.Answer.Bytes != int64(len(body)) || len(r.Answer.Body) > BodyKept || !strings.HasSuffix(r.Answer.Body, "é") {
		t.Errorf("%+v, %+v", r, r.Answer)
	}
}

// send a request whose body can be read once.
func send(t *testing.T, ctx context.Context, url, text string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", url, io.NopCloser(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Transport(http.DefaultTransport).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func TestTrace_SaysWhyThereIsNoAnswer(t *testing.T) {
	record := &Trace{}
	r, _ := http.NewRequestWithContext(With(t.Context(), record), "GET", "http://127.0.0.1:1/", nil)
	if _, err := Transport(http.DefaultTransport).RoundTrip(r); err == nil {
		t.Fatal("somebody is there")
	}
	if len(record.Events) != 1 || !strings.Contains(record.Events[0].Request.Error, "refused") {
		t.Errorf("%+v", record.Events)
	}
}

func TestBody_ThatIsNoTextIsNamed(t *testing.T) {
	for kind, want := range map[string]string{"image/png": "(image/png)", "": "(no text)"} {
		b := &beginning{}
		_, _ = b.Write([]byte{0x89, 'P', 'N', 'G', 0, 1, 2, 3, 0xff})
		if got := b.text(http.Header{"Content-Type": {kind}}); got != want {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func TestWithoutATrace_NothingIsRecorded(t *testing.T) {
	var none *Trace
	none.Watch(nil)
	none.Look()
	s := none.Send("SELECT 1", nil, nil)
	s.Got(nil)
	if s != nil || !errors.Is(s.End(io.EOF), io.EOF) || Of(t.Context()) != nil {
		t.Error("something is recorded")
	}
}
