package applications

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plimsoll/cmd/plimsoll/cli"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/recorded/har"
	"plimsoll/lab/run/result"
	"plimsoll/test/files"
	"plimsoll/web/browsertest"
)

// count of rows in the database of an application.
func (a *Application) count(t *testing.T, table string) int {
	t.Helper()
	n, err := strconv.Atoi(clustertest.Value(t, a.DSN, "SELECT count(*)::text FROM "+table))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Somebody works in the back office of Django, whose forms have a token in a hidden field that is another one in each
// page and after the log-in; each saved form leads elsewhere by a redirect.
func inTheAdmin(t *testing.T, a *Application, thinks time.Duration) *browsertest.Recording {
	t.Helper()
	r := browsertest.Record(t, a.Base+"/admin/")
	act := acting(t, r, thinks)
	act(chromedp.SendKeys("#id_username", "alice", chromedp.ByQuery),
		chromedp.SendKeys("#id_password", DjangoPassword("alice"), chromedp.ByQuery),
		chromedp.Submit("#login-form", chromedp.ByQuery))
	act(chromedp.Navigate(a.Base + "/admin/office/item/"))
	act(chromedp.Navigate(a.Base + "/admin/office/item/add/"))
	act(chromedp.SendKeys("#id_name", "Pencils & <pens>", chromedp.ByQuery),
		chromedp.SendKeys("#id_price", "1.50", chromedp.ByQuery),
		chromedp.Click("input[name=_continue]", chromedp.ByQuery))
	act(chromedp.SendKeys("#id_name", " and ink", chromedp.ByQuery),
		chromedp.Click("input[name=_save]", chromedp.ByQuery))
	act(chromedp.SendKeys("#searchbar", "ink", chromedp.ByQuery),
		chromedp.Submit("#changelist-search", chromedp.ByQuery))
	return r
}

func TestDjangoAdmin_RecordedOnceIsPlayedByMany(t *testing.T) {
	a := Django(t)
	r := inTheAdmin(t, a, 0)
	before := a.count(t, "office_item")
	o := played(t, r)
	if made := a.count(t, "office_item") - before; made < o.count("item_add.post") {
		t.Errorf("%d items were added by %d operations", made, o.count("item_add.post"))
	}
}

// Somebody orders in a shop whose page speaks JSON: tokens in a header, identifiers of what was made in addresses, a
// token that is replaced each time it serves.
func inTheShop(t *testing.T, a *Application, thinks time.Duration) *browsertest.Recording {
	t.Helper()
	r := browsertest.Record(t, a.Base+"/shop/")
	act := acting(t, r, thinks)
	said := func(text string) chromedp.Action {
		return chromedp.Poll(`document.getElementById("said").textContent.includes(`+strconv.Quote(text)+`)`, nil)
	}
	act(chromedp.SendKeys("[name=username]", "alice", chromedp.ByQuery),
		chromedp.SendKeys("[name=password]", DjangoPassword("alice"), chromedp.ByQuery),
		chromedp.Click("#login button", chromedp.ByQuery), said("welcome"))
	for _, one := range [][2]string{{"list", "40 items"}, {"order", "ordered"}, {"look", "quantity 2"},
		{"more", "now 3"}, {"drop", "cancelled"}, {"renew", "renewed"}, {"list", "40 items"}} {
		act(chromedp.Click("#"+one[0], chromedp.ByQuery), said(one[1]))
	}
	return r
}

func TestDjangoShop_RecordedOnceIsPlayedByMany(t *testing.T) {
	a := Django(t)
	r := inTheShop(t, a, 0)
	before := a.count(t, "token_blacklist_blacklistedtoken")
	o := played(t, r)
	if renewed := a.count(t, "token_blacklist_blacklistedtoken") - before; renewed < o.count("token_refresh.post") {
		t.Errorf("%d tokens were replaced by %d operations", renewed, o.count("token_refresh.post"))
	}
	// Each is cancelled in the operation that made it, but for those which the end of the run cut off.
	if left := a.count(t, "office_order"); left > users {
		t.Errorf("%d orders are left of %d users", left, users)
	}
}

// acting carries out what somebody does who thinks so long before each act.
func acting(t *testing.T, r *browsertest.Recording, thinks time.Duration) func(...chromedp.Action) {
	return func(actions ...chromedp.Action) {
		t.Helper()
		r.Act(t, append([]chromedp.Action{chromedp.Sleep(thinks)}, actions...)...)
	}
}

// users of the load.
const users = 5

// outcome of the load.
type outcome struct{ *result.Result }

// count of what was done of an operation.
func (o outcome) count(id string) int {
	for _, op := range o.Operations {
		if op.ID == id {
			return int(op.OK)
		}
	}
	return 0
}

// played imports a recording and lets several users do what it has, at random: everything must succeed as it stands.
func played(t *testing.T, r *browsertest.Recording) outcome {
	t.Helper()
	state := t.TempDir()
	if err := os.Chmod(state, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PLIMSOLL_STATE", state)
	t.Setenv("PLIMSOLL_CONFIG", os.DevNull)
	file := r.HAR(t)
	recorded := files.Write(t, state, "recorded.har", string(file))
	keep(t, "recorded.har", file)
	imported := plimsoll(t, "scenario", "--from-har", recorded, "--gap", "300ms", "--with-secrets")
	keep(t, "imported.toml", imported)
	var said har.Scenario
	if err := json.Unmarshal(plimsoll(t, "scenario", "--from-har", recorded, "--gap", "300ms", "--json"),
		&said); err != nil || !said.Login || said.Operations < 3 {
		t.Errorf("%v: %+v", err, said)
	}
	if strings.Contains(said.TOML, "secret & more") {
		t.Errorf("the password is written without being asked for:\n%s", said.TOML)
	}
	path := files.Write(t, state, "imported.toml", string(imported))
	var o outcome
	if err := json.Unmarshal(plimsoll(t, "run", "--scenario", path, "--users", strconv.Itoa(users), "--think",
		"500ms", "--ramp", "1s", "--duration", "8s", "--lag-limit", "1h", "--disturbed-limit", "1",
		"--json"), &o.Result); err != nil {
		t.Fatal(err)
	}
	for _, op := range o.Operations {
		t.Logf("%s: %d of %d succeeded", op.ID, op.OK, op.Ops)
		if op.OK < op.Ops || op.Ops == 0 {
			t.Errorf("%s: %d of %d succeeded: %+v", op.ID, op.OK, op.Ops, op.ErrorTexts)
		}
	}
	if t.Failed() {
		t.Logf("imported:\n%s", imported)
	}
	return o
}

// plimsoll runs a command, which must print what it is asked for; a run on a busy machine may be not valid.
func plimsoll(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, said bytes.Buffer
	code := cli.Exec(t.Context(), args, strings.NewReader(""), &out, &said)
	if code != cli.ExitOK && (args[0] != "run" || code != cli.ExitThreshold) {
		t.Fatalf("plimsoll %q: exit code %d\n%s%s", args, code, out.String(), said.String())
	}
	return out.Bytes()
}

// keepVariable names a folder in which recordings and what was made of them are kept, to be looked at.
const keepVariable = "PLIMSOLL_TEST_RECORDINGS"

func keep(t *testing.T, name string, content []byte) {
	t.Helper()
	if dir := os.Getenv(keepVariable); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, t.Name()+"-"+name), content, 0o600); err != nil {
			t.Error(err)
		}
	}
}
