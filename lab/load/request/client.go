package request

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"plimsoll/lab/load/trace"
)

// client that follows redirects as the request and the settings say. Method, body, cookies and the headers that another
// host must not see are the library's work.
func (r *Request) client(s *Settings, u *User) *http.Client {
	page := u.Page // resources are loaded while another may be read
	return &http.Client{Transport: trace.Transport(u.Transport), Jar: u.Jar, CheckRedirect: func(next *http.Request,
		before []*http.Request) error {
		status, most := next.Response.StatusCode, s.RedirectsMost()
		switch {
		case most == 0 || slices.Contains(r.Expect, status) || slices.Contains(r.Refused, status):
			return http.ErrUseLastResponse
		case len(before) > most:
			return fmt.Errorf("more than %d redirects, the last one to %s", most, next.URL.Path)
		}
		// the library compares hosts without their ports
		if slices.ContainsFunc(before, func(one *http.Request) bool { return !sameOrigin(one.URL, next.URL) }) {
			next.Header.Del("Authorization")
		}
		if !r.namesReferer(s) {
			setReferer(next, page)
		}
		return nil
	}}
}

// namesReferer says whether the scenario itself does.
func (r *Request) namesReferer(s *Settings) bool {
	for _, headers := range []map[string]string{r.Headers, s.Headers} {
		for name := range headers {
			if strings.EqualFold(name, "Referer") {
				return true
			}
		}
	}
	return false
}

// sameOrigin of two addresses: whoever serves the one serves the other.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
}

// load the resources, as many at once as a browser does.
func (r *Request) load(ctx context.Context, s *Settings, u *User) error {
	if len(r.Resources) == 0 {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(browserConnections)
	one := Request{Method: http.MethodGet}
	client := one.client(s, u)
	for _, template := range r.Resources {
		group.Go(func() error {
			each := one
			each.URL = template
			request, err := each.build(ctx, s, u)
			if err != nil {
				return fmt.Errorf("resource: %w", err)
			}
			response, err := client.Do(request)
			if err != nil {
				return fmt.Errorf("resource: %w", plain(err))
			}
			if discard(response); response.StatusCode > 399 {
				return fmt.Errorf("resource %s: status %d", request.URL.Path, response.StatusCode)
			}
			return nil
		})
	}
	return group.Wait()
}
