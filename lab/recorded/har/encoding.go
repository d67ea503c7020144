package har

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"
)

// decodeURL before an extraction takes the escapes of an address away.
const decodeURL = "urldecode:"

// escapes are forms in which an answer may have a value that a request has in another.
var escapes = []struct {
	prefix string         // of an extraction that undoes it
	shown  *regexp.Regexp // pieces of a text that have such escapes, as the group
	decode func(string) (string, bool)
}{
	{decodeURL, regexp.MustCompile(`([A-Za-z0-9_.~!*()+/=:-]*%[0-9A-Fa-f]{2}[A-Za-z0-9_.~!*()+/=:%-]*)`),
		func(s string) (string, bool) {
			plain, err := url.PathUnescape(s)
			return plain, err == nil
		}},
	{"jsondecode:", regexp.MustCompile(`"((?:[^"\\\n]|\\.)*\\(?:[^"\\\n]|\\.)*)"`),
		func(s string) (plain string, ok bool) {
			err := json.Unmarshal([]byte(`"`+s+`"`), &plain)
			return plain, err == nil
		}},
	{"htmldecode:", regexp.MustCompile(`([^\s"'<>=]*&#?[A-Za-z0-9]+;[^\s"'<>]*)`), func(s string) (string, bool) {
		return html.UnescapeString(s), true
	}},
}

// longestRun of letters and digits stands in every form of a value.
func longestRun(value string) (longest string) {
	for _, run := range runs.FindAllString(value, -1) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

// patternSource finds a value in a text as it is or escaped, and writes the regular expression that leads to it.
func patternSource(body, value string) (string, bool) {
	for at, tries := 0, 0; tries < 20; tries++ {
		next := strings.Index(body[at:], value)
		if next < 0 {
			break
		}
		at += next
		if whole(body, at, at+len(value)) {
			if pattern, ok := patternOf(body, at, at+len(value)); ok {
				return pattern, true
			}
		}
		at += len(value)
	}
	for _, e := range escapes {
		for _, at := range e.shown.FindAllStringSubmatchIndex(body, 10_000) {
			if plain, ok := e.decode(body[at[2]:at[3]]); ok && plain == value {
				if pattern, ok := patternOf(body, at[2], at[3]); ok {
					return e.prefix + pattern, true
				}
			}
		}
	}
	return "", false
}

func jsonEscaped(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(quoted[1 : len(quoted)-1])
}
