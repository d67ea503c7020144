package har_test

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// office is what the servers of all styles have in common: who works there, what they were given, what they did.
type office struct {
	mu       sync.Mutex
	passes   map[string]string // of tokens, sessions, nonces, codes: whose they are
	worked   map[string]int
	loggedIn map[string]int
	last     int // number of the last thing made
	things   map[int]string
}

var staff = map[string]string{"alice@office.example": "s3cret of A & B", "bob": "hunter22", "carol": `pa"ss w\ord`}

func newOffice() *office {
	return &office{passes: map[string]string{}, worked: map[string]int{}, loggedIn: map[string]int{},
		things: map[int]string{}, last: 16}
}

// issue a pass that nobody can guess.
func (o *office) issue(whose string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	raw := make([]byte, 12)
	_, _ = rand.Read(raw)
	pass := hex.EncodeToString(raw)
	o.passes[pass] = whose
	return pass
}

// whose pass it is; "" is nobody's.
func (o *office) whose(pass string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.passes[pass]
}

// take a pass that serves once.
func (o *office) take(pass string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	whose := o.passes[pass]
	delete(o.passes, pass)
	return whose
}

// login says whether the password is right.
func (o *office) login(user, password string) bool {
	if staff[user] == "" || staff[user] != password {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.loggedIn[user]++
	return true
}

// work is done by somebody, or refused.
func (o *office) work(w http.ResponseWriter, user string) bool {
	if staff[user] == "" {
		http.Error(w, "who are you?", http.StatusForbidden)
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.worked[user]++
	return true
}

// cookieOf is whose session a request has.
func (o *office) cookieOf(r *http.Request, name string) (pass, user string) {
	c, err := r.Cookie(name)
	if err != nil {
		return "", ""
	}
	return c.Value, o.whose(c.Value)
}

func (o *office) setSession(w http.ResponseWriter, user string) string {
	pass := o.issue(user)
	http.SetCookie(w, &http.Cookie{Name: "sessionid", Value: pass, Path: "/", HttpOnly: true})
	return pass
}

// credentialsIn a body of JSON.
func credentialsIn(r *http.Request) (user, password string) {
	var sent struct{ Username, Password string }
	_ = json.NewDecoder(r.Body).Decode(&sent)
	return sent.Username, sent.Password
}

func answer(w http.ResponseWriter, text string, values ...any) {
	if text != "" && (text[0] == '{' || text[0] == '[') {
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	_, _ = io.WriteString(w, fmt.Sprintf(text, values...))
}

func refuse(w http.ResponseWriter, why string) { http.Error(w, why, http.StatusForbidden) }
