package request

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"plimsoll/ground/human"
)

// Unexpected is an answer with another status than the scenario expects.
type Unexpected struct {
	Status int
	// Asked is method and address without its query, which may hold a secret.
	Asked string
	To    string // where it redirects to, without host and query
	Body  string // its beginning, on one line
}

// bodyShown is enough for a message, and too little for a page.
const bodyShown = 200

func unexpected(answer *http.Response, body []byte) *Unexpected {
	u := &Unexpected{Status: answer.StatusCode}
	if to, err := url.Parse(answer.Header.Get("Location")); err == nil {
		u.To = to.Path
	}
	if r := answer.Request; r != nil && r.URL != nil {
		u.Asked = r.Method + " " + (&url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path}).String()
	}
	u.Body = shown(string(body))
	return u
}

// shown is the beginning of a text, on one line.
func shown(s string) string {
	text := []rune(strings.Join(strings.Fields(human.Plain(strings.ToValidUTF8(s, ""))), " "))
	if len(text) > bodyShown {
		return string(text[:bodyShown]) + " …"
	}
	return string(text)
}

// Error is the same for all users, so that equal ones are counted together.
func (u *Unexpected) Error() string {
	if u.To != "" {
		return fmt.Sprintf("status %d to %s", u.Status, u.To)
	}
	return fmt.Sprintf("status %d", u.Status)
}

// Detail is what a person needs to find the cause of a single one.
func (u *Unexpected) Detail() string {
	text := u.Error()
	if u.Asked != "" {
		text = u.Asked + " answered " + text
	}
	if u.Body != "" {
		text += ": " + u.Body
	}
	return text
}
