package client

import (
	"bytes"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Written is what a client knows of its writing operations on documents of one type, each of which has an idempotency
// key.
type Written struct {
	Acknowledged int64 `json:"acknowledged"` // operations
	// Unknown is how many got no answer that says whether they were carried out: the connection was lost, or the server
	// failed.
	Unknown int64 `json:"unknown"`
	// Documents and UnknownDocuments are those of them that create a document.
	Documents        int64 `json:"documents"`
	UnknownDocuments int64 `json:"unknown_documents"`
}

// Add counts others.
func (w *Written) Add(other Written) {
	w.Acknowledged += other.Acknowledged
	w.Unknown += other.Unknown
	w.Documents += other.Documents
	w.UnknownDocuments += other.UnknownDocuments
}

// ledger of what was written, by the document's type in the database.
type ledger struct {
	mutex sync.Mutex
	all   map[string]Written
}

// Written is what this client has written so far, by type of document, and the prefix of its operations' keys.
func (c *Client) Written() (keys string, byType map[string]Written) {
	c.written.mutex.Lock()
	defer c.written.mutex.Unlock()
	return c.run, maps.Clone(c.written.all)
}

// note records the outcome of an operation with a key. If a first request was lost, only success is conclusive: it may
// be carried out after the second was refused.
func (l *ledger) note(method, path string, resent bool, r *response, err error) {
	documentType, _, some := strings.Cut(strings.TrimPrefix(path, documentsPath), "/")
	w := Written{}
	switch {
	case err == nil && r.status < 300:
		w.Acknowledged = 1
	case err != nil || resent || r.status >= 500 && !notStarted(r):
		w.Unknown = 1
	default:
		return
	}
	if method == http.MethodPost && !some {
		w.Documents, w.UnknownDocuments = w.Acknowledged, w.Unknown
	}
	documentType = strings.ReplaceAll(documentType, "-", "_")
	l.mutex.Lock()
	defer l.mutex.Unlock()
	sum := l.all[documentType]
	sum.Add(w)
	l.all[documentType] = sum
}

// notStarted reports that the worker did not start the request.
func notStarted(r *response) bool {
	return r.status == http.StatusServiceUnavailable && bytes.Contains(r.body.Bytes(), []byte(`"code":"overloaded"`))
}

const documentsPath = "/v1/documents/"
