package request

import (
	"net/http"
	"net/url"
	"strings"
)

// referer is what a browser says to an address of the page that a request comes from, by its default policy
// (strict-origin-when-cross-origin); empty: nothing. Frameworks look at it against forged requests, Django over TLS
// always.
func referer(page, to *url.URL) string {
	if page == nil || page.Scheme == "https" && to.Scheme != "https" {
		return ""
	}
	from := *page
	from.User, from.Fragment, from.RawFragment = nil, "", ""
	if !sameOrigin(page, to) {
		from = url.URL{Scheme: page.Scheme, Host: page.Host, Path: "/"}
	}
	return from.String()
}

// setReferer unless the scenario gives one. After a redirect the library has set the address that redirected; a browser
// still names the page.
func setReferer(request *http.Request, page *url.URL) {
	if from := referer(page, request.URL); from != "" {
		request.Header.Set("Referer", from)
	} else {
		request.Header.Del("Referer")
	}
}

// isPage says whether a browser would show an answer: what a script of the page has asked for is no page.
func isPage(a *answer) bool {
	if a.StatusCode > 299 && a.StatusCode < 400 {
		return false
	}
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return kind == "text/html" || kind == "application/xhtml+xml"
}
