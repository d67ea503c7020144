package har

import (
	"regexp"
	"strings"
	"time"

	"plimsoll/ground/human"
)

// strength says how surely a value that returns was made by a program to be told from others, and is no coincidence.
type strength int

const (
	word   strength = iota // a word, a path, a date: people and programs write the same
	short                  // a small number or a short code, which may be anywhere
	unique                 // a token, a UUID, a long number
)

var (
	uuids  = regexp.MustCompile(`(?i)^\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?$`)
	digits = regexp.MustCompile(`^[0-9]+$`)
	runs   = regexp.MustCompile(`[A-Za-z0-9]+`)
	// notRandom are values with an order of their own: addresses, types, dates, numbers with a point.
	notRandom = regexp.MustCompile(`^(https?:|/|\./|\?|#)|^[^@\s]+@[^@\s]+\.[a-z]+$|^[a-z]+/[a-z0-9.+-]+(;|$)|` +
		`^\d{4}-\d\d-\d\d|^[\d.,:%+-]+$`)
)

// uniqueDigits is the length from which a number is an identifier of its own.
const uniqueDigits = 9

func strengthOf(v string) strength {
	switch {
	case digits.MatchString(v):
		if len(v) >= uniqueDigits {
			return unique
		}
		return short
	case len(v) < 2 || len(v) > 1<<14 || strings.ContainsAny(v, " \t\r\n<>{}") || notRandom.MatchString(v):
		return word
	case uuids.MatchString(v):
		return unique
	}
	for _, run := range runs.FindAllString(v, -1) {
		if random(run) {
			return unique
		}
	}
	if len(v) <= 12 && strings.ContainsAny(v, "0123456789") {
		return short
	}
	return word
}

// random says whether letters and digits are mixed as no word is.
func random(run string) bool {
	const least, leastLetters = 8, 12
	var numbers, letters, turns int // turns from lower case to upper and back
	var before rune
	for _, c := range run {
		switch {
		case c >= '0' && c <= '9':
			numbers++
		default:
			letters++
			if before != 0 && (c >= 'a') != (before >= 'a') {
				turns++
			}
			before = c
		}
	}
	return len(run) >= least && numbers >= 2 && letters >= 2 || len(run) >= 2*least && numbers > 0 && letters > 0 ||
		len(run) >= leastLetters && letters == len(run) && 5*turns >= 2*len(run)
}

// isTime says whether a number is the time of the recording, in seconds or in milliseconds.
func isTime(v string, around time.Time) bool {
	if !digits.MatchString(v) || len(v) != 10 && len(v) != 13 {
		return false
	}
	var n int64
	for _, c := range v {
		n = 10*n + int64(c-'0')
	}
	at := time.Unix(n, 0)
	if len(v) == 13 {
		at = time.UnixMilli(n)
	}
	return at.Sub(around).Abs() < 48*time.Hour
}

// abbreviated is enough to find a value in the recording, and too little to use a secret.
func abbreviated(v string) string {
	const most = 12
	if r := []rune(v); len(r) > most {
		return string(r[:most-4]) + "…"
	}
	return v
}

var (
	passwordNames = regexp.MustCompile(`(?i)pass_?(word|wd|phrase|code)?($|[^a-z])|passw|^pwd|pwd$|passwort|kennwort|` +
		`^pin$|contrase|mot_?de_?passe|(^|[^a-z])pass[0-9]?$|parol`)
	userNames = regexp.MustCompile(`(?i)user|login|e?mail|account|benutzer|phone|member|^name$|^nick|^id$|` +
		`^handle$|ident`)
	// secretNames are headers and parameters that say who asks, besides those whose names say that they are secret.
	secretNames = regexp.MustCompile(`(?i)^(x-auth.*|key|sig)$`)

	sessions = regexp.MustCompile(`(?i)sess|^sid$|auth|token|jwt|remember|connect\.sid`)
	logouts  = regexp.MustCompile(`(?i)(log|sign)[-_]?(out|off)|abmelden`)
	idNames  = regexp.MustCompile(`(?i)^(id|pk|uuid|guid|key|number|no|slug|code|ref)$|[_-]?(id|uuid|no|number)$|Id$`)
)

// saysWhoAsks is the name of a header or parameter whose value belongs to a person or a program.
func saysWhoAsks(name string) bool { return human.SecretName(name) || secretNames.MatchString(name) }

// subject is what an identifier belongs to: cart for cart_id, cartId, carts.
func subject(name string) string {
	name = strings.ToLower(name)
	for _, tail := range []string{"_id", "-id", "id", "_uuid", "_pk", "s"} {
		if rest := strings.TrimSuffix(name, tail); rest != "" && rest != name {
			return strings.TrimSuffix(rest, "s")
		}
	}
	return name
}
