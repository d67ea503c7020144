package har

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/tomlfile"
)

// withheld stands where a secret of the recording would.
const withheld = "NOT WRITTEN"

// sent are the texts that a request writes: an address that was followed is no text of its own.
func (c *call) sent() []*text {
	if c.next != nil && len(c.texts) > 0 {
		return c.texts[1:]
	}
	return c.texts
}

// writer writes a scenario as TOML.
type writer struct {
	strings.Builder
	m      *importer
	braces bool // a text has {{ of its own
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// comment wraps text at 120 columns.
func (w *writer) comment(text string) {
	for _, line := range human.Wrap(human.PlainLine(text), 116) {
		w.line("# %s", line)
	}
}

// template of a text, with its variables.
func (w *writer) template(t *text) string {
	var b strings.Builder
	at := 0
	for _, s := range t.spans {
		if s.variable != nil && s.from >= at {
			b.WriteString(w.literal(t.raw[at:s.from]) + "{{" + s.variable.name + "}}")
			at = s.to
		}
	}
	return b.String() + w.literal(t.raw[at:])
}

// literal text that is no template: two braces of its own are a variable.
func (w *writer) literal(s string) string {
	if strings.Contains(s, "{{") {
		w.braces = true
		s = strings.ReplaceAll(s, "{{", "{{braces}}")
	}
	return s
}

// scenario is the TOML of the operations.
func (w *writer) scenario(rec *Recording, title string, operations []*operation) {
	body := &writer{m: w.m}
	body.settings()
	if l := w.m.login; l != nil {
		body.login(l)
	}
	for _, o := range operations {
		body.operation(o)
	}
	w.braces = body.braces
	w.head(rec, title, operations)
	w.WriteString(body.String())
}

func (w *writer) head(rec *Recording, title string, operations []*operation) {
	from := ""
	if rec.Creator != "" {
		from = " by " + human.PlainLine(rec.Creator)
	}
	w.comment(fmt.Sprintf("A scenario made of a recording of %s%s: %s of %s.", rec.Entries[0].Started.UTC().
		Format("2006-01-02 15:04"), from, human.Count(w.m.kept(), "request"), human.Thousands(len(rec.Entries))))
	w.comment("Check it: plimsoll scenario THIS_FILE      Run it: plimsoll run --scenario THIS_FILE --users 20")
	w.doubts()
	w.line("\ntitle = %s", tomlfile.Quote(title))
	w.line("application = \"none\"")
	if mean := w.m.think(operations); mean > 0 {
		w.line("\n[think]\nmean = %s   # as recorded", tomlfile.Quote(human.Duration(mean)))
	}
	w.variables()
}

// doubts are what was not sure.
func (w *writer) doubts() {
	if len(w.m.doubts) == 0 {
		return
	}
	w.line("#")
	w.comment("Not sure, please look:")
	for _, d := range w.m.doubts {
		w.comment("- " + d.String())
	}
}

func (w *writer) variables() {
	who := w.m.who
	if who.user == nil && len(w.m.secrets) == 0 && !w.braces {
		return
	}
	w.line("")
	if who.user != nil {
		w.comment("Who logs in: all users as one. To give each his own, put a file with the columns name and " +
			"password in place of these two:")
		w.line("#   [data.user]\n#   file = \"users.csv\"\n#   take = \"user\"")
	}
	w.line("[variables]")
	if who.user != nil {
		w.line("%s = %s", who.user.name, tomlfile.Quote(who.user.value))
	}
	for _, s := range w.m.secrets {
		if w.m.Secrets {
			w.line("%s = %s", s.name, tomlfile.Quote(s.value))
		} else {
			w.line("%s = %s   # %s: put it here, or import again with --with-secrets", s.name, tomlfile.Quote(withheld),
				human.PlainLine(s.what))
		}
	}
	if w.braces {
		w.line("braces = \"{{\"   # of texts, where they would be a variable")
	}
}

func (w *writer) settings() {
	w.line("\n[http]\nbase = %s", tomlfile.Quote(w.m.base.String()))
	if who := w.m.who; who.basic {
		w.line("auth = { basic = \"{{%s}}:{{%s}}\" }", who.user.name, who.passwords[0].name)
	}
	if languages := w.m.common("Accept-Language"); languages != "" {
		w.line("headers = { Accept-Language = %s }", tomlfile.Quote(languages))
	}
}

func (w *writer) login(g *group) {
	w.line("\n[login]")
	w.steps("login", g, false)
}

func (w *writer) operation(o *operation) {
	name := tomlfile.Quote(o.name)
	w.line("\n[operations.%s]\ntitle = %s", name, tomlfile.Quote(o.title))
	w.line("target = %s   # recorded: %s", tomlfile.Quote(human.Duration(o.target)), human.Duration(o.took))
	if o.count > 1 {
		w.line("weight = %d   # so often in the recording", o.count)
	}
	w.steps("operations."+name, o.group, true)
}

// steps of an action; a single one stands in the action's own table.
func (w *writer) steps(table string, g *group, thinks bool) {
	for i, c := range g.calls {
		if len(g.calls) > 1 {
			w.line("\n[[%s.steps]]", table)
		}
		if thinks && i > 0 && c.gap >= actLeast {
			w.line("think = %s", tomlfile.Quote(human.Duration(thought(c.gap))))
		}
		w.request(c)
	}
}

// thought is how long a person thinks who was away for some of the time.
func thought(gap time.Duration) time.Duration {
	return min(gap, awayLeast).Round(100 * time.Millisecond)
}

func (w *writer) request(c *call) {
	if c.Method != "GET" {
		w.line("method = %s", tomlfile.Quote(c.Method))
	}
	if c.next != nil {
		w.line("url = \"{{%s}}\"   # such as %s", c.next.name, human.PlainLine(c.texts[0].shape()))
	} else {
		w.line("url = %s", value(w.template(c.texts[0])))
	}
	var headers []string
	for _, t := range c.texts {
		if t.place == inHeader {
			headers = append(headers, tomlfile.Key(t.name)+" = "+value(w.template(t)))
		}
	}
	w.inline("headers", headers)
	w.content(c)
	w.expected(c)
	var extracts []string
	taken := map[string]bool{}
	for _, v := range c.extract {
		if !taken[v.name] {
			extracts = append(extracts, v.name+" = "+value(v.extraction))
		}
		taken[v.name] = true
	}
	w.inline("extract", extracts)
}

// inline writes a table in braces, on several lines where one is too long.
func (w *writer) inline(key string, pairs []string) {
	if len(pairs) == 0 {
		return
	}
	if one := key + " = { " + strings.Join(pairs, ", ") + " }"; len(one) <= 120 {
		w.line("%s", one)
		return
	}
	for _, pair := range pairs {
		w.line("%s.%s", key, pair)
	}
}

func (w *writer) content(c *call) {
	if c.Body == nil {
		return
	}
	if c.Method == "GET" || c.Method == "HEAD" {
		return // what a browser never sends
	}
	if !isForm(c.Body.MIME) && !isMultipart(c.Body.MIME) {
		for _, t := range c.texts {
			if (t.place == inJSON || t.place == inBody) && t.raw != "" {
				w.line("body = %s", value(w.template(t)))
			}
		}
		return
	}
	key := "form"
	if isMultipart(c.Body.MIME) {
		key = "multipart"
	}
	w.inline(key, w.fields(c, func(t *text) bool { return t.file == "" }))
	var files []string
	for _, t := range c.texts {
		if t.place == inForm && t.file != "" && t.name != "" {
			files = append(files, tomlfile.Key(t.name)+" = "+value(t.file))
		}
	}
	w.inline("files", files)
}

// fields of a form; one that is there several times has a list.
func (w *writer) fields(c *call, wanted func(*text) bool) (pairs []string) {
	values := map[string][]string{}
	var order []string
	for _, t := range c.texts {
		if t.place == inForm && t.name != "" && wanted(t) {
			if values[t.name] == nil {
				order = append(order, t.name)
			}
			values[t.name] = append(values[t.name], value(w.template(t)))
		}
	}
	for _, name := range order {
		written := values[name][0]
		if len(values[name]) > 1 {
			written = "[" + strings.Join(values[name], ", ") + "]"
		}
		pairs = append(pairs, tomlfile.Key(name)+" = "+written)
	}
	return pairs
}

// expected is what the answer was, unless it is what is expected anyhow. Where a redirect leads tells success from
// failure: a refused log-in leads elsewhere.
func (w *writer) expected(c *call) {
	if c.Status >= 200 && c.Status < 300 || c.Status == 304 {
		return
	}
	w.line("expect = %d", c.Status)
	if to := w.m.leadsAlways(c); to != "" {
		w.line("check = { \"header:Location\" = %s }", value(w.literal(to)))
	}
}

// leadsAlways is what every redirect of its kind has in its address: what stands before anything that may change.
func (m *importer) leadsAlways(c *call) string {
	if !c.redirects() {
		return ""
	}
	location, _, _ := strings.Cut(header(c.Answered, "Location"), "#")
	if to, err := url.Parse(location); err != nil {
		return ""
	} else if to.Host == m.base.Host {
		if _, rest, found := strings.Cut(location, to.Host); found {
			location = rest // a scenario may be run against another address
		}
	}
	t := &text{raw: location}
	t.address(0)
	for _, s := range t.spans {
		if strengthOf(s.value) != word || m.who.user != nil && s.value == m.who.user.value ||
			slices.ContainsFunc(tokens.FindAllString(s.value, -1), isUnique) {
			location = location[:s.from]
			break
		}
	}
	if len(location) < 2 {
		return ""
	}
	return location
}

func isUnique(v string) bool { return strengthOf(v) == unique }

// value is a TOML string: in single quotes where it has double ones.
func value(s string) string {
	if strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && tomlfile.IsLiteral(s) {
		return "'" + s + "'"
	}
	return tomlfile.Quote(s)
}
