package request

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"plimsoll/lab/load/script"
)

// File is sent as it stands. It travels to agents with its content.
type File struct {
	Name string `json:"name"`
	Type string `json:"type"` // Content-Type
	Text []byte `json:"text"`
}

// Contents that are given, by their keys: a text, a form, a form with files, or a file.
func (r *Request) Contents() (all []string) {
	add := func(given bool, name string) {
		if given {
			all = append(all, name)
		}
	}
	add(r.Body != "", "body")
	add(r.Form != nil, "form")
	add(r.Multipart != nil || r.Files != nil, "multipart")
	add(r.BodyFile != nil, "body_file")
	return all
}

// addContent to what is sent.
func (r *Request) addContent(request *http.Request, variables map[string]script.Value) error {
	kind := request.Header.Get("Content-Type")
	pieces, otherwise, err := r.pieces(kind, variables)
	if err != nil || pieces == nil {
		return err
	}
	if kind == "" || r.Multipart != nil || r.Files != nil { // the boundary between the parts is ours
		request.Header.Set("Content-Type", otherwise)
	}
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(readerOf(pieces)), nil }
	request.Body, _ = request.GetBody()
	for _, p := range pieces {
		request.ContentLength += int64(len(p))
	}
	if request.ContentLength == 0 {
		request.Body, request.GetBody = http.NoBody, func() (io.ReadCloser, error) { return http.NoBody, nil }
	}
	return nil
}

// readerOf pieces: the content of a file is not copied for each request.
func readerOf(pieces [][]byte) io.Reader {
	readers := make([]io.Reader, len(pieces))
	for i, p := range pieces {
		readers[i] = bytes.NewReader(p)
	}
	return io.MultiReader(readers...)
}

// pieces of the body, with its Content-Type unless a header says another; nil: none.
func (r *Request) pieces(kind string, variables map[string]script.Value) (all [][]byte, otherwise string, err error) {
	switch {
	case r.Body != "":
		text, err := expand(r.Body, variables, escapeOf(kind))
		if err != nil {
			return nil, "", fmt.Errorf("body: %w", err)
		}
		return [][]byte{[]byte(text)}, "application/json", nil
	case r.Form != nil:
		fields, err := fields(r.Form, variables)
		return [][]byte{[]byte(fields.Encode())}, "application/x-www-form-urlencoded", err
	case r.Multipart != nil || r.Files != nil:
		return r.multipart(variables)
	case r.BodyFile != nil:
		return [][]byte{r.BodyFile.Text}, r.BodyFile.Type, nil
	}
	return nil, "", nil
}

func fields(templates map[string][]string, variables map[string]script.Value) (url.Values, error) {
	all := url.Values{}
	for name, each := range templates {
		for _, template := range each {
			value, err := expand(template, variables, asIs)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", name, err)
			}
			all.Add(name, value)
		}
	}
	return all, nil
}

func (r *Request) multipart(variables map[string]script.Value) (all [][]byte, kind string, err error) {
	values, err := fields(r.Multipart, variables)
	if err != nil {
		return nil, "", err
	}
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	cut := func() {
		all = append(all, bytes.Clone(head.Bytes()))
		head.Reset()
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			_ = w.WriteField(name, value) // a buffer takes all
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		f := r.Files[name]
		_, _ = w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, quoted(name), quoted(f.Name))},
			"Content-Type":        {f.Type},
		})
		cut()
		all = append(all, f.Text)
	}
	_ = w.Close()
	cut()
	return all, w.FormDataContentType(), nil
}

// quoted as browsers do.
func quoted(s string) string {
	return strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22").Replace(s)
}
