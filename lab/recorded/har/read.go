package har

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
	"time"
)

// Bounds of what is read; what is beyond them is an error, but a longer body is only cut.
const (
	entryBytesMost = 128 << 20 // one entry as it stands in the file
	entriesMost    = 200_000
	bodyBytesMost  = 8 << 20
	pagesMost      = 20_000
)

// Recording is what a HAR file holds of use here.
type Recording struct {
	Creator string
	Titles  map[string]string // of pages, by their ids
	Entries []Entry           // by the time when they began
}

// Entry is a request with its answer.
type Entry struct {
	Number   int // in the file, from 1
	Started  time.Time
	Took     time.Duration
	Page     string
	Kind     string // of resource, as Chromium says: document, xhr, fetch, script, …; others do not say
	Method   string
	URL      string
	Headers  []Pair
	Body     *Body
	Status   int // 0: no answer
	Answered []Pair
	MIME     string // of the answer
	Text     string // of the answer; only of texts
	Cut      bool   // the answer had a text that is not in the file, or is too long
}

// Pair is a header or a field of a form.
type Pair struct{ Name, Value string }

// Body of a request.
type Body struct {
	MIME   string
	Text   string
	Fields []Field // of a form, if the writer took it apart
}

// Field of a form. File is the name of one that was uploaded.
type Field struct{ Name, Value, File, MIME string }

// header is the first of a name.
func header(pairs []Pair, name string) string {
	for _, p := range pairs {
		if strings.EqualFold(p.Name, name) {
			return p.Value
		}
	}
	return ""
}

// The following are as HAR 1.2 names them.

type entryJSON struct {
	Pageref         string  `json:"pageref"`
	StartedDateTime string  `json:"startedDateTime"`
	Time            float64 `json:"time"`
	ResourceType    string  `json:"_resourceType"`
	Request         struct {
		Method   string `json:"method"`
		URL      string `json:"url"`
		Headers  []Pair `json:"headers"`
		PostData *struct {
			MimeType string `json:"mimeType"`
			Text     string `json:"text"`
			Encoding string `json:"encoding"`
			Params   []struct {
				Name        string `json:"name"`
				Value       string `json:"value"`
				FileName    string `json:"fileName"`
				ContentType string `json:"contentType"`
			} `json:"params"`
		} `json:"postData"`
	} `json:"request"`
	Response struct {
		Status      int    `json:"status"`
		Headers     []Pair `json:"headers"`
		RedirectURL string `json:"redirectURL"`
		Content     struct {
			Size     float64 `json:"size"`
			MimeType string  `json:"mimeType"`
			Text     string  `json:"text"`
			Encoding string  `json:"encoding"`
		} `json:"content"`
	} `json:"response"`
}

// leash stops a reader that goes on for too long within one value: the decoder holds a value whole before it gives it.
type leash struct {
	io.Reader
	read int64
	done func() int64 // how far the decoder has come
}

var errTooLong = fmt.Errorf("one entry is longer than %d MB", entryBytesMost>>20)

func (l *leash) Read(p []byte) (int, error) {
	if l.done != nil && l.read-l.done() > entryBytesMost {
		return 0, errTooLong
	}
	n, err := l.Reader.Read(p)
	l.read += int64(n)
	return n, err
}

// Read reads a HAR file. Only one entry at a time is held as it stands in the file.
func Read(in io.Reader) (*Recording, error) {
	buffered := bufio.NewReader(in)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = buffered.Discard(3) // Fiddler writes one
	}
	held := &leash{Reader: buffered}
	d := json.NewDecoder(held)
	held.done = d.InputOffset
	rec, logs := &Recording{Titles: map[string]string{}}, 0
	err := object(d, func(key string) error {
		if key != "log" {
			return skip(d)
		}
		logs++
		return object(d, func(key string) error { return rec.take(d, key) })
	})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, errors.New("the file ends too early")
	case err != nil:
		return nil, err
	case logs == 0:
		return nil, errors.New(`not a HAR file: it has no "log"`)
	case len(rec.Entries) == 0:
		return nil, errors.New("the recording has no requests")
	}
	slices.SortStableFunc(rec.Entries, func(a, b Entry) int { return a.Started.Compare(b.Started) })
	return rec, nil
}

func (rec *Recording) take(d *json.Decoder, key string) error {
	switch key {
	case "creator":
		var creator struct{ Name, Version string }
		if err := d.Decode(&creator); err != nil {
			return fmt.Errorf("creator: %w", err)
		}
		rec.Creator = strings.TrimSpace(creator.Name + " " + creator.Version)
		return nil
	case "pages":
		return list(d, pagesMost, func(n int) error {
			var page struct{ ID, Title string }
			if err := d.Decode(&page); err != nil {
				return fmt.Errorf("page %d: %w", n, err)
			}
			rec.Titles[page.ID] = page.Title
			return nil
		})
	case "entries":
		return list(d, entriesMost, func(n int) error {
			var raw entryJSON
			err := d.Decode(&raw)
			var e Entry
			if err == nil {
				e, err = raw.entry()
			}
			if err != nil {
				return fmt.Errorf("entry %d: %w", n, err)
			}
			e.Number = n
			rec.Entries = append(rec.Entries, e)
			return nil
		})
	}
	return skip(d)
}

// object goes through the keys of an object; each must consume its value.
func object(d *json.Decoder, each func(key string) error) error {
	if err := opening(d, '{'); err != nil {
		return err
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return syntax(err)
		}
		key, _ := token.(string)
		if err := each(key); err != nil {
			return syntax(err)
		}
	}
	_, err := d.Token()
	return syntax(err)
}

func list(d *json.Decoder, most int, each func(n int) error) error {
	if err := opening(d, '['); err != nil {
		return err
	}
	for n := 1; d.More(); n++ {
		if n > most {
			return fmt.Errorf("more than %d of them", most)
		}
		if err := each(n); err != nil {
			return syntax(err)
		}
	}
	_, err := d.Token()
	return syntax(err)
}

func opening(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return syntax(err)
	}
	if token != want {
		return fmt.Errorf("not a HAR file: byte %d should be %s", d.InputOffset(), want)
	}
	return nil
}

func skip(d *json.Decoder) error {
	var nothing json.RawMessage
	return d.Decode(&nothing)
}

// syntax says where JSON is wrong.
func syntax(err error) error {
	var s *json.SyntaxError
	if errors.As(err, &s) && !strings.Contains(err.Error(), "byte ") {
		return fmt.Errorf("not JSON at byte %d: %w", s.Offset, err)
	}
	return err
}

// times as writers have them: RFC 3339, and without a zone.
var times = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999"}

func (raw *entryJSON) entry() (e Entry, err error) {
	for _, form := range times {
		if e.Started, err = time.Parse(form, raw.StartedDateTime); err == nil {
			break
		}
	}
	if err != nil {
		return e, fmt.Errorf("startedDateTime is no time: %.40q", raw.StartedDateTime)
	}
	if raw.Request.URL == "" || raw.Request.Method == "" {
		return e, errors.New("the request has no method or url")
	}
	if raw.Time > 0 && raw.Time < 1e9 {
		e.Took = time.Duration(raw.Time * float64(time.Millisecond))
	}
	e.Page, e.Kind = raw.Pageref, raw.ResourceType
	e.Method, e.URL, e.Headers = strings.ToUpper(raw.Request.Method), raw.Request.URL, plainHeaders(raw.Request.Headers)
	e.Status, e.Answered = raw.Response.Status, plainHeaders(raw.Response.Headers)
	if raw.Response.RedirectURL != "" && header(e.Answered, "Location") == "" {
		e.Answered = append(e.Answered, Pair{"Location", raw.Response.RedirectURL})
	}
	raw.requestBody(&e)
	raw.answer(&e)
	return e, nil
}

// plainHeaders are without the pseudo headers of HTTP/2.
func plainHeaders(all []Pair) []Pair {
	return slices.DeleteFunc(all, func(p Pair) bool { return strings.HasPrefix(p.Name, ":") || p.Name == "" })
}

func (raw *entryJSON) requestBody(e *Entry) {
	p := raw.Request.PostData
	if p == nil || p.Text == "" && len(p.Params) == 0 {
		return
	}
	b := &Body{MIME: p.MimeType, Text: decoded(p.Text, p.Encoding)}
	if len(b.Text) > bodyBytesMost {
		b.Text, e.Cut = "", true
	}
	for _, f := range p.Params {
		b.Fields = append(b.Fields, Field{Name: f.Name, Value: f.Value, File: f.FileName, MIME: f.ContentType})
	}
	e.Body = b
}

func (raw *entryJSON) answer(e *Entry) {
	c := raw.Response.Content
	e.MIME, _, _ = mime.ParseMediaType(c.MimeType)
	if e.MIME == "" {
		e.MIME, _, _ = mime.ParseMediaType(header(e.Answered, "Content-Type"))
	}
	if !isText(e.MIME) {
		return
	}
	e.Text = decoded(c.Text, c.Encoding)
	if e.Cut = e.Cut || c.Text == "" && c.Size > 0; len(e.Text) > bodyBytesMost {
		e.Text, e.Cut = e.Text[:bodyBytesMost], true
	}
}

func decoded(text, encoding string) string {
	if !strings.EqualFold(encoding, "base64") {
		return text
	}
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(plain), "\uFFFD")
}

// isText says whether values can be looked for in an answer. One without a type may be a text.
func isText(mime string) bool {
	for _, binary := range []string{"image/", "font/", "video/", "audio/"} {
		if strings.HasPrefix(mime, binary) && mime != "image/svg+xml" {
			return false
		}
	}
	return !slices.Contains([]string{"application/octet-stream", "application/pdf", "application/zip",
		"application/wasm", "application/font-woff", "application/vnd.ms-fontobject"}, mime)
}
