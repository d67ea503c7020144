// Package redact owns hiding secrets in text that a person, a log or a report
// will see: passwords in connection strings, wherever they stand in the text.
package redact

import "regexp"

// Mask stands where a secret was.
const Mask = "***"

var (
	// scheme://user:secret@host; the secret may itself hold an unescaped '@' or
	// '/', so everything up to the last '@' before a blank or a quote goes.
	userinfo = regexp.MustCompile("([a-zA-Z][a-zA-Z0-9+.-]*://[^\\s:/@'\"`]*):[^\\s'\"`]*@")
	// password=secret, password='se cret', sslpassword=…, ?password=…; also
	// "password": "secret" and PGPASSWORD=….
	keyword = regexp.MustCompile(`(?i)(password["']?\s*[=:]\s*)('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"|[^\s&;,"'` + "`" + `]+)`)
	// The password file's location tells nobody the secret, a token in a header does.
	bearer = regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/=-]+`)
)

// Text is s with every secret it carries masked.
func Text(s string) string {
	s = userinfo.ReplaceAllString(s, "$1:"+Mask+"@")
	s = keyword.ReplaceAllString(s, "${1}"+Mask)
	return bearer.ReplaceAllString(s, "${1}"+Mask)
}
