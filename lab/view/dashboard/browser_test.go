package dashboard

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/live"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
	"plimsoll/web/browsertest"
)

// film is an invented run: seventeen operations by the second, some of them in trouble for a while.
type film struct {
	*live.Picture
	passed atomic.Int64 // seconds; pages look at the time while the film rolls
	at     int
}

const (
	filmOperations = 17
	filmRamp       = 60 // seconds
)

func newFilm() *film {
	f, began := &film{}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	f.Picture = live.New(func() time.Time { return began.Add(time.Duration(f.passed.Load()) * time.Second) })
	plan := live.Plan{ID: "20260101-120000-30000u", Scenario: "default", Users: 30000, UsersMost: 100000,
		RampS: filmRamp, SteadyS: 36000, Cores: 96, LagLimitMS: 100}
	for i := range filmOperations {
		plan.Operations = append(plan.Operations,
			live.Operation{ID: fmt.Sprintf("operation_%d.post", i), Title: fmt.Sprintf("Operation number %d", i),
				TargetMS: 1000, Priority: 1})
	}
	f.SetPlan(plan)
	f.RampBegins()
	f.Begin("ramp", 10*time.Hour)
	return f
}

// roll on to a second.
func (f *film) roll(t testing.TB, to int) {
	for f.at < to {
		f.at++
		f.passed.Add(1)
		share, wal := 0.3+0.2*float64(f.at%97)/97, 2e6+1e4*float64(f.at%53)
		f.SetCPU(live.Shares{Database: &share, Machine: &share})
		f.SetDatabase(&live.Database{Connections: 40, Classes: [6]float64{2, 0.5, float64(f.at%7) / 4, 0.3},
			WALBytes: &wal, Waits: []live.Wait{{Type: "LWLock", Event: fmt.Sprintf("Kind%d", f.at%40), Sessions: 0.5}}})
		f.Add(f.second())
		if f.at == filmRamp {
			f.Begin("steady", 10*time.Hour)
		}
		if f.at > filmRamp && f.at%5 == 0 {
			f.SetDiagnosis(f.diagnosis())
		}
		if f.at%20 == 0 {
			f.Say(live.Note, fmt.Sprint("event at ", f.at))
		}
	}
}

// diagnosis of a film: a class that no page knows is among its lines.
func (f *film) diagnosis() *live.Diagnosis {
	ledger := func(id string, total, locks float64) live.Ledger {
		return live.Ledger{ID: id, TotalS: total, Lines: []live.LedgerLine{
			{Class: "cpu", Name: "on a processor", Share: 0.6 - locks},
			{Class: "lock", Name: "locks of rows and tables", Share: locks, Events: []live.LedgerEvent{
				{Name: "Lock transactionid", Share: locks}}},
			{Class: "log", Name: "write-ahead log", Share: 0.2, Events: []live.LedgerEvent{
				{Name: "IO WalSync", Share: 0.15}, {Name: "LWLock WALWrite", Share: 0.05}}},
			{Class: "client", Name: "client or network", Share: 0.15},
			{Class: "new", Name: "waits that this program does not know", Share: 0.05},
		}}
	}
	at, price := float64(f.at-filmRamp), 0.31
	d := &live.Diagnosis{LastedS: at, Samples: 20 * int(at), Healthy: 19, All: ledger("", 3*at, 0.3),
		Findings: []live.Finding{
			{Name: "lock-held-by-idle-client", Title: "An idle client holds locks that others wait for",
				Level: "problem", Price: &price, Next: "plimsoll advise --run latest",
				Why:  "The holder waits for its client, and the others for the holder.",
				Seen: "<b>clerk</b> held public.registers for up to 4.2 s"},
			{Name: "held-horizon", Title: "Session 4711 holds back vacuum", Level: "note",
				Why: "Vacuum may not remove rows that died after its snapshot.", Seen: "31,000 transactions began " +
					"since"},
		}}
	for i := range filmOperations {
		d.Operations = append(d.Operations, ledger(fmt.Sprintf("operation_%d.post", i), at/float64(i+1), float64(i)/40))
	}
	return d
}

func (f *film) second() tally.Page {
	p := tally.NewPage(f.at-1, filmOperations)
	p.Users, p.InFlight, p.LagMax = min(30000, 500*f.at), 20, 2*time.Millisecond
	cells := p.Judged
	if f.at <= filmRamp {
		cells = p.Others
	}
	for op := range cells {
		bad := int64(0)
		if op%5 == 0 && f.at/40%(op+2) == 1 {
			bad = int64(1 + op/3)
		}
		cells[op].Apdex = apdex.Counts{Satisfied: 3, Frustrated: bad}
		cells[op].Outcomes[tally.OK] = 3 + bad
		cells[op].Latency = tally.Values{int64(5+op+int(bad)*400) * 1000}
	}
	return p
}

func open(t *testing.T, f *film) (*browsertest.Visit, *Server) {
	t.Helper()
	s, err := Start(AddressDefault, f.Picture, &orders{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // also where there is no browser and the test is skipped
	return visit(t, s, s.URL()), s
}

// visit goes to the dashboard's page.
func visit(t *testing.T, s *Server, url string) *browsertest.Visit {
	t.Helper()
	v := browsertest.Open(t, url)
	v.Do(t, chromedp.WaitVisible("#tiles dd", chromedp.ByQuery)) // beyond the page that takes the token
	// before the browser ends: the page learns that the run is over
	t.Cleanup(func() { _ = s.Close() })
	return v
}

// network leads from a page to a server. It can be cut; it keeps its port, so that the page reaches no other server.
type network struct {
	net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func newNetwork(t *testing.T, to string) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{Listener: l, to: to}
	var carrying sync.WaitGroup
	carrying.Add(1)
	go func() {
		defer carrying.Done()
		for {
			page, err := l.Accept()
			if err != nil {
				return
			}
			carrying.Add(1)
			go func() { defer carrying.Done(); n.carry(page) }()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		n.setCut(true)
		carrying.Wait()
	})
	return n
}

// setCut ends all connections, and lets no new ones live, or lets them live again.
func (n *network) setCut(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
	for _, c := range n.conns {
		_ = c.Close()
	}
	n.conns = nil
}

// add a connection, unless the network is cut.
func (n *network) add(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut {
		_ = c.Close()
		return false
	}
	n.conns = append(n.conns, c)
	return true
}

func (n *network) carry(page net.Conn) {
	if !n.add(page) {
		return
	}
	defer page.Close()
	server, err := net.Dial("tcp", n.to)
	if err != nil || !n.add(server) {
		return
	}
	defer server.Close()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(page, server)
		_ = page.Close()
	}()
	_, _ = io.Copy(server, page)
	_ = server.Close()
	<-answered
}

// caughtUp waits until the page has drawn all there is.
func caughtUp(t *testing.T, v *browsertest.Visit, f *film) {
	t.Helper()
	d, _ := f.Since(1 << 40)
	poll(t, v, fmt.Sprintf("document.documentElement.dataset.seen === '%d'", d.N))
}

// poll until a condition holds in the page.
func poll(t *testing.T, v *browsertest.Visit, condition string) {
	t.Helper()
	v.Do(t, chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(patience.Max),
		chromedp.WithPollingInterval(20*time.Millisecond)))
}

func TestPageInABrowser(t *testing.T) {
	f := newFilm()
	f.roll(t, 500)
	v, _ := open(t, f)
	caughtUp(t, v, f)
	t.Run("TabGoesThroughInReadingOrder", func(t *testing.T) {
		var got []string
		for range 20 {
			v.Do(t, chromedp.KeyEvent(kb.Tab))
			got = append(got, browsertest.Ask[string](t, v,
				`(() => {
					const e = document.activeElement;
					return e.id || e.className || e.value || e.tagName.toLowerCase();
				})()`))
		}
		// All strips are one stop, as are the two choices of time.
		want := "skip theme help-open pause fewer users set more end window plot plot plot plot plot plot summary " +
			"scroll canvas events-box"
		if text := strings.Join(got, " "); text != want {
			t.Errorf("tab order\n%s, want\n%s", text, want)
		}
	})
	t.Run("ArrowKeysReadTheHeat", func(t *testing.T) {
		v.Do(t, chromedp.Focus("#heat canvas", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown),
			chromedp.KeyEvent(kb.ArrowLeft))
		if said := browsertest.Ask[string](t, v,
			`document.getElementById("heat-value").textContent`); !strings.HasPrefix(said, "Operation number 1, 8:") ||
			!strings.Contains(said, "Apdex 1.000 excellent, 30 operations") {
			t.Errorf("said %q", said)
		}
	})
	t.Run("KeysCanBeTurnedOff", func(t *testing.T) {
		v.Do(t, chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("?"),
			chromedp.WaitVisible("#help", chromedp.ByQuery), chromedp.Click("#shortcuts", chromedp.ByQuery))
		v.Shoot(t, "live-help")
		v.Do(t, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("w"))
		if whole := browsertest.Ask[bool](t, v, `document.querySelector('input[value="whole"]').checked`); whole {
			t.Error("a key does something though shortcuts are off")
		}
		v.Do(t, chromedp.KeyEvent("?"), chromedp.WaitVisible("#help", chromedp.ByQuery),
			chromedp.Click("#shortcuts", chromedp.ByQuery))
		if on := browsertest.Ask[bool](t, v, `document.getElementById("shortcuts").checked`); !on {
			t.Error("shortcuts are still off")
		}
		v.Do(t, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("w"))
		if whole := browsertest.Ask[bool](t, v, `document.querySelector('input[value="whole"]').checked`); !whole {
			t.Error("w does not show the whole run")
		}
	})
	t.Run("TableHoldsTheFiguresOfTheCharts", func(t *testing.T) {
		v.Do(t, chromedp.Click("#figures summary", chromedp.ByQuery))
		poll(t, v, `document.querySelectorAll("#figures-body tr").length > 10`)
		if cell := browsertest.Ask[string](t, v,
			`document.querySelector("#figures-body td").textContent`); cell != "30,000" {
			t.Errorf("users are %q", cell)
		}
	})
	t.Run("ShowsTheLedgerAndItsCauses", showsTheLedger(v))
	t.Run("EndsWithItsFooter", func(t *testing.T) {
		if below := browsertest.Ask[float64](t, v,
			`document.documentElement.scrollHeight - scrollY -
				document.querySelector("footer").getBoundingClientRect().bottom`); below > 2 {
			t.Errorf("%v pixels of nothing", below)
		}
	})
	t.Run("ContrastIsEnough", func(t *testing.T) { contrast(t, v) })
	t.Run("EveryControlHasAName", func(t *testing.T) {
		if bare := browsertest.Ask[[]string](t, v,
			`[...document.querySelectorAll("button, input, select, [tabindex='0']")].filter((e) =>
				!(e.textContent.trim() || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") ||
				e.labels?.length)).map((e) => e.outerHTML.slice(0, 80))`); len(bare) > 0 {
			t.Errorf("want a name for every control, got %q", bare)
		}
	})
	v.Content(t)
}

func showsTheLedger(v *browsertest.Visit) func(t *testing.T) {
	return func(t *testing.T) {
		rows := browsertest.Ask[int](t, v, `document.querySelectorAll("#ledger-body tr").length`)
		if rows != 1+12 { // all sessions, and the operations that took most
			t.Errorf("%d rows", rows)
		}
		if first := browsertest.Ask[string](t, v, `[...document.querySelector("#ledger-body tr").children].map((e) =>
			e.textContent).join("|")`); first != "all sessions|1,320 s||on a processor 30 %, Lock transactionid 30 %, "+
			"IO WalSync 15 %" {
			t.Errorf("want the first row of the ledger, got %q", first)
		}
		// Each bar is whole, and says in words what it shows in colours.
		if bad := browsertest.Ask[[]string](t, v, `[...document.querySelectorAll("#ledger .stack")].filter((bar) => {
			const parts = [...bar.children].reduce((sum, p) => sum + p.getBoundingClientRect().width, 0);
			const odd = Math.abs(parts - bar.getBoundingClientRect().width) > 1;
			return odd || bar.children.length !== 5 || !bar.ariaLabel.includes("write-ahead log 20 %");
		}).map((bar) => bar.outerHTML)`); len(bad) > 0 {
			t.Errorf("want bars of five whole parts, got %q", bad)
		}
		const says = "problem|31 % An idle client holds locks that others wait for|<b>clerk</b> held " +
			"public.registers for up to 4.2 s · The holder waits for its client, and the others for the holder."
		if found := browsertest.Ask[string](t, v, `(() => {
			const item = document.querySelector("#findings li");
			return [item.className, ...[...item.children].slice(0, 2).map((p) => p.textContent)].join("|");
		})()`); found != says {
			t.Errorf("%q, want %q", found, says)
		}
		v.Look(t, "live-ledger")
		v.Do(t, chromedp.EmulateViewport(1280, 1000), emulation.SetEmulatedMedia())
	}
}

// contrast of every visible text with what lies behind it: WCAG 2.2, 1.4.3, level AA, 4.5 to 1; what is disabled is
// exempt.
const contrastScript = `(() => {
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return [m[0], m[1], m[2], m[3] ?? 1]; };
	const linear = (x) => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
	const lum = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c[3] > 0.99) return c;
		}
		return [255, 255, 255];
	};
	const low = [];
	for (const e of document.body.querySelectorAll("*")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
		if (!e.checkVisibility() || e.disabled || e.closest(".skip, noscript, script")) continue;
		const [a, b] = [lum(parse(getComputedStyle(e).color)), lum(ground(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio >= 4.5) continue;
		low.push(e.tagName + "." + e.className + " " + e.textContent.slice(0, 20) + " " + ratio.toFixed(2));
	}
	return low;
})()`

func contrast(t *testing.T, v *browsertest.Visit) {
	for _, scheme := range []string{"light", "dark"} {
		v.Do(t, emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		if low := browsertest.Ask[[]string](t, v, contrastScript); len(low) > 0 {
			t.Errorf("%s: %q", scheme, low)
		}
	}
	v.Do(t, emulation.SetEmulatedMedia())
}

func TestPageComesBackAfterItsConnectionIsCut(t *testing.T) {
	f := newFilm()
	f.roll(t, 100)
	s, err := Start(AddressDefault, f.Picture, &orders{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	n := newNetwork(t, s.listens.Addr().String())
	v := visit(t, s, strings.Replace(s.URL(), s.listens.Addr().String(), n.Addr().String(), 1))
	caughtUp(t, v, f)
	n.setCut(true)
	poll(t, v, `document.getElementById("line").textContent.includes("lost")`)
	f.roll(t, 130)
	n.setCut(false)
	caughtUp(t, v, f)
	if n := browsertest.Ask[int](t, v, `document.querySelectorAll("#events li").length`); n < 7 || n > 10 {
		t.Errorf("%d events", n)
	}
}

// Ten hours at one second each: what the page holds must not grow with the run.
func TestTenHoursInABrowser(t *testing.T) {
	f := newFilm()
	f.roll(t, 1800)
	s, err := start(AddressDefault, f.Picture, &orders{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	v := visit(t, s, s.URL())
	caughtUp(t, v, f)
	nodes := func() int { return browsertest.Ask[int](t, v, `document.querySelectorAll("*").length`) }
	heap := func() float64 {
		v.Do(t, heapprofiler.CollectGarbage())
		return heapOf(t, v)
	}
	roll := func(to, step int) {
		for f.at < to {
			f.roll(t, min(to, f.at+step))
			caughtUp(t, v, f)
		}
	}
	const step = live.SecondsKept - 10 // as much as is kept: the page misses nothing
	roll(5400, step)
	nodesEarly, heapEarly := nodes(), heap()
	roll(thorough.Or(36_000, 14_400), step) // make test is content with four
	nodesLate, heapLate := nodes(), heap()
	t.Logf("%d elements and %.1f MB after 90 minutes, %d and %.1f MB at the end", nodesEarly, heapEarly/1e6, nodesLate,
		heapLate/1e6)
	if nodesLate > nodesEarly+20 {
		t.Errorf("%d elements, then %d", nodesEarly, nodesLate)
	}
	// The minutes of eight and a half hours more are some 500 points.
	if heapLate > heapEarly+6e6 {
		t.Errorf("%.1f MB, then %.1f", heapEarly/1e6, heapLate/1e6)
	}
	v.Do(t, chromedp.Evaluate(`document.querySelector('input[value="whole"]').click()`, nil),
		chromedp.Sleep(300*time.Millisecond))
	v.Shoot(t, "live-ten-hours")
	v.Content(t)
}

func heapOf(t *testing.T, v *browsertest.Visit) (used float64) {
	v.Do(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		used, _, _, _, err = runtime.GetHeapUsage().Do(ctx)
		return err
	}))
	return used
}
