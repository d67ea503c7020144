package human

import "regexp"

// mask replaces a secret.
const mask = "***"

var (
	// scheme://user:secret@host. The secret may contain an unescaped '@' or '/', so everything up to the last '@'
	// before a space or a quote is masked.
	userinfo = regexp.MustCompile("([a-zA-Z][a-zA-Z0-9+.-]*://[^\\s:/@'\"`]*):[^\\s'\"`]*@")
	// password=secret, password='se cret', sslpassword=…, ?password=…; also
	// "password": "secret" and PGPASSWORD=….
	keyword = regexp.MustCompile(`(?i)(password["']?\s*[=:]\s*)('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"|[^\s&;,"'` + "`" +
		`]+)`)
	// The location of a password file is no secret; a token in a header is.
	bearer = regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/=-]+`)
)

// Redact is s with every secret masked: passwords in connection strings, anywhere in the text.
func Redact(s string) string {
	s = userinfo.ReplaceAllString(s, "$1:"+mask+"@")
	s = keyword.ReplaceAllString(s, "${1}"+mask)
	return bearer.ReplaceAllString(s, "${1}"+mask)
}
