// Package requesttest owns a web application for tests: a shop as web frameworks make them, with a form to log in,
// cookies, hidden fields against forged requests, and redirects after each form.
package requesttest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Shop is a running shop.
type Shop struct {
	*httptest.Server
	Orders      atomic.Int64
	Forged      atomic.Int64 // requests without the right hidden field or session
	Styles      atomic.Int64 // style sheets sent
	Connections atomic.Int64 // accepted

	mu      sync.Mutex
	visits  int
	persons map[string]*person // by the session's cookie
}

type person struct {
	name string
	cart []string
}

// New starts a shop; start, if not nil, does so in another way than plain HTTP/1.1.
func New(t testing.TB, start func(*httptest.Server)) *Shop {
	t.Helper()
	s := &Shop{persons: map[string]*person{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", s.loginPage)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("GET /account", s.known(func(w http.ResponseWriter, r *http.Request, _ *person) {
		http.Redirect(w, r, "/items", http.StatusFound)
	}))
	mux.HandleFunc("GET /items", s.known(s.items))
	mux.HandleFunc("GET /items/{id}", s.known(s.item))
	mux.HandleFunc("POST /cart", s.known(s.add))
	mux.HandleFunc("GET /cart", s.known(s.cart))
	mux.HandleFunc("POST /order", s.known(s.order))
	mux.HandleFunc("GET /orders/{n}", s.known(s.thanks))
	mux.HandleFunc("GET /static/{name}", func(w http.ResponseWriter, _ *http.Request) {
		s.Styles.Add(1)
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, "body { color: black }")
	})
	s.Server = httptest.NewUnstartedServer(mux)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.Connections.Add(1)
		}
	}
	if start == nil {
		start = (*httptest.Server).Start
	}
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

// page around a content.
func page(w http.ResponseWriter, title, content string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html><html><head><title>%[1]s</title><link rel=stylesheet href=/static/app.css></head>"+
		"<body><h1>%[1]s</h1>\n%s</body></html>", title, content)
}

// hidden field of a visitor's forms: not the cookie itself, so that a page must be read.
func hidden(r *http.Request) string {
	c, err := r.Cookie("csrftoken")
	if err != nil {
		return ""
	}
	return "masked-" + c.Value
}

func field(value string) string { return `<input type="hidden" name="csrf" value="` + value + `">` }

// forged requests lack the hidden field.
func (s *Shop) forged(w http.ResponseWriter, r *http.Request) bool {
	if want := hidden(r); want != "" && r.PostFormValue("csrf") == want {
		return false
	}
	s.Forged.Add(1)
	http.Error(w, "CSRF verification failed", http.StatusForbidden)
	return true
}

func (s *Shop) loginPage(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.visits++
	token := "t" + strconv.Itoa(s.visits)
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: "csrftoken", Value: token, Path: "/"})
	page(w, "Log in", `<form method="post">`+field("masked-"+token)+`<input name="name"><input name="password"></form>`)
}

func (s *Shop) login(w http.ResponseWriter, r *http.Request) {
	if s.forged(w, r) {
		return
	}
	name := r.PostFormValue("name")
	if name == "" || r.PostFormValue("password") != "secret of "+name {
		page(w, "Log in", `<ul class="error"><li>Wrong name or password</li></ul>`) // as frameworks do, with status 200
		return
	}
	s.mu.Lock()
	session := "s" + strconv.Itoa(len(s.persons)+1)
	s.persons[session] = &person{name: name}
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: "session", Value: session, Path: "/", HttpOnly: true})
	http.Redirect(w, r, "/account", http.StatusSeeOther)
}

// known persons have a session; others are sent to the log-in.
func (s *Shop) known(do func(http.ResponseWriter, *http.Request, *person)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("session")
		s.mu.Lock()
		var p *person
		if err == nil {
			p = s.persons[c.Value]
		}
		s.mu.Unlock()
		if p == nil {
			s.Forged.Add(1)
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		do(w, r, p)
	}
}

func (s *Shop) items(w http.ResponseWriter, _ *http.Request, p *person) {
	page(w, "Items", `<p id="user">`+p.name+`</p><a class="item" href="/items/1">One</a>`)
}

func (s *Shop) item(w http.ResponseWriter, r *http.Request, _ *person) {
	page(w, "Item "+r.PathValue("id"), `<form method="post" action="/cart">`+field(hidden(r))+
		`<input type="hidden" name="item" value="`+r.PathValue("id")+`"></form>`)
}

func (s *Shop) add(w http.ResponseWriter, r *http.Request, p *person) {
	if s.forged(w, r) {
		return
	}
	s.mu.Lock()
	p.cart = append(p.cart, r.PostFormValue("item"))
	s.mu.Unlock()
	http.Redirect(w, r, "/cart", http.StatusFound)
}

func (s *Shop) cart(w http.ResponseWriter, r *http.Request, p *person) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page(w, "Cart", `<p>`+strings.Join(p.cart, ", ")+`</p><p>Total: `+strconv.Itoa(len(p.cart))+`.50</p>`+
		`<form method="post" action="/order">`+field(hidden(r))+`</form>`)
}

func (s *Shop) order(w http.ResponseWriter, r *http.Request, p *person) {
	if s.forged(w, r) {
		return
	}
	s.mu.Lock()
	empty := len(p.cart) == 0
	p.cart = nil
	s.mu.Unlock()
	if empty {
		http.Error(w, "the cart is empty", http.StatusConflict)
		return
	}
	http.Redirect(w, r, "/orders/"+strconv.FormatInt(s.Orders.Add(1), 10), http.StatusSeeOther)
}

func (s *Shop) thanks(w http.ResponseWriter, r *http.Request, _ *person) {
	page(w, "Thank you", `<p>Order `+r.PathValue("n")+`</p>`)
}
