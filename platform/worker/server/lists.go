package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/openapi"
)

// Limits of a page.
const (
	LimitDefault = 50
	LimitMax     = 1000
	searchMax    = 200
	cursorMax    = 1024
)

func (s *Server) listCatalog(lister *catalog.Lister) handle {
	return func(ctx context.Context, r *request) (answer, error) {
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
}

func (s *Server) listDocuments(store *document.Store) handle {
	return func(ctx context.Context, r *request) (answer, error) {
		page, err := documentPage(r, store.Meta())
		if err != nil {
			return answer{}, err
		}
		var t *rowset.Table
		err = s.db.Read(ctx, func(w *database.Work) error { t = store.List(w, page); return nil })
		if err != nil {
			return answer{}, err
		}
		next := ""
		if last := t.Rows() - 1; last+1 == page.Limit {
			next = cursor(rowset.Column[time.Time](t, "date")[last].UTC().Format(time.RFC3339Nano),
				rowset.Column[id.ID](t, "id")[last])
		}
		return answer{status: http.StatusOK, body: pageJSON(t, next)}, nil
	}
}

func documentPage(r *request, meta *metadata.Document) (page document.Page, err error) {
	page.Organisation = r.user.Organisation
	if page.Where, err = filters(r, meta); err != nil {
		return page, err
	}
	var date string
	if page.Search, page.Limit, date, page.BeforeID, err = listed(r.URL.Query(), "before"); err != nil || date == "" {
		return page, err
	}
	if page.BeforeDate, err = time.Parse(time.RFC3339Nano, date); err != nil {
		err = errCursor("before")
	}
	return page, err
}

func errCursor(position string) error {
	return &document.Invalid{Field: position, Reason: `the "next" of the page before is expected`}
}

// filterParameters are what filters reads.
func filterParameters(meta *metadata.Document) (parameters []openapi.Parameter) {
	for _, a := range meta.Attributes {
		if a.Type == metadata.Reference {
			parameters = append(parameters, openapi.Parameter{Name: a.Name, In: "query",
				Description: "only documents with this reference", Schema: openapi.UUID("")})
		}
	}
	return parameters
}

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

// listed reads the parameters that all lists have.
func listed(query url.Values, position string) (search string, limit int, key string, last id.ID, err error) {
	search, limit = query.Get("search"), LimitDefault
	if !text(search, searchMax) {
		return search, 0, "", last, &document.Invalid{Field: "search",
			Reason: fmt.Sprintf("at most %d characters of text are expected", searchMax)}
	}
	if given := query.Get("limit"); given != "" {
		if limit, err = strconv.Atoi(given); err != nil || limit < 1 || limit > LimitMax {
			return search, 0, "", last, &document.Invalid{Field: "limit",
				Reason: fmt.Sprintf("a number from 1 to %d is expected", LimitMax)}
		}
	}
	if given := query.Get(position); given != "" {
		if key, last, err = parseCursor(given); err != nil {
			err = errCursor(position)
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
