package human

import "regexp"

// Masked stands for a secret.
const Masked = "***"

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
	// secretName is a part of the name of what holds a secret.
	secretName = regexp.MustCompile(`(?i)passw|passphrase|pass$|pwd|secret|token|credential|api[-_]?key|csrf|xsrf|` +
		`session|authoriz|cookie|signature`)
)

// SecretName says whether the value of a header, field, parameter or variable of this name is a secret.
func SecretName(name string) bool { return secretName.MatchString(name) }

// EachText of a tree of JSON is replaced by what change gives for it, in place.
func EachText(tree any, change func(string) string) any {
	switch value := tree.(type) {
	case map[string]any:
		for key := range value {
			value[key] = EachText(value[key], change)
		}
	case []any:
		for i := range value {
			value[i] = EachText(value[i], change)
		}
	case string:
		return change(value)
	}
	return tree
}

// Redact is s with every secret masked: passwords in connection strings, anywhere in the text.
func Redact(s string) string {
	s = userinfo.ReplaceAllString(s, "$1:"+Masked+"@")
	s = keyword.ReplaceAllString(s, "${1}"+Masked)
	return bearer.ReplaceAllString(s, "${1}"+Masked)
}
