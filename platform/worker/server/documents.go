package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// createDocument writes a document and posts it; ?post=false leaves it unposted.
func (s *Server) createDocument(meta *metadata.Document) handle {
	return func(ctx context.Context, r *request) (answer, error) {
		state, err := requestedState(r, posting.Posted)
		if err != nil {
			return answer{}, err
		}
		key, err := operationKey(r)
		if err != nil {
			return answer{}, err
		}
		d, err := document.Decode(meta, r.body, time.Now())
		if err != nil {
			return answer{}, err
		}
		d.Organisation, d.Author, d.Posted = r.user.Organisation, r.user.ID, state == posting.Posted
		result, err := s.books.Create(ctx, d, key)
		return written(http.StatusCreated, result), err
	}
}

// changeDocument replaces the content of a document whose version is given in If-Match. A posted one is reposted,
// unless ?post= says otherwise.
func (s *Server) changeDocument(meta *metadata.Document) handle {
	return func(ctx context.Context, r *request) (answer, error) {
		state, err := requestedState(r, posting.Kept)
		if err != nil {
			return answer{}, err
		}
		content, err := document.DecodeChange(meta, r.body, time.Now())
		if err != nil {
			return answer{}, err
		}
		if r.Header.Get("If-Match") == "" {
			return answer{}, errNoVersion
		}
		return s.change(ctx, r, posting.Change{Type: meta.Name, Content: content, State: state})
	}
}

// errNoVersion: without a version, an editor could overwrite another editor's change.
var errNoVersion = &document.Invalid{Field: "If-Match",
	Reason: `the "version" of the document that was read is expected`}

// changeState posts, posts again or unposts.
func (s *Server) changeState(meta *metadata.Document, state posting.State) handle {
	return func(ctx context.Context, r *request) (answer, error) {
		if len(r.body) > 0 {
			return answer{}, &document.Invalid{Field: "body", Reason: "none is expected; PUT changes a document"}
		}
		return s.change(ctx, r, posting.Change{Type: meta.Name, State: state})
	}
}

func (s *Server) change(ctx context.Context, r *request, c posting.Change) (answer, error) {
	var err error
	if c.Document, err = id.Parse(r.PathValue("id")); err != nil {
		return answer{}, errNotFound
	}
	if c.Version, err = version(r); err != nil {
		return answer{}, err
	}
	key, err := operationKey(r)
	if err != nil {
		return answer{}, err
	}
	c.Organisation = r.user.Organisation
	result, err := s.books.Change(ctx, c, key)
	return written(http.StatusOK, result), err
}

// requestedState is the state requested by ?post=.
func requestedState(r *request, otherwise posting.State) (posting.State, error) {
	switch r.URL.Query().Get("post") {
	case "":
		return otherwise, nil
	case "true":
		return posting.Posted, nil
	case "false":
		return posting.Unposted, nil
	}
	return otherwise, &document.Invalid{Field: "post", Reason: "true or false is expected"}
}

// version in If-Match, with or without the quotes of an entity tag; zero when none is given.
func version(r *request) (int64, error) {
	given := r.Header.Get("If-Match")
	if given == "" {
		return 0, nil
	}
	v, err := strconv.ParseInt(strings.Trim(given, `"`), 10, 64)
	if err != nil || v < 1 {
		return 0, errNoVersion
	}
	return v, nil
}

func written(status int, r posting.Result) answer {
	b := append(r.ID.AppendText([]byte(`{"id":"`)), `","number":`...)
	b = rowset.AppendString(b, r.Number)
	a := answer{status: status, body: fmt.Appendf(b, `,"posted":%t,"version":%d}`, r.Posted, r.Version)}.withHeader(
		tag(r.Version))
	if r.Replayed {
		a = a.withHeader("Idempotency-Replayed", "true")
	}
	return a
}

// tag is the ETag header line of a version.
func tag(version int64) (name, value string) { return "ETag", fmt.Sprintf(`"%d"`, version) }

// operationKey takes the client's key; a request without one gets a new key. The digest covers everything that
// distinguishes the request.
func operationKey(r *request) (posting.Key, error) {
	name := r.Header.Get("Idempotency-Key")
	if len(name) > posting.KeyLength || !printable(name) {
		return posting.Key{}, &document.Invalid{Field: "Idempotency-Key", Reason: "at most 128 printable " +
			"characters without spaces are expected"}
	}
	if name == "" {
		name = id.New().String()
	}
	hash := sha256.New()
	for _, part := range []string{r.Method, r.URL.Path, r.URL.Query().Get("post"), r.Header.Get("If-Match")} {
		fmt.Fprintf(hash, "%q", part)
	}
	hash.Write(r.body)
	return posting.Key{Author: r.user.ID, Name: name, Digest: hash.Sum(nil)}, nil
}
