package scenario

import "maps"

// The keys of web applications: what all requests have in common, steps, contents, checks. The login and each step have
// the keys of a request with the same meaning.
func init() {
	maps.Copy(reference, map[string]about{
		"http.cookies": {"Each user keeps the cookies that it is given, as a browser does, from its log-in to the " +
			"end of the run. They cost about 1 KB a user.", "true or false", "true", "cookies = false"},
		"http.redirects": {"So many redirects are followed, within the latency of the request. 301, 302 and 303 go " +
			"on by GET without a body, 307 and 308 by the same request; another server gets no Authorization. " +
			"Referer is the page that was shown last, as from a browser. With 0 the redirect is the answer, as " +
			"everywhere where `expect` or `refused` names its status.",
			"whole number from 0 to 50", "10", "redirects = 0"},
		"http.connections": {"`shared`: a request takes any connection that is free; there are as many as requests " +
			"under " +
			"way, and a user who thinks holds none. `user`: each user has one of its own, which stays open while it " +
			"thinks, up to five minutes. `browser`: each has up to six with HTTP/1.1, where `resources` need them, " +
			"and one with HTTP/2. A connection costs 25 KB, with TLS 45 KB, with HTTP/2 54 KB, and one of the files " +
			"that the " +
			"process may open.", "shared|user|browser", `"shared"`, `connections = "browser"`},
		"http.version": {"`1.1`, or `2` for HTTP/2 alone: agreed on by TLS for https, known beforehand for http.",
			"1.1|2", `"1.1"`, `version = "2"`},
		"http.headers": {"Headers of all requests that have none of the same name themselves.", "", "", ""},
		"http.headers.*": {"The header NAME; its text may have variables. As long as one of them is not set, as a " +
			"token before the log-in, the header is left out.", "text", "none", `headers = { Accept-Language = "en" }`},
		"http.auth": {"What requests prove their user by. It goes to the base address, or everywhere if there is " +
			"none. A " +
			"request with a header Authorization of its own has that instead.", "", "", ""},
		"http.auth.basic": {"Name and password, with a colon between. They may have variables.", "text", "none",
			`auth = { basic = "user{{client_id}}:secret" }`},
		"http.auth.bearer": {"A token. Requests before the log-in that sets its variable go without.", "text", "none",
			`auth = { bearer = "token{{client_id}}" }`},
		"http.tls": {"Whom connections trust, and what they show. Files are PEM. Agents get their content, also " +
			"that of " +
			"the key.", "", "", ""},
		"http.tls.ca": {"Certificate authorities that are trusted.", "path", "the system's, or those of `--url-ca`",
			`tls = { ca = "ca.pem" }`},
		"http.tls.certificate": {"Certificate of the users; it needs `key`.", "path", "none",
			`tls = { certificate = "client.pem", key = "client.key" }`},
		"http.tls.key": {"Key of the certificate.", "path", "none",
			`tls = { certificate = "client.pem", key = "client.key" }`},
		"http.tls.insecure": {"Any certificate is trusted: for test systems alone.", "true or false", "false",
			"tls = { insecure = true }"},
		"http.tls.server_name": {"Name that is asked for, and expected in the certificate.", "text",
			"the address's host", `tls = { server_name = "shop.example" }`},

		"operations.*.steps": {"Requests and scripts that follow each other. The latency is the sum of theirs; the " +
			"operation fails or is refused with the first step that does. A step has the keys of an operation that " +
			"say what is done, and the operation then has none of them itself.", "list of tables",
			"the operation is one step itself", `steps = [{ url = "/cart" }, { think = "2s", url = "/order" }]`},
		"operations.*.steps.*": {"A step, written as [[operations.NAME.steps]].", "", "", ""},
		"operations.*.steps.*.think": {"How long the user thinks before this step. It is no part of the latency. The " +
			"pace of `day` applies. The first step and those of `login` have none.", "duration",
			"the step follows at once", `think = "2s"`},

		"operations.*.form": {"Fields that are sent urlencoded, as by a form of a page. The method is then POST.", "",
			"",
			""},
		"operations.*.form.*": {"The field NAME; its text may have variables. A list sends it several times.",
			"value or list of values", "none",
			`form = { item = "{{client_id}}", quantity = 1, tag = ["new", "red"] }`},
		"operations.*.multipart": {"Fields that are sent as multipart/form-data, together with `files`. The method " +
			"is then POST.", "", "", ""},
		"operations.*.multipart.*": {"The field NAME; its text may have variables. A list sends it several times.",
			"value or list of values", "none", `multipart = { note = "of {{client_id}}" }`},
		"operations.*.files": {"Files that are sent as fields of multipart/form-data. The method is then POST.", "", "",
			""},
		"operations.*.files.*": {"File for the field NAME, of at most 16 MB. It is read once, and sent with the " +
			"type of " +
			"its extension.", "path", "none", `files = { photo = "photo.jpg" }`},
		"operations.*.body_file": {"File that is the body as it stands. The method is then POST.", "path", "none",
			`body_file = "order.json"`},
		"operations.*.extract": {"Variables that a good answer sets, for later requests of the same user.", "", "", ""},
		"operations.*.extract.*": {"Where the value of the variable NAME stands: a path of names and places, from " +
			"0, in " +
			"JSON; `css:SELECTOR@ATTRIBUTE` in a page, without `@` the text of the element; `regex:EXPRESSION`, of " +
			"which " +
			"the first group counts; `header:NAME`; `cookie:NAME`. `json:PATH` is for a path that begins with such a " +
			"word. `SOURCE regex:EXPRESSION` is a part of any of these, and `urldecode:`, `jsondecode:` or " +
			"`htmldecode:` " +
			"before a source takes escapes away. An answer without the value has failed.", "text", "none",
			`extract = { csrf = "css:input[name=csrf]@value", id = "items.0.id", next = "header:Location" }`},
		"operations.*.check": {"What a good answer fulfils besides its status. Any other has failed.", "", "", ""},
		"operations.*.check.*": {"`matches`: a regular expression for the body. `within`: the longest time until the " +
			"answer is there with its resources. Any other NAME is a source as in `extract`: a value in JSON must " +
			"equal " +
			"what is given here, any other must contain it. `true` says that it is there, and `false` that it is " +
			"not; in JSON they are values.", "text or number or true or false", "none",
			`check = { matches = "Order [0-9]+", "css:h1" = "Thanks", "css:.error" = false, within = "2s" }`},
		"operations.*.resources": {"What is loaded after a good answer, up to six at once, as a browser loads " +
			"styles and " +
			"pictures. It is part of the latency; a status of 400 or more is a failure.", "text or list of texts",
			"none",
			`resources = ["/static/app.css", "/static/app.js"]`},
	})
}
