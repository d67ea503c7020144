package browsertest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"plimsoll/test/patience"
)

// Recording is what a browser asked of servers and what they answered, as its developer tools save it in a HAR file.
type Recording struct {
	*Visit

	mu        sync.Mutex
	exchanges []*exchange
	page      int
	bodies    sync.WaitGroup
	// Headers as they went over the wire, by id and in order: they come before or after what they belong to.
	sent, received map[network.RequestID][]network.Headers
}

// exchange is a request and its answer. A redirect is an exchange of its own, under the same id.
type exchange struct {
	id       network.RequestID
	page     int
	kind     network.ResourceType
	request  *network.Request
	answer   *network.Response
	wall     time.Time
	from, to time.Time // of a clock without a date
	body     []byte
	over     bool
}

// Record opens a page in a browser of its own and records from there on.
func Record(t *testing.T, url string) *Recording {
	t.Helper()
	r := &Recording{Visit: begin(t), sent: map[network.RequestID][]network.Headers{},
		received: map[network.RequestID][]network.Headers{}}
	chromedp.ListenTarget(r.ctx, r.hear)
	r.Act(t, chromedp.Navigate(url))
	return r
}

// pause of a person between two acts: longer than a browser's own between requests that belong together.
const pause = 600 * time.Millisecond

// Act carries out actions, waits until all that they asked for has been answered, and pauses, as a person does.
func (r *Recording) Act(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	r.Do(t, actions...)
	quietSince := time.Now()
	patience.Until(t, "every request is answered", func() bool {
		if r.underWay() > 0 {
			quietSince = time.Now()
		}
		return time.Since(quietSince) > pause
	})
}

func (r *Recording) underWay() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.exchanges {
		if !x.over {
			n++
		}
	}
	return n
}

// last exchange of an id that lacks something.
func (r *Recording) last(id network.RequestID, lacks func(*exchange) bool) *exchange {
	for _, x := range r.exchanges {
		if x.id == id && lacks(x) {
			return x
		}
	}
	return &exchange{}
}

func (r *Recording) hear(event any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		r.begins(e)
	case *network.EventRequestWillBeSentExtraInfo:
		r.sent[e.RequestID] = append(r.sent[e.RequestID], e.Headers)
	case *network.EventResponseReceivedExtraInfo:
		r.received[e.RequestID] = append(r.received[e.RequestID], e.Headers)
	case *network.EventResponseReceived:
		r.last(e.RequestID, func(x *exchange) bool { return x.answer == nil }).answer = e.Response
	case *network.EventLoadingFinished:
		r.ends(r.last(e.RequestID, func(x *exchange) bool { return !x.over }), e.Timestamp)
	case *network.EventLoadingFailed:
		x := r.last(e.RequestID, func(x *exchange) bool { return !x.over })
		x.over, x.to = true, e.Timestamp.Time()
	}
}

func (r *Recording) begins(e *network.EventRequestWillBeSent) {
	if e.RedirectResponse != nil {
		x := r.last(e.RequestID, func(x *exchange) bool { return !x.over })
		x.answer, x.over, x.to = e.RedirectResponse, true, e.Timestamp.Time()
	} else if e.Type == network.ResourceTypeDocument {
		r.page++
	}
	r.exchanges = append(r.exchanges, &exchange{id: e.RequestID, page: r.page, kind: e.Type, request: e.Request,
		wall: e.WallTime.Time(), from: e.Timestamp.Time()})
}

// ends asks for the body: the browser forgets it once the page is left.
func (r *Recording) ends(x *exchange, at *cdp.MonotonicTime) {
	x.to = at.Time()
	r.bodies.Go(func() {
		var body []byte
		_ = chromedp.Run(r.ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
			body, err = network.GetResponseBody(x.id).Do(ctx)
			return err
		}))
		r.mu.Lock()
		defer r.mu.Unlock()
		x.body, x.over = body, true
	})
}

// HAR is the recording as a file.
func (r *Recording) HAR(t *testing.T) []byte {
	t.Helper()
	r.bodies.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	entries, seen := []any{}, map[network.RequestID]int{}
	for _, x := range r.exchanges {
		n := seen[x.id]
		seen[x.id]++
		entries = append(entries, x.entry(nth(r.sent[x.id], n), nth(r.received[x.id], n)))
	}
	var pages []any
	for n := 1; n <= r.page; n++ {
		pages = append(pages, map[string]any{"id": pageID(n), "title": "http://recorded.invalid/"})
	}
	file, err := json.MarshalIndent(map[string]any{"log": map[string]any{
		"version": "1.2", "creator": map[string]any{"name": "WebInspector", "version": "537.36"},
		"pages": pages, "entries": entries,
	}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func nth(all []network.Headers, n int) network.Headers {
	if n < len(all) {
		return all[n]
	}
	return nil
}

func pageID(n int) string { return fmt.Sprintf("page_%d", n) }

func (x *exchange) entry(sent, received network.Headers) map[string]any {
	request := map[string]any{"method": x.request.Method, "url": x.request.URL,
		"headers": pairs(x.request.Headers, sent)}
	if body := x.sentBody(); body != "" {
		request["postData"] = map[string]any{"mimeType": either(x.request.Headers, sent, "Content-Type"), "text": body}
	}
	response := map[string]any{"status": 0, "headers": []any{}, "content": map[string]any{}}
	if x.answer != nil {
		content := map[string]any{"mimeType": x.answer.MimeType, "size": len(x.body), "text": string(x.body)}
		if !utf8.Valid(x.body) {
			content["text"], content["encoding"] = base64.StdEncoding.EncodeToString(x.body), "base64"
		}
		response = map[string]any{"status": x.answer.Status, "headers": pairs(x.answer.Headers, received),
			"content": content, "redirectURL": either(x.answer.Headers, received, "Location")}
	}
	return map[string]any{"pageref": pageID(x.page), "startedDateTime": x.wall.UTC().Format(time.RFC3339Nano),
		"time": float64(x.to.Sub(x.from)) / float64(time.Millisecond), "_resourceType": kindName(x.kind),
		"request": request, "response": response}
}

// kindName is as HAR files have it.
func kindName(kind network.ResourceType) string {
	names := map[network.ResourceType]string{network.ResourceTypeDocument: "document",
		network.ResourceTypeXHR: "xhr", network.ResourceTypeFetch: "fetch", network.ResourceTypeScript: "script",
		network.ResourceTypeStylesheet: "stylesheet", network.ResourceTypeImage: "image",
		network.ResourceTypeFont: "font", network.ResourceTypePing: "ping", network.ResourceTypeMedia: "media",
		network.ResourceTypeManifest: "manifest"}
	if name := names[kind]; name != "" {
		return name
	}
	return "other"
}

func (x *exchange) sentBody() string {
	var all []byte
	for _, entry := range x.request.PostDataEntries {
		piece, err := base64.StdEncoding.DecodeString(entry.Bytes)
		if err != nil {
			return ""
		}
		all = append(all, piece...)
	}
	return string(all)
}

// pairs of headers: those that went over the wire, where they are known.
func pairs(said, wire network.Headers) []any {
	if wire == nil {
		wire = said
	}
	all := []any{}
	for name, value := range wire {
		all = append(all, map[string]any{"name": name, "value": fmt.Sprint(value)})
	}
	return all
}

func either(said, wire network.Headers, name string) string {
	for _, headers := range []network.Headers{wire, said} {
		for key, value := range headers {
			if strings.EqualFold(key, name) {
				return fmt.Sprint(value)
			}
		}
	}
	return ""
}
