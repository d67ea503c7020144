package erp_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/erptest"
	"plimsoll/platform/worker/openapi/openapitest"
	"plimsoll/platform/worker/server"
	"plimsoll/test/thorough"
)

// secrets are the ids, and the texts of our making, of everything that belongs to an organisation.
func secrets(t *testing.T, c *erptest.Company, o erptest.Organisation) (ids, all []string) {
	t.Helper()
	meta := erp.Metadata()
	var tables []string
	for i := range meta.Catalogs {
		if !meta.Catalogs[i].Shared {
			tables = append(tables, "SELECT id::text, name FROM "+meta.Catalogs[i].Table()+" WHERE organisation = $1")
		}
	}
	for i := range meta.Documents {
		tables = append(tables, "SELECT id::text, comment FROM "+meta.Documents[i].Table()+" WHERE organisation = $1")
	}
	err := c.Borrow(t.Context(), func(conn *pgx.Conn) error {
		rows, err := conn.Query(t.Context(), strings.Join(tables, " UNION ALL "), o.ID)
		if err != nil {
			return err
		}
		var one, text string
		_, err = pgx.ForEachRow(rows, []any{&one, &text}, func() error {
			ids, all = append(ids, one), append(all, one)
			if len(text) > 3 {
				all = append(all, text)
			}
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, all
}

// Whatever one organisation asks for, with whatever ids and texts of the other, it sees nothing of it, and changes
// nothing.
func TestOrganisationsAreApartInEveryOperation(t *testing.T) {
	company := erptest.New(t, 2)
	base := company.Worker(t, server.Config{SessionMemory: 30_000, SessionDir: t.TempDir()})
	company.Stock(t, base, 1000)
	ours, theirs := company.Organisations[0], company.Organisations[1]
	they := newCaller(t, company, base, theirs)
	for _, o := range they.api.Operations { // one document of each type, and data in their session
		if strings.HasSuffix(o.ID, ".create") {
			example := they.api.Example(o.Body, func(name string) string { return they.pick(t, name) }).(map[string]any)
			example["comment"] = "secret of " + o.ID
			they.do(t, o, call{path: o.Path + "?post=false", token: they.token, body: openapitest.JSON(t, example)})
		}
		if strings.HasSuffix(o.ID, ".list") {
			they.do(t, o, call{token: they.token})
		}
	}
	they.do(t, they.api.Find(t, "session.data.put"),
		call{path: "/v1/sessions/current/data/form", token: they.token, body: []byte(`"secret of the session"`)})
	ids, all := secrets(t, company, theirs)
	all = append(all, "secret of the session", theirs.User)
	before := company.Value(t, "SELECT sum(version) || ' ' || count(*) FROM (SELECT version FROM doc_goods_receipt "+
		"UNION ALL SELECT version FROM doc_goods_sale) d")

	we := newCaller(t, company, base, ours)
	asked := 0
	ask := func(o *openapitest.Operation, with call) {
		asked++
		status, header, body := we.do(t, o, with)
		answer := string(body) + fmt.Sprint(header)
		for _, secret := range all {
			// a refusal may repeat the id that it was asked for, and nothing else
			if strings.Contains(answer, secret) &&
				!(status >= 400 && strings.Contains(with.path+string(with.body), secret)) {
				t.Fatalf("%s %s: %d tells %q: %.500s", o.Method, with.path, status, secret, answer)
			}
		}
	}
	for _, o := range we.api.Operations {
		if o.Public || o.ID == "session.close" || o.ID == "session.data.put" { // what we put there ourselves is ours
			continue
		}
		paths := []string{o.Path}
		if strings.Contains(o.Path, "{") {
			paths = nil
			for _, id := range append(ids, "form", "platform.recent", "platform.list.goods_receipt") {
				paths = append(paths, strings.NewReplacer("{id}", id, "{key}", id).Replace(o.Path))
			}
		}
		for _, path := range paths {
			with := call{path: path, token: we.token, header: map[string]string{"If-Match": "1"}}
			if o.Body != nil {
				for _, foreign := range ids { // our own document that refers to theirs
					with.body = openapitest.JSON(t, we.api.Example(o.Body, func(string) string { return foreign }))
					ask(o, with)
					if len(paths) > 1 {
						break
					}
				}
				continue
			}
			ask(o, with)
			for n, p := range o.Parameters {
				for _, value := range thorough.Part(all, asked+n) {
					if p.In == "query" {
						ask(o, call{path: path + "?" + url.Values{p.Name: {value}}.Encode(), token: we.token})
					}
				}
			}
		}
	}
	if asked < 200 {
		t.Errorf("asked %d times only", asked)
	}
	if after := company.Value(t, "SELECT sum(version) || ' ' || count(*) FROM (SELECT version FROM "+
		"doc_goods_receipt UNION ALL SELECT version FROM doc_goods_sale) d WHERE d.version > 0"); after != before {
		t.Errorf("their documents and ours were %s and are %s", before, after)
	}
	erptest.Clean(t, company.Database)
}
