package har_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
)

func styles() []style {
	return []style{
		{"HiddenField", hiddenField, visitForms, true},
		{"FieldOfOneOfTwoForms", twoForms, visitSecondForm, true},
		{"NonceOfEachPage", nonces, visitNonces, true},
		{"StateOfAView", viewState, visitForms, true},
		{"MetaTag", metaTag, visitMeta, true},
		{"InAScriptOfThePage", inScript, visitScript, true},
		{"CookieAndHeader", cookieAndHeader, visitCookieAndHeader, true},
		{"SessionInTheAddress", sessionInAddress, visitSessionInAddress, true},
		{"NameAndPasswordOnTwoPages", twoPages, visitTwoPages, true},
		{"FormThatSendsItself", selfSending, visitSelfSending, true},
		{"TokenInJSON", tokenIn(`{"token":"%s"}`), visitToken("Bearer ", "token"), true},
		{"TokenDeepInJSON", tokenIn(`{"data":{"session":{"id.type":"x","keys":["no","maybe"],"access":"%s"}}}`),
			visitToken("Token ", "data", "session", "access"), true},
		{"TokenInAHeader", tokenInHeader, visitTokenInHeader, true},
		{"CodeInARedirect", codeInRedirect, visitCode, true},
		{"TokenInAFragment", tokenInFragment, visitFragment, true},
		{"TokenThatIsRenewed", renewed, visitRenewed, true},
		{"CookieThatAScriptSets", cookieByScript, visitCookieByScript, true},
		{"BasicAuthentication", basicAuth, visitBasic, false},
		{"WhatWasMadeIsUsed", making, visitMaking, true},
	}
}

// page with a form of a log-in and what hides in it.
const loginPage = `<html><body><form action="/search"><input name="q"></form>
<form method="post" action="/login">%s<input name="username"><input type="password" name="password"></form>
</body></html>`

func hiddenInput(name, value string) string {
	return fmt.Sprintf(`<input type="hidden" name="%s" value="%s">`, name, html.EscapeString(value))
}

// loginForm takes name and password of a form once the rest is right, and leads to the office.
func loginForm(o *office, w http.ResponseWriter, r *http.Request) {
	user := r.FormValue("username")
	if !o.login(user, r.FormValue("password")) {
		answer(w, loginPage, "wrong password") // as many applications do, with status 200
		return
	}
	o.setSession(w, user)
	http.Redirect(w, r, "/desk", http.StatusFound)
}

// A token that belongs to a cookie of the visitor, in every form.
func hiddenField(o *office, mux *http.ServeMux) {
	guard := func(w http.ResponseWriter, r *http.Request) bool {
		cookie, _ := o.cookieOf(r, "visitor")
		if cookie == "" || o.whose(r.FormValue("csrf_token")) != cookie {
			refuse(w, "wrong token")
			return false
		}
		return true
	}
	form := func(w http.ResponseWriter, r *http.Request, text string) {
		cookie, _ := o.cookieOf(r, "visitor")
		if cookie == "" {
			cookie = o.issue("a visitor")
			http.SetCookie(w, &http.Cookie{Name: "visitor", Value: cookie, Path: "/"})
		}
		answer(w, text, hiddenInput("csrf_token", o.issue(cookie)))
	}
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) { form(w, r, loginPage) })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if guard(w, r) {
			loginForm(o, w, r)
		}
	})
	mux.HandleFunc("GET /desk", func(w http.ResponseWriter, r *http.Request) {
		if _, user := o.cookieOf(r, "sessionid"); o.work(w, user) {
			form(w, r, `<form method="post" action="/memo">%s<input name="text"></form>`)
		}
	})
	mux.HandleFunc("POST /memo", func(w http.ResponseWriter, r *http.Request) {
		if _, user := o.cookieOf(r, "sessionid"); guard(w, r) && o.work(w, user) {
			http.Redirect(w, r, "/desk", http.StatusSeeOther)
		}
	})
}

func visitForms(v *visitor) {
	desk := v.open("/login").submit(1, map[string]string{"username": alice, "password": alicePassword})
	v.think()
	desk.submit(0, map[string]string{"text": "buy {{paper}} & pens"})
	v.think()
	v.open("/desk")
}

// The same name of a field in two forms of a page, each with a token that opens nothing else.
func twoForms(o *office, mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, loginPage, hiddenInput("token", o.issue("login")))
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if o.take(r.FormValue("token")) == "login" {
			loginForm(o, w, r)
			return
		}
		refuse(w, "wrong token")
	})
	mux.HandleFunc("GET /desk", func(w http.ResponseWriter, r *http.Request) {
		if _, user := o.cookieOf(r, "sessionid"); o.work(w, user) {
			answer(w, `<form method="post" action="/leave">%s</form><div><form method="post" action="/memo">%s`+
				`<input name="text"></form></div>`, hiddenInput("token", o.issue("leave")),
				hiddenInput("token", o.issue("memo")))
		}
	})
	mux.HandleFunc("POST /memo", func(w http.ResponseWriter, r *http.Request) {
		_, user := o.cookieOf(r, "sessionid")
		if o.take(r.FormValue("token")) != "memo" {
			refuse(w, "the token of another form")
		} else if o.work(w, user) {
			http.Redirect(w, r, "/desk", http.StatusSeeOther)
		}
	})
}

func visitSecondForm(v *visitor) {
	desk := v.open("/login").submit(1, map[string]string{"username": alice, "password": alicePassword})
	v.think()
	desk.submit(1, map[string]string{"text": "buy paper"})
}

// A nonce that serves once, of the page that was shown last.
func nonces(o *office, mux *http.ServeMux) {
	var last string
	shown := func() string {
		o.take(last)
		last = o.issue("page")
		return hiddenInput("nonce", last)
	}
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { answer(w, loginPage, shown()) })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if o.take(r.FormValue("nonce")) == "page" {
			loginForm(o, w, r)
			return
		}
		refuse(w, "this page is old")
	})
	desk := func(w http.ResponseWriter, r *http.Request) {
		if _, user := o.cookieOf(r, "sessionid"); o.work(w, user) {
			answer(w, `<form method="post" action="/memo">%s<input name="text"></form>`, shown())
		}
	}
	mux.HandleFunc("GET /desk", desk)
	mux.HandleFunc("POST /memo", func(w http.ResponseWriter, r *http.Request) {
		if o.take(r.FormValue("nonce")) != "page" {
			refuse(w, "this page is old")
			return
		}
		desk(w, r) // the answer is the next page, without a redirect
	})
}

func visitNonces(v *visitor) {
	desk := v.open("/login").submit(1, map[string]string{"username": alice, "password": alicePassword})
	v.think()
	desk = desk.submit(0, map[string]string{"text": "one"})
	v.think()
	desk.submit(0, map[string]string{"text": "two"})
}

// What the server remembers of a page, in several fields of base64, as ASP.NET has it.
func viewState(o *office, mux *http.ServeMux) {
	state := func() string {
		pass := o.issue("state")
		return hiddenInput("__VIEWSTATE", "/wEP+"+pass+"==") + hiddenInput("__EVENTTARGET", "") +
			hiddenInput("__VIEWSTATEGENERATOR", "C2EE9ABB")
	}
	guard := func(w http.ResponseWriter, r *http.Request) bool {
		sent := r.FormValue("__VIEWSTATE")
		if !strings.HasPrefix(sent, "/wEP+") || o.take(strings.Trim(sent, "/wEP+=")) != "state" {
			refuse(w, "invalid view state "+sent)
			return false
		}
		return true
	}
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { answer(w, loginPage, state()) })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if guard(w, r) {
			loginForm(o, w, r)
		}
	})
	mux.HandleFunc("GET /desk", func(w http.ResponseWriter, r *http.Request) {
		if _, user := o.cookieOf(r, "sessionid"); o.work(w, user) {
			answer(w, `<form method="post" action="/memo">%s<input name="text"></form>`, state())
		}
	})
	mux.HandleFunc("POST /memo", func(w http.ResponseWriter, r *http.Request) {
		if _, user := o.cookieOf(r, "sessionid"); guard(w, r) && o.work(w, user) {
			http.Redirect(w, r, "/desk", http.StatusSeeOther)
		}
	})
}

// The session stands in every address; there are no cookies.
func sessionInAddress(o *office, mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/login;jsessionid="+o.issue("a visitor"), http.StatusFound)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		path, session, _ := strings.Cut(r.URL.Path, ";jsessionid=")
		user := o.whose(session)
		link := func(path string) string { return path + ";jsessionid=" + session }
		switch {
		case user == "":
			refuse(w, "no session")
		case path == "/login" && r.Method == "GET":
			answer(w, `<form method="post" action="%s"><input name="username"><input name="password"></form>`,
				link("/login"))
		case path == "/login" && o.login(r.FormValue("username"), r.FormValue("password")):
			o.mu.Lock()
			o.passes[session] = r.FormValue("username")
			o.mu.Unlock()
			http.Redirect(w, r, link("/desk"), http.StatusFound)
		case path == "/desk" && o.work(w, user):
			answer(w, `<a href="%s">all</a>`, html.EscapeString(link("/list")+"?from=1&to=9"))
		case path == "/list" && o.work(w, user):
			answer(w, "nothing")
		}
	})
}

func visitSessionInAddress(v *visitor) {
	desk := v.open("/").submit(0, map[string]string{"username": alice, "password": alicePassword})
	v.think()
	v.open(html.UnescapeString(desk.between(`href="`, `"`)))
}

// The name comes first, and a token takes it to the page for the password.
func twoPages(o *office, mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, `<form method="post" action="/name"><input name="identifier"></form>`)
	})
	mux.HandleFunc("POST /name", func(w http.ResponseWriter, r *http.Request) {
		answer(w, `<form method="post" action="/password">%s<input name="Passwd" type="password"></form>`,
			hiddenInput("flow", o.issue(r.FormValue("identifier"))))
	})
	mux.HandleFunc("POST /password", func(w http.ResponseWriter, r *http.Request) {
		user := o.take(r.FormValue("flow"))
		if !o.login(user, r.FormValue("Passwd")) {
			refuse(w, "wrong")
			return
		}
		o.setSession(w, user)
		http.Redirect(w, r, "/desk", http.StatusFound)
	})
	desk(o, mux)
}

// desk of who has a session.
func desk(o *office, mux *http.ServeMux) {
	mux.HandleFunc("GET /desk", func(w http.ResponseWriter, r *http.Request) {
		if _, user := o.cookieOf(r, "sessionid"); o.work(w, user) {
			answer(w, "<h1>Desk</h1>")
		}
	})
}

func visitTwoPages(v *visitor) {
	name := v.open("/login").submit(0, map[string]string{"identifier": alice})
	v.think()
	name.submit(0, map[string]string{"Passwd": alicePassword})
	v.think()
	v.open("/desk")
}

// The log-in answers with a form that a script sends on, as SAML does.
func selfSending(o *office, mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { answer(w, loginPage, "") })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if user := r.FormValue("username"); o.login(user, r.FormValue("password")) {
			answer(w, `<body onload="document.forms[0].submit()"><form method="post" action="/acs">%s%s</form>`,
				hiddenInput("SAMLResponse", "PHNhbWw+"+o.issue(user)+"/Cg=="), hiddenInput("RelayState", "/desk"))
			return
		}
		refuse(w, "wrong")
	})
	mux.HandleFunc("POST /acs", func(w http.ResponseWriter, r *http.Request) {
		sent := strings.TrimSuffix(strings.TrimPrefix(r.FormValue("SAMLResponse"), "PHNhbWw+"), "/Cg==")
		if user := o.take(sent); user != "" {
			o.setSession(w, user)
			http.Redirect(w, r, "/desk?"+url.Values{"first": {"yes"}}.Encode(), http.StatusFound)
			return
		}
		refuse(w, "wrong assertion")
	})
	desk(o, mux)
}

func visitSelfSending(v *visitor) {
	v.open("/login").submit(1, map[string]string{"username": alice, "password": alicePassword}).submit(0, nil)
	v.think()
	v.open("/desk")
}
