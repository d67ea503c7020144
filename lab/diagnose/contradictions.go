package diagnose

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// Contradiction compares independent measurements of the same thing. If they disagree, an assumption is wrong, and the
// verdict names the most likely one.
type Contradiction struct {
	Name     string   `json:"name"`
	Verdict  Verdict  `json:"verdict"`
	Figures  []Figure `json:"figures"`
	Says     string   `json:"says"`
	Excluded string   `json:"excluded"`
	Next     string   `json:"next"`
}

// Figure is a measurement in words.
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Verdict on a pair of measurements.
type Verdict string

// Contradicts: an assumption is wrong. Unknown: a measurement is missing; Says names it.
const (
	Contradicts Verdict = "contradiction"
	Agrees      Verdict = "agrees"
	Unknown     Verdict = "not measured"
)

// checks lists all pairs; each fills the Contradiction of its name.
var checks = []struct {
	name  string
	check func(m *measured) Contradiction
}{
	{"little's law", littlesLaw},
	{"running sessions and processor time", runningAndProcessor},
	{"idle processors and blocked sessions", serialized},
	{"commits and flushes", commitsAndFlushes},
	{"round trips and operations", roundTripsAndGaps},
	{"idle disk and waits for reads", idleDisk},
	{"topology", topologyLies},
	{"catalogs and data", catalogsAndData},
	{"two samplers of waits", twoSamplers},
	{"timed and sampled waits", timedAndSampled},
}

func contradict(m *measured) (all []Contradiction) {
	for _, c := range checks {
		found := c.check(m)
		found.Name = c.name
		if found.Figures == nil {
			found.Figures = []Figure{}
		}
		all = append(all, found)
	}
	return all
}

func unknown(why string, figures ...Figure) Contradiction {
	return Contradiction{Verdict: Unknown, Says: why, Figures: figures}
}

// contradictIf sets a contradiction if the condition holds.
func (c Contradiction) contradictIf(holds bool, otherwise string) Contradiction {
	if c.Verdict = Agrees; holds {
		c.Verdict = Contradicts
		return c
	}
	c.Says, c.Excluded, c.Next = otherwise, "", ""
	return c
}

// littlesLaw: active sessions are throughput times time. The server's own count of active time is the other side. Where
// little is done, a sample itself delays sessions that it then counts.
func littlesLaw(m *measured) Contradiction {
	counted := m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "active_time"))
	if counted == nil {
		return unknown("pg_stat_database has no active time")
	}
	// The server counts a statement when it ends: what is under way now is not counted yet, and what was under way at
	// the beginning is counted with the time before.
	sampled := (m.ledger.TotalS - m.book.idle() - m.book.underWay()) / max(m.ledger.ObservedS, 1e-9)
	server := *counted / 1000
	apart := abs(sampled-server) / max(sampled, server, sessionsLeast.Value)
	return Contradiction{
		Figures: []Figure{{"active sessions, sampled, without statements that have not " +
			"ended", fmt.Sprintf("%.2f", sampled)},
			{"active time a second, counted by the server", fmt.Sprintf("%.2f s", server)}},
		Says: fmt.Sprintf("the two differ by %s: the samples miss something, or count what is not there",
			human.Percent(apart)),
		Excluded: "chance: that many samples of a steady load differ by less",
		Next:     "plimsoll diagnose --rate 100 --duration 5m",
	}.contradictIf(apart > littleApart.Value && abs(sampled-server) >= littleLeast.Value,
		"both agree: the samples can be trusted")
}

func abs(x float64) float64 { return max(x, -x) }

// runningAndProcessor: a session without a wait should use a processor.
func runningAndProcessor(m *measured) Contradiction {
	if _, why := m.queue(); why != "" {
		return unknown(why)
	}
	running, ran := m.ledger.running(), m.ledger.share(OnCPU)
	r, why := m.room()
	if why != "" {
		return unknown(why)
	}
	says, excluded := "they are ready to run and get no processor", "waits for locks, disks and clients: these "+
		"sessions wait for none of them"
	if r.busy >= machineBusy.Value && r.own() >= mainUser.Value {
		says = "they are ready to run, and the database's own processes keep the processors busy"
	} else if r.others >= othersBusy.Value {
		says += ", which others use"
	}
	figures := []Figure{{"sessions without a wait", human.Percent(running) + " of the time"},
		{"on a processor", human.Percent(ran) + " of the time"},
		{"in the queue for one", human.Percent(m.ledger.share(forCPU)) + " of the time"},
		{"steal", text(times100(m.host.Steal), "%.0f %% of the cores")},
		{"throttled", text(times100(m.host.Throttled), "%.0f %% of the time")},
		{"the database's part of the processors in use", human.Percent(r.own())}}
	return Contradiction{
		Figures: figures, Says: "sessions that seem to run do not: " + says, Excluded: excluded,
		Next: "top -b -n 1 -o %CPU | head -15; cat /proc/pressure/cpu",
	}.contradictIf(running >= problemFrom.Value && ran < running/2, "sessions without a wait use the processor")
}

// serialized: sessions wait for locks while processors are idle.
func serialized(m *measured) Contradiction {
	if m.host == nil || m.host.Busy == nil {
		return unknown(noMachine)
	}
	if valueOr(m.host.Throttled, 0) >= throttledMost.Value {
		return unknown("a quota withholds processors that look idle")
	}
	blocked := m.ledger.share(string(waits.Lock)) + m.ledger.share(string(waits.Latch))
	return Contradiction{
		Figures: []Figure{{"waiting for locks", human.Percent(blocked) + " of the time"},
			{"cores busy", human.Percent(*m.host.Busy)}},
		Says: "sessions wait for each other while processors are idle: the load is " +
			"serialized, and more hardware changes nothing",
		Excluded: "too few processors: most of the time one is free",
		Next:     "run the same load with half the connections: if this is true, throughput stays the same",
	}.contradictIf(blocked >= problemFrom.Value && *m.host.Busy < machineBusy.Value/2,
		"no lock waits while processors idle")
}

// commitsAndFlushes compares the wait for the log, the time of a flush, and the time of a device transfer.
func commitsAndFlushes(m *measured) Contradiction {
	commits := m.transactions()
	wait := m.ledger.share(string(waits.WAL))
	if commits == nil || *commits <= 0 {
		return unknown("no transactions were counted")
	}
	perCommit := 1000 * wait * m.ledger.Sessions / *commits
	figures := []Figure{{"wait for the log for each commit", fmt.Sprintf("%.2f ms", perCommit)}}
	flush := m.flushMS()
	if flush == nil {
		return unknown("the time of a flush is not measured: track_wal_io_timing is off, or nothing was flushed",
			figures...)
	}
	figures = append(figures, Figure{"one flush", msText(*flush)})
	excluded := "a slow disk: a flush takes no longer than usual"
	if *flush > usualFlush.Value {
		excluded = "a disk that is slow for one commit alone: they also wait for each other"
	}
	if m.host != nil && len(m.host.Disks) > 0 {
		d := m.host.Disks[0]
		figures = append(figures, Figure{"one write of " + d.Name, text(d.WriteMS, "%.2f ms")})
	}
	return Contradiction{
		Figures:  figures,
		Says:     "a commit waits much longer than a flush takes: it waits in a queue, and a faster disk helps little",
		Excluded: excluded,
		Next:     "plimsoll prove C20 C21    fewer flushes: asynchronous commit, or larger transactions",
	}.contradictIf(wait >= problemFrom.Value && perCommit > queueLeast.Value**flush,
		"commits wait about as long as a flush "+
			"takes, or not at all")
}

// roundTripsAndGaps: most of an operation's time is spent outside the database.
func roundTripsAndGaps(m *measured) Contradiction {
	if m.ledger.TotalS == 0 {
		return unknown("no session was active")
	}
	gaps := m.book.short.seconds / m.ledger.TotalS
	if why := m.clientsWithoutProcessors(gaps); why != "" {
		return unknown(why)
	}
	figures := []Figure{{"transactions wait for their clients", human.Percent(gaps) + " of the time"},
		{"in the database itself", human.Percent(max(0, 1-m.ledger.share(string(waits.Client)))) + " of the time"},
		{"transactions that are rolled back", human.Known(m.rolledBack(), notMeasured, human.Percent)},
		{"round trip from here", fmt.Sprintf("%.2f ms", 1000*m.roundTripS)}}
	if gap := m.book.short.mean(); gap != nil {
		figures = append(figures, Figure{"mean gap between statements", fmt.Sprintf("%.1f ms", 1000*gap.Seconds())})
	}
	return Contradiction{
		Figures: figures, Says: "open transactions spend most of their time between two statements, where the server " +
			"waits for the network or the program",
		Excluded: "the statements that run: they are the smaller part of the time of open transactions. Work that " +
			"is done " +
			"twice, as after a rollback, is not excluded",
		Next: "psql -h … -c '\\timing on' -c 'SELECT 1'    on the client's machine",
	}.contradictIf(gaps > 0.5, "transactions spend most of their time in the database")
}

// rolledBack is the part of the transactions that are; nil: not counted.
func (m *measured) rolledBack() *float64 {
	n, all := m.delta.Sum(counters.Databases, "", "xact_rollback"), m.delta.Sum(counters.Databases, "", "xact_commit")
	if n == nil || all == nil || *n+*all <= 0 {
		return nil
	}
	return new(*n / (*n + *all))
}

// idleDisk: sessions wait for reads while the device is idle.
func idleDisk(m *measured) Contradiction {
	if m.host == nil {
		return unknown(noMachine)
	}
	if len(m.host.Disks) == 0 {
		return unknown("no disk is visible here")
	}
	d, wait := m.host.Disks[0], m.ledger.share(string(waits.IO))
	return Contradiction{
		Figures: []Figure{{"waiting for data", human.Percent(wait) + " of the time"}, {"busiest disk, " + d.Name,
			human.Percent(d.Busy) + " busy"}, {"transfers under way", fmt.Sprintf("%.2f", d.Queue)},
			{"one read", text(d.ReadMS, "%.2f ms")}},
		Says: "sessions wait for reads while the disk is idle: each asks for one page at a time, or the kernel has " +
			"the pages in memory",
		Excluded: "a disk at its limit",
		Next:     "raise effective_io_concurrency for a session, or shared_buffers, and diagnose again",
	}.contradictIf(wait >= problemFrom.Value && d.Busy < 0.5, "waits for data match how busy the disk is")
}

// topologyLies: the kernel shows a topology that no hardware has.
func topologyLies(m *measured) Contradiction {
	if m.host == nil || m.host.Topology == nil {
		return unknown(noMachine)
	}
	t := *m.host.Topology
	odd := t.Impossible()
	says := ""
	if len(odd) > 0 {
		says = odd[0] + ": the hypervisor shows a topology that does not exist, and the kernel's scheduler relies on it"
	}
	return Contradiction{
		Figures: []Figure{{"sockets, cores, threads", fmt.Sprintf("%d, %d, %d", t.Sockets, t.Cores, t.CPUs)},
			{"NUMA nodes", fmt.Sprint(t.Nodes)}},
		Says: says, Excluded: "a real machine of this kind", Next: "lscpu; numactl --hardware    on the virtual " +
			"machine and on its host",
	}.contradictIf(len(odd) > 0, "hardware of this topology exists")
}

// catalogsAndData: catalogs grow while nothing else does.
func catalogsAndData(m *measured) Contradiction {
	grew, churn := m.catalogGrowth(), m.churn()
	if grew == nil || churn == nil {
		return unknown("sizes or statistics of the catalogs could not be read")
	}
	rows := m.delta.PerSecond(m.delta.Sum(counters.Tables, "", "n_tup_ins"))
	figures := []Figure{{"growth of the catalogs", fmt.Sprintf("%.0f KB", *grew/1024)},
		{"rows of catalogs inserted and deleted", fmt.Sprintf("%.0f a second", *churn)},
		{"rows of tables inserted", text(rows, "%.0f a second")}}
	next := "plimsoll prove C12 C13"
	why := "temporary tables are created and dropped all the time"
	if h := m.holder(); h != nil {
		why += ", and a " + h.Kind + " keeps vacuum from removing their rows"
		next = "end what holds the horizon (see the finding held-horizon), then diagnose again"
	}
	return Contradiction{
		Figures: figures, Says: why, Excluded: "new tables that stay: as many rows are deleted", Next: next,
	}.contradictIf(*churn >= churnRows.Value && (*grew > 0 || rows == nil || *rows < *churn),
		"the catalogs hardly change")
}

// twoSamplers compares our samples of waits with those that pg_wait_sampling takes within the server, class by class.
// That one counts idle sessions as waiting for their clients, too, so that this class is left out on both sides.
func twoSamplers(m *measured) Contradiction {
	if why := m.delta.Why(counters.WaitSamples); why != "" {
		return unknown(why)
	}
	inside, ours := map[waits.Class]float64{}, map[waits.Class]float64{}
	sum, all := 0.0, 0.0
	for _, key := range m.delta.Keys(counters.WaitSamples) {
		kind, name, _ := strings.Cut(key, ":")
		class := waits.Event{Type: kind, Name: name}.Class()
		if n := m.delta.Grew(counters.WaitSamples, key, "count"); n != nil && class != waits.Client {
			inside[class] += *n
			sum += *n
		}
	}
	for key, w := range m.book.events {
		if key.class != waits.Client && key.class != waits.Running {
			ours[key.class] += w.seconds
			all += w.seconds
		}
	}
	if sum == 0 || all == 0 {
		return unknown("one of the two saw no waiting session")
	}
	worst, apart := waits.Class(""), 0.0
	for class := range inside {
		ours[class] += 0 // also what only the server saw
	}
	for class, seconds := range ours {
		if d := abs(seconds/all - inside[class]/sum); d > apart || d == apart && class < worst {
			worst, apart = class, d
		}
	}
	return Contradiction{
		Figures: []Figure{{"waits in " + string(worst) + ", sampled from outside", human.Percent(ours[worst] / all)},
			{"by pg_wait_sampling", human.Percent(inside[worst] / sum)}},
		Says:     fmt.Sprintf("the two differ by %s of the waits: one of them misses some", human.Percent(apart)),
		Excluded: "the processor: sessions without a wait are left out on both sides",
		Next:     "plimsoll diagnose --rate 100 --duration 5m",
	}.contradictIf(apart > littleApart.Value, "both samplers saw the same classes of waits")
}
