// Package secret owns secrets that people keep in files, and the check of a secret that a request brings as its bearer
// token.
package secret

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"plimsoll/ground/problem"
)

// Lengths of a secret in bytes.
const (
	LengthMin = 12
	LengthMax = 4096
)

const hint = "write one line of at least 12 characters, such as: (umask 077; head -c 24 /dev/urandom | base64 > FILE)"

// everybody may read a file of this mode.
const everybody = 0o004

// File reads the secret in a file: its only line. What everybody on the machine can read is no secret.
func File(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", problem.New(problem.Usage, fmt.Errorf("read secret: %w", err), "")
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&everybody != 0 {
		return "", problem.New(problem.Usage, fmt.Errorf("%s: every user of this machine can read the secret", path),
			"chmod 600 FILE, and change the secret if others had access")
	}
	text, err := Read(f)
	if err != nil {
		err = problem.New(problem.Usage, fmt.Errorf("%s: %w", path, err), problem.HintOf(err))
	}
	return text, err
}

// Read reads the only line there is.
func Read(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, LengthMax+2))
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	switch {
	case len(text) < LengthMin:
		err = fmt.Errorf("the secret has fewer than %d characters", LengthMin)
	case len(text) > LengthMax:
		err = fmt.Errorf("the secret is longer than %d bytes", LengthMax)
	case !utf8.Valid(text) || bytes.ContainsAny(text, "\n\r\x00"):
		err = errors.New("the secret is not one line of text")
	}
	if err != nil {
		return "", problem.New(problem.Usage, err, hint)
	}
	return string(text), nil
}

// Bearer gives the bearer token of a request.
func Bearer(r *http.Request) (token string, found bool) {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, strings.EqualFold(kind, "Bearer") && token != ""
}

// Held reports whether a request has the secret; no request has an empty one. Every wrong one takes equally long.
func Held(r *http.Request, want string) bool {
	token, found := Bearer(r)
	given, wanted := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(given[:], wanted[:]) == 1 && found && want != ""
}

// Required lets only those pass who bring the secret.
func Required(want string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Held(r, want) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is required: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
