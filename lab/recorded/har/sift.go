package har

import (
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
)

// Reason why requests of a recording are left out of the scenario.
type Reason string

const (
	Static     Reason = "static"      // style sheets, scripts, images, fonts
	ThirdParty Reason = "third-party" // of other sites
	Analytics  Reason = "analytics"   // counts visitors or reports errors of pages
	Logout     Reason = "log-out"     // would end the session of a user who goes on
	Preflight  Reason = "preflight"   // a browser asks whether it may ask
	Stream     Reason = "stream"      // WebSocket, server-sent events
	Unanswered Reason = "unanswered"  // cut off, blocked, or answered from a browser's own pages
	Broken     Reason = "broken"      // answered with 500 or more
	Refused    Reason = "refused"     // answered with 401, and asked again with success
	Attempt    Reason = "attempt"     // a log-in that did not succeed, before one that did
	Method     Reason = "method"      // that scenarios do not have, such as PROPFIND
)

// Keepable are the reasons that a user may turn off.
var Keepable = []Reason{Static, ThirdParty, Analytics, Logout}

var reasonText = map[Reason]string{
	Static:     "static files",
	ThirdParty: "of other sites",
	Analytics:  "analytics",
	Logout:     "log-out, which would end the session of a user who goes on",
	Preflight:  "preflights of a browser",
	Stream:     "WebSockets and event streams",
	Unanswered: "without an answer",
	Broken:     "answered with 500 or more",
	Refused:    "answered with 401 and then repeated",
	Attempt:    "log-ins that did not succeed",
	Method:     "with methods that scenarios do not have",
}

// call is a request of a recording that is looked at, with its answer.
type call struct {
	*Entry
	url   *url.URL
	left  Reason // why it is not in the scenario; empty: it is
	texts []*text
	group *group
	gap   time.Duration // how long nothing was under way before it
	hop   *call         // the redirect that led to it
	// extract are the variables that its answer sets.
	extract []*variable
	// next, unless nil, is all of its address: where the redirect before leads.
	next *variable
}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// sift takes the recording's requests and says which are left out.
func sift(rec *Recording, o Options) (calls []*call, base *url.URL) {
	for i := range rec.Entries {
		e := &rec.Entries[i]
		u, err := url.Parse(e.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			u, e.Status = &url.URL{}, 0
		}
		calls = append(calls, &call{Entry: e, url: u})
	}
	if base = home(calls); base == nil {
		return calls, nil
	}
	for _, c := range calls {
		if c.left = c.reason(base, o.Hosts); slices.Contains(o.Keep, c.left) {
			c.left = ""
		}
	}
	leaveRepeated(calls)
	return calls, base
}

// home is the origin with the most requests that are no static files; the first of equals.
func home(calls []*call) (base *url.URL) {
	count, most := map[string]int{}, 0
	for _, c := range calls {
		if c.url.Host != "" && c.Status != 0 && !c.static() && !c.analytics() && c.Method != "OPTIONS" {
			count[c.url.Scheme+"://"+c.url.Host]++
		}
	}
	for _, c := range calls {
		if n := count[c.url.Scheme+"://"+c.url.Host]; n > most {
			base, most = &url.URL{Scheme: c.url.Scheme, Host: c.url.Host}, n
		}
	}
	return base
}

func (c *call) reason(base *url.URL, hosts []string) Reason {
	switch {
	case c.Kind == "websocket" || c.MIME == "text/event-stream" || c.Status == 101:
		return Stream
	case c.url.Host == "" || c.Status < 100 || c.Status > 599:
		return Unanswered
	case !slices.Contains(methods, c.Method):
		return Method
	case c.Method == "OPTIONS" || c.Kind == "preflight":
		return Preflight
	case c.analytics():
		return Analytics
	case !sameSite(c.url.Hostname(), base.Hostname()) && !slices.Contains(hosts, c.url.Hostname()) &&
		!slices.Contains(hosts, c.url.Host):
		return ThirdParty
	case c.static():
		return Static
	case c.Status >= 500:
		return Broken
	}
	return ""
}

// sameSite compares registered domains: api.example.com belongs to www.example.com.
func sameSite(a, b string) bool {
	if a == b || loopback(a) && loopback(b) {
		return true
	}
	if net.ParseIP(a) != nil || net.ParseIP(b) != nil {
		return false
	}
	one, err := publicsuffix.EffectiveTLDPlusOne(a)
	other, errOther := publicsuffix.EffectiveTLDPlusOne(b)
	return err == nil && errOther == nil && one == other
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

var (
	staticKinds = []string{"stylesheet", "image", "media", "font", "script", "texttrack", "manifest", "imageset"}
	staticTypes = regexp.MustCompile(`^(image|font|video|audio)/|^text/css$|javascript|ecmascript|font-|/wasm$|` +
		`manifest`)
	staticFiles = []string{".css", ".js", ".mjs", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp",
		".avif", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp4", ".webm", ".mp3", ".webmanifest", ".wasm"}
)

// static goes by the kind that the browser gives, by the type of the answer, and by the name of the file.
func (c *call) static() bool {
	if c.Method != "GET" && c.Method != "HEAD" || slices.Contains([]string{"xhr", "fetch"}, c.Kind) &&
		!staticTypes.MatchString(c.MIME) {
		return false
	}
	return slices.Contains(staticKinds, c.Kind) || staticTypes.MatchString(c.MIME) ||
		slices.Contains(staticFiles, strings.ToLower(path.Ext(c.url.Path)))
}

var (
	// analyticsHosts are of services that count visitors, record sessions, sell advertisements or collect errors.
	analyticsHosts = regexp.MustCompile(`(^|\.)(google-analytics|googletagmanager|googleadservices|doubleclick|` +
		`googlesyndication|hotjar|segment|mixpanel|amplitude|heap|heapanalytics|fullstory|mouseflow|clarity|sentry|` +
		`bugsnag|newrelic|nr-data|datadoghq|browser-intake-datadoghq|plausible|matomo|piwik|statcounter|quantserve|` +
		`scorecardresearch|chartbeat|optimizely|intercom|hs-analytics|hs-scripts|yandex-team|bing|facebook|` +
		`connect\.facebook|cloudflareinsights|posthog|rollbar|logrocket|pendo)\.(com|net|io|cloud|org|ms|ru|eu)$|` +
		`^mc\.yandex\.`)
	// analyticsPaths are where sites of one's own have them.
	analyticsPaths = regexp.MustCompile(`(?i)/(matomo|piwik)\.php$|^/cdn-cgi/rum|^/_vercel/(insights|speed)|` +
		`/(g|j|r)/collect$|^/api/\d+/(envelope|store)/?$|/__utm\.gif$|/gtag/js`)
)

func (c *call) analytics() bool {
	return c.Kind == "ping" || c.Kind == "beacon" || c.Kind == "csp-violation-report" ||
		analyticsHosts.MatchString(c.url.Hostname()) || analyticsPaths.MatchString(c.url.Path)
}

// leaveRepeated leaves out requests that were answered with 401 and that the page repeated with success, as it does
// when a token has expired: between the two it got a new one.
func leaveRepeated(calls []*call) {
	for i, c := range calls {
		if c.left != "" || c.Status != 401 {
			continue
		}
		for _, later := range calls[i+1:] {
			if later.left == "" && later.Method == c.Method && later.URL == c.URL && later.Status < 400 {
				c.left = Refused
				break
			}
		}
	}
}
