package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// recorder carries requests to workers, and writes down what was acknowledged and shown.
type recorder struct {
	crew      *crew
	transport *http.Transport
	last      func() uint64
	// repeat sends an operation with a key again until its outcome is known.
	repeat bool

	mutex   sync.Mutex
	acks    map[string]ack
	unknown map[string]bool // keys whose first attempt got no answer, and the last one no success
}

func newRecorder(c *crew, last func() uint64, repeat bool) *recorder {
	return &recorder{crew: c, last: last, repeat: repeat, acks: map[string]ack{}, unknown: map[string]bool{},
		transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}}
}

// userKey is the context's key of who sends a request.
type userKey struct{}

const keyHeader = "Idempotency-Key"

// repeatPause is short against a recovery, and long against a refusal.
const repeatPause = 20 * time.Millisecond

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	key := q.Header.Get(keyHeader)
	lost := false
	for {
		answer, err := r.send(q)
		if err == nil {
			r.note(q, key, answer, lost)
		}
		if !r.repeat || key == "" || err == nil && answer.StatusCode < 500 &&
			answer.StatusCode != http.StatusUnauthorized {
			return answer, err
		}
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusUnauthorized {
				err = r.logIn(q)
			} else {
				err = fmt.Errorf("status %d", answer.StatusCode)
			}
		}
		lost = true
		select {
		case <-q.Context().Done():
			return nil, errors.Join(q.Context().Err(), err)
		case <-time.After(repeatPause):
		}
	}
}

// send a copy of a request to where its worker is now. The answer's body is read whole: it is known what was shown.
func (r *recorder) send(q *http.Request) (*http.Response, error) {
	at, known := r.crew.workerURL(q.URL.Host)
	if !known {
		return nil, fmt.Errorf("no worker %s", q.URL.Host)
	}
	to, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	again := q.Clone(q.Context())
	again.URL.Host, again.Host = to.Host, to.Host
	if q.GetBody != nil {
		if again.Body, err = q.GetBody(); err != nil {
			return nil, err
		}
	}
	answer, err := r.transport.RoundTrip(again)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	if q.Method == http.MethodGet && answer.StatusCode == http.StatusOK &&
		strings.HasPrefix(q.URL.Path, documentsPath) {
		r.shown(text)
	}
	return answer, nil
}

const documentsPath = "/v1/documents/"

// documentID is what a list or a card says of a document itself, not of what it refers to.
var documentID = regexp.MustCompile(`"id":"([0-9a-f-]{36})"`)

// shown notes the documents of an answer: they were committed, and whoever read of them may act on it.
func (r *recorder) shown(text []byte) {
	now := ack{number: r.last(), at: time.Now()}
	for _, found := range documentID.FindAllSubmatch(text, -1) {
		now.key = shownMark + string(found[1])
		r.keep(now)
	}
}

func shownDocument(key string) (id string, is bool) { return strings.CutPrefix(key, shownMark) }

func (r *recorder) note(q *http.Request, key string, answer *http.Response, lost bool) {
	switch {
	case key == "":
	case answer.StatusCode < 300:
		r.keep(ack{key: key, number: r.last(), at: time.Now(), document: documentOf(answer)})
	case lost:
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.unknown[key] = true
	}
}

// documentOf is the document that an answer is about; its body has been read and can be read again.
func documentOf(answer *http.Response) string {
	text, _ := io.ReadAll(answer.Body) // it is in memory
	answer.Body = io.NopCloser(bytes.NewReader(text))
	if found := documentID.FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return ""
}

// keep the first acknowledgement of a key.
func (r *recorder) keep(a ack) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, known := r.acks[a.key]; !known {
		r.acks[a.key] = a
	}
}

func (r *recorder) acknowledged() (all []ack) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, a := range r.acks {
		all = append(all, a)
	}
	return all
}

// forget what was counted as lost, so that it is counted once.
func (r *recorder) forget(keys []string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, key := range keys {
		delete(r.acks, key)
		delete(r.acks, shownMark+key)
	}
}

// uncertain says that a key may be there though it was never acknowledged.
func (r *recorder) uncertain(key string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.unknown[key]
}

// logIn opens another session of the user at the worker that took the place of a killed one.
func (r *recorder) logIn(q *http.Request) error {
	user, _ := q.Context().Value(userKey{}).(string)
	body, err := json.Marshal(map[string]string{"user": user})
	if err != nil {
		return err
	}
	login, err := http.NewRequestWithContext(context.WithoutCancel(q.Context()), http.MethodPost,
		"http://"+q.URL.Host+"/v1/sessions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	login.Header.Set("Content-Type", "application/json")
	answer, err := r.send(login)
	if err != nil {
		return err
	}
	var opened struct{ Token string }
	if err := json.NewDecoder(answer.Body).Decode(&opened); err != nil {
		return err
	}
	if opened.Token == "" {
		return fmt.Errorf("log in %s: status %d", user, answer.StatusCode)
	}
	q.Header["Authorization"] = []string{"Bearer " + opened.Token}
	return nil
}

func (r *recorder) close() { r.transport.CloseIdleConnections() }
