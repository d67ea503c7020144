package server

import (
	"net/http"
	"strings"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/openapi"
)

// documentEndpoints are the operations on one type of document; a type without rules can only be read.
func (s *Server) documentEndpoints(meta *metadata.Document) []Endpoint {
	at, store := "/v1/documents/"+pathName(meta.Name), s.documents[meta.Name]
	one := at + "/{id}"
	title := meta.Title + ": "
	all := []Endpoint{{
		Method: "GET", Path: at, Operation: meta.Name + ".list", Summary: title + "list",
		Description: "Newest first. Searches: " +
			strings.Join(append([]string{"number", "comment"}, meta.Search...), ", ") + ".",
		Parameters: append(listParameters("before"), filterParameters(meta)...),
		Success:    []Success{{Status: http.StatusOK, Means: "a page", Schema: page(openapi.Ref(meta.Name + ".row"))}},
		handle:     s.listDocuments(store), remember: s.rememberList(meta.Name),
	}, {
		Method: "GET", Path: one, Operation: meta.Name + ".card", Summary: title + "card",
		Parameters: []openapi.Parameter{documentID},
		Success: []Success{{Status: http.StatusOK, Means: "the document", Schema: openapi.Ref(meta.Name),
			Header: entityTag}},
		Fails: []string{codeNotFound}, handle: s.showDocument(meta, store),
	}}
	if s.app.Rules[meta.Name] != nil {
		all = append(all, s.writingEndpoints(meta, at, one, title)...)
	}
	for i := range all {
		all[i].Tag = meta.Name
		if all[i].remember == nil {
			all[i].remember = s.rememberDocument(meta.Name)
		}
	}
	return all
}

func (s *Server) writingEndpoints(meta *metadata.Document, at, one, title string) []Endpoint {
	written := func(status int) []Success {
		return []Success{{Status: status, Means: "the document as it is now", Schema: openapi.Ref(writtenSchema),
			Header: append(replayed, entityTag...)}}
	}
	given := openapi.Ref(meta.Name + ".given")
	fails := []string{codeNotFound, codeRefused, codeChanged, codeOverflow, codeKeyReused}
	return []Endpoint{{
		Method: "POST", Path: at, Operation: meta.Name + ".create", Summary: title + "create",
		Description: "The document is also posted, unless `post` is false.",
		Parameters:  []openapi.Parameter{postCreated, idempotencyKey}, Body: given,
		Success: written(http.StatusCreated),
		Fails:   []string{codeRefused, codeOverflow, codeKeyReused}, handle: s.createDocument(meta),
	}, {
		Method: "PUT", Path: one, Operation: meta.Name + ".change", Summary: title + "change",
		Description: "Replaces the whole content. A posted document is reposted, unless `post` gives a target state; " +
			"only what differs is written.",
		Parameters: []openapi.Parameter{documentID, needed(ifMatch), postChanged, idempotencyKey}, Body: given,
		Success: written(http.StatusOK),
		Fails:   fails, handle: s.changeDocument(meta),
	}, {
		Method: "POST", Path: one + "/post", Operation: meta.Name + ".repost", Summary: title + "post",
		Description: "A posted document is reposted.",
		Parameters:  []openapi.Parameter{documentID, ifMatch, idempotencyKey}, Success: written(http.StatusOK),
		Fails: append(fails, codeInvalid), handle: s.changeState(meta, posting.Posted),
	}, {
		Method: "POST", Path: one + "/unpost", Operation: meta.Name + ".unpost", Summary: title + "unpost",
		Description: "Number, date and content stay.",
		Parameters:  []openapi.Parameter{documentID, ifMatch, idempotencyKey}, Success: written(http.StatusOK),
		Fails: append(fails, codeInvalid), handle: s.changeState(meta, posting.Unposted),
	}}
}

// Parameters and headers that operations share.
var (
	documentID = openapi.Parameter{Name: "id", In: "path", Required: true, Description: "id of the document",
		Schema: openapi.UUID("")}
	ifMatch = openapi.Parameter{
		Name: "If-Match", In: "header", Description: "the `version` that was read, with or without quotes; 412 if " +
			"the document has another version now",
		Schema: &openapi.Schema{Type: "string", Pattern: `^"?[0-9]{1,18}"?$`},
	}
	idempotencyKey = openapi.Parameter{
		Name: "Idempotency-Key", In: "header", Description: "chosen by the client: a request repeated with the same " +
			"key is carried out once, and answered like the first",
		Schema: &openapi.Schema{Type: "string", Pattern: `^[!-~]+$`, MinLength: 1, MaxLength: posting.KeyLength},
	}
	postCreated = openapi.Parameter{Name: "post", In: "query", Description: "false leaves the document unposted",
		Schema: flag("true")}
	postChanged = openapi.Parameter{Name: "post", In: "query",
		Description: "target state; without it, the document stays posted or unposted", Schema: flag("")}
	entityTag = openapi.Named[openapi.Header]{{Name: "ETag",
		Value: openapi.Header{Description: "the version in quotes, for If-Match", Schema: openapi.String("")}}}
	replayed = openapi.Named[openapi.Header]{{Name: "Idempotency-Replayed",
		Value: openapi.Header{Description: "true if the operation was already carried out under the key",
			Schema: openapi.String("")}}}
)

func flag(otherwise string) *openapi.Schema {
	s := &openapi.Schema{Type: "string", Enum: []string{"true", "false"}}
	if otherwise != "" {
		s.Default = otherwise
	}
	return s
}

func needed(p openapi.Parameter) openapi.Parameter {
	p.Required = true
	return p
}

func listParameters(position string) []openapi.Parameter {
	limit := openapi.Between(1, LimitMax, "")
	limit.Default = LimitDefault
	return []openapi.Parameter{
		{Name: "search", In: "query", Description: "a part of the searched texts",
			Schema: &openapi.Schema{Type: "string", MaxLength: searchMax}},
		{Name: "limit", In: "query", Description: "rows of a page", Schema: limit},
		{Name: position, In: "query", Description: "`next` of the previous page",
			Schema: &openapi.Schema{Type: "string", MaxLength: cursorMax, Pattern: `^[A-Za-z0-9_-]*$`}},
	}
}

func page(row *openapi.Schema) *openapi.Schema {
	return openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "items", Value: openapi.Array(row)},
		{Name: "next", Value: openapi.String("where the next page begins; absent on the last one")},
	}, "next")
}

// writtenSchema names the answer of all writing operations.
const writtenSchema = "written"

func writtenAnswer() *openapi.Schema {
	return openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "id", Value: openapi.UUID("")}, {Name: "number", Value: openapi.String("")},
		{Name: "posted", Value: openapi.Boolean("")},
		{Name: "version", Value: openapi.Integer("for If-Match")},
	})
}

// documentSchemas are a card, a row of the list, and what a request may hold.
func documentSchemas(meta *metadata.Document, store *document.Store, schemas *openapi.Named[*openapi.Schema]) {
	header, sections := store.Shown()
	row, card, given := openapi.Shown(header), openapi.Shown(header), openapi.Given(document.SettableAttributes(meta))
	for i := range meta.Sections {
		section := &meta.Sections[i]
		rows := openapi.Array(openapi.Given(section.Attributes))
		rows.MinItems, rows.MaxItems = section.MinRows, section.MaxRows
		given.Properties.Set(section.Name, rows)
		if section.MinRows > 0 {
			given.Required = append(given.Required, section.Name)
		}
		card.Properties.Set(section.Name, openapi.Array(openapi.Shown(sections[i])))
		card.Required = append(card.Required, section.Name)
	}
	card.Title, row.Title, given.Title = meta.Title, meta.Title+" in a list", meta.Title+" in a request"
	schemas.Set(meta.Name, card)
	schemas.Set(meta.Name+".row", row)
	schemas.Set(meta.Name+".given", given)
}
