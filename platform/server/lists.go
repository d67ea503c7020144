package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"plimsoll/platform/catalog"
	"plimsoll/platform/database"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
)

// Limits of a page.
const (
	LimitDefault = 50
	LimitMax     = 1000
	searchMax    = 200
	cursorMax    = 4096
)

func (s *Server) listCatalog(ctx context.Context, r *request) (answer, error) {
	lister, ok := s.catalogs[plainName(r.PathValue("catalog"))]
	if !ok {
		return answer{}, errNotFound
	}
	page := catalog.Page{Organisation: r.user.Organisation}
	var err error
	if page.Search, page.Limit, page.AfterName, page.AfterID, err = listed(r.URL.Query(), "after"); err != nil {
		return answer{}, err
	}
	var t *rowset.Table
	err = s.db.Read(ctx, func(w *database.Work) error { t = lister.List(w, page); return nil })
	if err != nil {
		return answer{}, err
	}
	next := ""
	if last := t.Rows() - 1; last+1 == page.Limit {
		next = cursor(rowset.Column[string](t, "name")[last], rowset.Column[id.ID](t, "id")[last])
	}
	return answer{status: http.StatusOK, body: pageJSON(t, next)}, nil
}

func (s *Server) listDocuments(ctx context.Context, r *request) (answer, error) {
	store, ok := s.documents[plainName(r.PathValue("type"))]
	if !ok {
		return answer{}, errNotFound
	}
	page := document.Page{Organisation: r.user.Organisation}
	search, limit, date, before, err := listed(r.URL.Query(), "before")
	if err == nil && date != "" {
		page.BeforeDate, err = time.Parse(time.RFC3339Nano, date)
	}
	if err != nil {
		return answer{}, &document.Invalid{Field: "query", Reason: "search, limit (1 to 1000) and before (the \"next\" of the page before) are expected"}
	}
	page.Search, page.Limit, page.BeforeID = search, limit, before
	if page.Where, err = filters(r, store.Meta()); err != nil {
		return answer{}, err
	}
	var t *rowset.Table
	err = s.db.Read(ctx, func(w *database.Work) error { t = store.List(w, page); return nil })
	if err != nil {
		return answer{}, err
	}
	next := ""
	if last := t.Rows() - 1; last+1 == page.Limit {
		next = cursor(rowset.Column[time.Time](t, "date")[last].UTC().Format(time.RFC3339Nano), rowset.Column[id.ID](t, "id")[last])
	}
	return answer{status: http.StatusOK, body: pageJSON(t, next)}, nil
}

// listed reads the parameters that all lists have.
// filters of a list are references of the header by name: ?counterparty=<id>.
func filters(r *request, meta *metadata.Document) (map[string]id.ID, error) {
	where, query := map[string]id.ID{}, r.URL.Query()
	for _, a := range meta.Attributes {
		given := query.Get(a.Name)
		if a.Type != metadata.Reference || given == "" {
			continue
		}
		v, err := id.Parse(given)
		if err != nil {
			return nil, &document.Invalid{Field: a.Name, Reason: "an id is expected"}
		}
		where[a.Name] = v
	}
	return where, nil
}

func listed(query url.Values, position string) (search string, limit int, key string, last id.ID, err error) {
	search, limit = query.Get("search"), LimitDefault
	if !text(search, searchMax) {
		return search, 0, "", last, &document.Invalid{Field: "search", Reason: fmt.Sprintf("at most %d bytes of text are expected", searchMax)}
	}
	if given := query.Get("limit"); given != "" {
		if limit, err = strconv.Atoi(given); err != nil || limit < 1 || limit > LimitMax {
			return search, 0, "", last, &document.Invalid{Field: "limit", Reason: fmt.Sprintf("a number from 1 to %d is expected", LimitMax)}
		}
	}
	if given := query.Get(position); given != "" {
		key, last, err = parseCursor(given)
		if err != nil {
			err = &document.Invalid{Field: position, Reason: `the "next" of the page before is expected`}
		}
	}
	return search, limit, key, last, err
}

// A cursor is the sort key of the last row shown, opaque to clients: id, then key.

func cursor(key string, last id.ID) string {
	return base64.RawURLEncoding.EncodeToString(append(last[:], key...))
}

func parseCursor(cursor string) (key string, last id.ID, err error) {
	if len(cursor) > cursorMax {
		return "", last, fmt.Errorf("cursor too long")
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < len(last) {
		return "", last, fmt.Errorf("not a cursor")
	}
	copy(last[:], raw)
	key = string(raw[len(last):])
	if !text(key, cursorMax) {
		return "", last, fmt.Errorf("not a cursor")
	}
	return key, last, nil
}

func pageJSON(t *rowset.Table, next string) []byte {
	body := t.AppendJSON([]byte(`{"items":`))
	if next != "" {
		body = rowset.AppendString(append(body, `,"next":`...), next)
	}
	return append(body, '}')
}
