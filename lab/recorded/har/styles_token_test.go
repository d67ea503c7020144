package har_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
)

// bearer is whose token a request has in a header, behind a word.
func (o *office) bearer(r *http.Request, word string) string {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), word)
	if !found {
		return ""
	}
	return o.whose(token)
}

// items answers who may ask.
func items(o *office, mux *http.ServeMux, who func(*http.Request) string) {
	mux.HandleFunc("GET /api/items", func(w http.ResponseWriter, r *http.Request) {
		if o.work(w, who(r)) {
			answer(w, `{"items":[]}`)
		}
	})
	mux.HandleFunc("POST /api/items", func(w http.ResponseWriter, r *http.Request) {
		if o.work(w, who(r)) {
			w.WriteHeader(http.StatusCreated)
		}
	})
}

func start(mux *http.ServeMux, page string) {
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { answer(w, "%s", page) })
}

// A token in a meta tag goes into a header of every request; it is another one after the log-in.
func metaTag(o *office, mux *http.ServeMux) {
	page := func(w http.ResponseWriter, r *http.Request, user string) {
		answer(w, `<html><head><meta name="viewport" content="width=device-width"><meta name="csrf-token" `+
			`content="%s"></head><body></body></html>`, o.issue("csrf "+user))
	}
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) { page(w, r, "") })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		user, password := credentialsIn(r)
		if o.whose(r.Header.Get("X-CSRF-Token")) != "csrf " || !o.login(user, password) {
			refuse(w, "no")
			return
		}
		o.setSession(w, user)
		answer(w, `{"redirect":"/desk"}`)
	})
	mux.HandleFunc("GET /desk", func(w http.ResponseWriter, r *http.Request) {
		if _, user := o.cookieOf(r, "sessionid"); o.work(w, user) {
			page(w, r, user)
		}
	})
	mux.HandleFunc("DELETE /api/items/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, user := o.cookieOf(r, "sessionid")
		if o.whose(r.Header.Get("X-CSRF-Token")) != "csrf "+user {
			refuse(w, "wrong token")
		} else if o.work(w, user) {
			w.WriteHeader(http.StatusNoContent)
		}
	})
}

func visitMeta(v *visitor) {
	token := v.open("/login").between(`csrf-token" content="`, `"`)
	v.think()
	v.fetch("POST", "/login", aliceJSON, "X-CSRF-Token", token)
	token = v.open("/desk").between(`csrf-token" content="`, `"`)
	v.think()
	v.fetch("DELETE", "/api/items/7", "", "X-CSRF-Token", token)
	v.fetch("DELETE", "/api/items/8", "", "X-CSRF-Token", token)
}

// A token with signs that JSON escapes, in a script of the page.
func inScript(o *office, mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, `<script>var a = 1; window.config = {"lang":"en","csrf":"%s\u002B\/x","n":3}</script>`,
			o.issue("csrf"))
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		user, password := credentialsIn(r)
		token, whole := strings.CutSuffix(r.Header.Get("X-Requested-By"), "+/x")
		if !whole || o.take(token) != "csrf" || !o.login(user, password) {
			refuse(w, "no")
			return
		}
		o.setSession(w, user)
		answer(w, `{"ok":true}`)
	})
	desk(o, mux)
}

func visitScript(v *visitor) {
	token := v.open("/login").between(`"csrf":"`, `\u002B`) + "+/x"
	v.think()
	v.fetch("POST", "/login", aliceJSON, "X-Requested-By", token)
	v.think()
	v.open("/desk")
}

// A cookie, escaped as an address is, returns in a header without its escapes.
func cookieAndHeader(o *office, mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "XSRF-TOKEN", Value: url.QueryEscape(o.issue("xsrf") + "+/="), Path: "/"})
		answer(w, "<h1>Hello</h1>")
	})
	guard := func(r *http.Request) bool {
		c, err := r.Cookie("XSRF-TOKEN")
		return err == nil && url.QueryEscape(r.Header.Get("X-XSRF-TOKEN")) == c.Value &&
			o.whose(strings.TrimSuffix(r.Header.Get("X-XSRF-TOKEN"), "+/=")) == "xsrf"
	}
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		user, password := credentialsIn(r)
		if !guard(r) || !o.login(user, password) {
			refuse(w, "no")
			return
		}
		o.setSession(w, user)
		w.WriteHeader(http.StatusNoContent)
	})
	items(o, mux, func(r *http.Request) string {
		if _, user := o.cookieOf(r, "sessionid"); r.Method == "GET" || guard(r) {
			return user
		}
		return ""
	})
}

func visitCookieAndHeader(v *visitor) {
	v.open("/")
	token := ""
	base, _ := url.Parse(v.base)
	for _, c := range v.jar.Cookies(base) {
		if c.Name == "XSRF-TOKEN" {
			token, _ = url.QueryUnescape(c.Value)
		}
	}
	v.think()
	v.fetch("POST", "/login", aliceJSON, "X-XSRF-TOKEN", token)
	v.think()
	v.fetch("GET", "/api/items", "")
	v.think()
	v.fetch("POST", "/api/items", `{"name":"a"}`, "X-XSRF-TOKEN", token)
}

func tokenIn(shape string) func(*office, *http.ServeMux) {
	return func(o *office, mux *http.ServeMux) {
		start(mux, "<h1>Hello</h1>")
		mux.HandleFunc("POST /api/login", func(w http.ResponseWriter, r *http.Request) {
			user, password := credentialsIn(r)
			if !o.login(user, password) {
				http.Error(w, "wrong", http.StatusUnauthorized)
				return
			}
			answer(w, shape, o.issue(user))
		})
		items(o, mux, func(r *http.Request) string { return o.bearer(r, "Bearer ") + o.bearer(r, "Token ") })
	}
}

func visitToken(word string, path ...string) func(*visitor) {
	return func(v *visitor) {
		v.open("/")
		v.think()
		token := v.fetch("POST", "/api/login", aliceJSON).json(path...)
		v.think()
		v.fetch("GET", "/api/items", "", "Authorization", word+token)
		v.think()
		v.fetch("POST", "/api/items", `{"name":"a \"b\"","n":2,"id":"{{7}}"}`, "Authorization", word+token)
	}
}

func tokenInHeader(o *office, mux *http.ServeMux) {
	start(mux, "<h1>Hello</h1>")
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		user, password := r.FormValue("email"), r.FormValue("pwd")
		if !o.login(user, password) {
			refuse(w, "no")
			return
		}
		w.Header().Set("X-Auth-Token", o.issue(user))
		w.WriteHeader(http.StatusNoContent)
	})
	items(o, mux, func(r *http.Request) string { return o.whose(r.Header.Get("X-Auth-Token")) })
}

func visitTokenInHeader(v *visitor) {
	v.open("/")
	v.think()
	p := v.send(asked{method: "POST", address: "/login", kind: "xhr", contentType: "application/x-www-form-urlencoded",
		body: url.Values{"email": {alice}, "pwd": {alicePassword}}.Encode()})
	v.think()
	v.fetch("GET", "/api/items", "", "X-Auth-Token", p.head.Get("X-Auth-Token"))
}

// As OAuth does it: the log-in leads back with a code, which the page's script takes from its address and changes for
// a token. The state comes from the page and must return.
func codeInRedirect(o *office, mux *http.ServeMux) {
	start(mux, "<h1>Hello</h1>")
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		answer(w, loginPage, hiddenInput("state", r.FormValue("state"))+hiddenInput("challenge", o.issue("challenge")))
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		user := r.FormValue("username")
		if o.take(r.FormValue("challenge")) != "challenge" || !o.login(user, r.FormValue("password")) {
			refuse(w, "no")
			return
		}
		http.Redirect(w, r, "/callback?"+url.Values{"code": {o.issue(user)}, "state": {r.FormValue("state")}}.Encode(),
			http.StatusFound)
	})
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, _ *http.Request) { answer(w, "<h1>One moment</h1>") })
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if user := o.take(r.FormValue("code")); user != "" {
			answer(w, `{"access_token":"%s","token_type":"Bearer","expires_in":3600}`, o.issue(user))
			return
		}
		refuse(w, "wrong code")
	})
	items(o, mux, func(r *http.Request) string { return o.bearer(r, "Bearer ") })
}

func visitCode(v *visitor) {
	v.open("/")
	v.think()
	p := v.open("/authorize?client_id=office&state=f00dfeed12345678").submit(1,
		map[string]string{"username": alice, "password": alicePassword})
	token := v.send(asked{method: "POST", address: "/token", kind: "fetch",
		contentType: "application/x-www-form-urlencoded",
		body:        url.Values{"code": {p.at.Query().Get("code")}, "grant_type": {"authorization_code"}}.Encode()}).
		json("access_token")
	v.think()
	v.fetch("GET", "/api/items", "", "Authorization", "Bearer "+token)
}

// The token stands behind the # of an address, which only the page's script sees.
func tokenInFragment(o *office, mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { answer(w, loginPage, "") })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if user := r.FormValue("username"); o.login(user, r.FormValue("password")) {
			http.Redirect(w, r, "/app#token_type=bearer&access_token="+o.issue(user)+"&expires_in=60", http.StatusFound)
			return
		}
		refuse(w, "no")
	})
	mux.HandleFunc("GET /app", func(w http.ResponseWriter, _ *http.Request) { answer(w, "<h1>App</h1>") })
	items(o, mux, func(r *http.Request) string { return o.bearer(r, "Bearer ") })
}

func visitFragment(v *visitor) {
	v.open("/login")
	p := v.send(asked{method: "POST", address: "/login", kind: "document",
		contentType: "application/x-www-form-urlencoded",
		body:        url.Values{"username": {alice}, "password": {alicePassword}}.Encode()})
	_, token, _ := strings.Cut(p.head.Get("Location"), "access_token=")
	token, _, _ = strings.Cut(token, "&")
	v.follow(p)
	v.think()
	v.fetch("GET", "/api/items", "", "Authorization", "Bearer "+token)
}

// A token expires, and the page gets another by one that serves once and is itself replaced.
func renewed(o *office, mux *http.ServeMux) {
	start(mux, "<h1>Hello</h1>")
	pair := func(w http.ResponseWriter, user string) {
		answer(w, `{"access":"%s","refresh":"%s"}`, o.issue(user), o.issue("renew "+user))
	}
	mux.HandleFunc("POST /api/login", func(w http.ResponseWriter, r *http.Request) {
		if user, password := credentialsIn(r); o.login(user, password) {
			pair(w, user)
			return
		}
		refuse(w, "no")
	})
	mux.HandleFunc("POST /api/refresh", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, token, _ := strings.Cut(string(body), `"refresh":"`)
		token, _, _ = strings.Cut(token, `"`)
		user, renews := strings.CutPrefix(o.take(token), "renew ")
		if !renews {
			http.Error(w, "used before", http.StatusUnauthorized)
			return
		}
		pair(w, user)
	})
	mux.HandleFunc("GET /api/items", func(w http.ResponseWriter, r *http.Request) {
		user := o.bearer(r, "Bearer ")
		if user == "" {
			http.Error(w, "expired", http.StatusUnauthorized)
		} else if o.work(w, user) {
			answer(w, `[]`)
		}
	})
	mux.HandleFunc("POST /expire", func(http.ResponseWriter, *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		maps.DeleteFunc(o.passes, func(_, whose string) bool { return staff[whose] != "" })
	})
}

func visitRenewed(v *visitor) {
	v.open("/")
	v.think()
	p := v.fetch("POST", "/api/login", aliceJSON)
	for range 2 {
		v.think()
		v.fetch("GET", "/api/items", "", "Authorization", "Bearer "+p.json("access"))
		v.think()
		if _, err := http.Post(v.base+"/expire", "", nil); err != nil { // not recorded
			v.t.Fatal(err)
		}
		v.fetch("GET", "/api/items", "", "Authorization", "Bearer "+p.json("access")) // 401
		p = v.fetch("POST", "/api/refresh", `{"refresh":"`+p.json("refresh")+`"}`)
		v.fetch("GET", "/api/items", "", "Authorization", "Bearer "+p.json("access"))
	}
}

// A script of the page puts the token into a cookie.
func cookieByScript(o *office, mux *http.ServeMux) {
	start(mux, "<h1>Hello</h1>")
	mux.HandleFunc("POST /api/login", func(w http.ResponseWriter, r *http.Request) {
		if user, password := credentialsIn(r); o.login(user, password) {
			answer(w, `{"message":{"token":"%s"}}`, o.issue(user))
			return
		}
		refuse(w, "no")
	})
	items(o, mux, func(r *http.Request) string {
		_, user := o.cookieOf(r, "token")
		return user
	})
}

func visitCookieByScript(v *visitor) {
	v.open("/")
	v.think()
	token := v.fetch("POST", "/api/login", aliceJSON).json("message", "token")
	base, _ := url.Parse(v.base)
	v.jar.SetCookies(base, []*http.Cookie{{Name: "token", Value: token, Path: "/"}, {Name: "theme", Value: "dark"}})
	v.think()
	v.send(asked{method: "GET", address: "/api/items", kind: "fetch", headers: map[string]string{}})
}

func basicAuth(o *office, mux *http.ServeMux) {
	items(o, mux, func(r *http.Request) string {
		user, password, _ := r.BasicAuth()
		if !o.login(user, password) {
			return ""
		}
		return user
	})
}

func visitBasic(v *visitor) {
	r, _ := http.NewRequest("GET", v.base, nil)
	r.SetBasicAuth(alice, alicePassword)
	v.fetch("GET", "/api/items", "", "Authorization", r.Header.Get("Authorization"))
	v.think()
	v.fetch("POST", "/api/items", `{"name":"a"}`, "Authorization", r.Header.Get("Authorization"))
}

// Things get numbers when they are made, and are gone when they are deleted.
func making(o *office, mux *http.ServeMux) {
	start(mux, "<h1>Hello</h1>")
	var number atomic.Int64
	number.Store(16)
	mux.HandleFunc("POST /api/login", func(w http.ResponseWriter, r *http.Request) {
		if user, password := credentialsIn(r); o.login(user, password) {
			o.setSession(w, user)
			return
		}
		refuse(w, "no")
	})
	own := func(do func(w http.ResponseWriter, r *http.Request, user, id string)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, user := o.cookieOf(r, "sessionid")
			id := r.PathValue("id")
			if id != "" && o.whose("order "+id) != user {
				http.Error(w, "no such order "+id, http.StatusNotFound)
			} else if o.work(w, user) {
				do(w, r, user, id)
			}
		}
	}
	mux.HandleFunc("POST /api/orders", own(func(w http.ResponseWriter, r *http.Request, user, _ string) {
		id := strconv.FormatInt(number.Add(1), 10)
		o.mu.Lock()
		o.passes["order "+id] = user
		o.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, `{"order":{"id":%s,"state":"new"}}`, id)
	}))
	mux.HandleFunc("GET /api/orders/{id}", own(func(w http.ResponseWriter, _ *http.Request, _, id string) {
		answer(w, `{"id":%s}`, id)
	}))
	mux.HandleFunc("POST /api/lines", own(func(w http.ResponseWriter, r *http.Request, user, _ string) {
		body, _ := io.ReadAll(r.Body)
		_, id, _ := strings.Cut(string(body), `"order_id":`)
		id, _, _ = strings.Cut(id, ",")
		if o.whose("order "+id) != user {
			http.Error(w, "no such order", http.StatusNotFound)
		}
	}))
	mux.HandleFunc("DELETE /api/orders/{id}", own(func(w http.ResponseWriter, _ *http.Request, _, id string) {
		o.take("order " + id)
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		pass, _ := o.cookieOf(r, "sessionid")
		o.take(pass)
	})
}

func visitMaking(v *visitor) {
	v.open("/")
	v.think()
	v.fetch("POST", "/api/login", aliceJSON)
	v.think()
	made := v.fetch("POST", "/api/orders", `{"customer":1}`)
	id := strings.TrimSuffix(strings.SplitN(made.body, `"id":`, 2)[1], `,"state":"new"}}`)
	v.think()
	v.fetch("GET", "/api/orders/"+id, "")
	v.think()
	v.fetch("POST", "/api/lines", `{"order_id":`+id+`,"item":17}`)
	v.think()
	v.fetch("DELETE", "/api/orders/"+id, "")
	v.think()
	v.fetch("POST", "/logout", "")
}
