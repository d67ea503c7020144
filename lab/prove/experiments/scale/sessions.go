package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"plimsoll/lab/prove/experiments/site"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"plimsoll/erp/client"
	"plimsoll/lab/prove/trial"
)

const (
	// sessionValues make up the data of a session, each within the limit of a request.
	sessionValues = 8
	mebibyte      = 1 << 20
	// sessionMargin is for the lists and filters that operations leave in sessions.
	sessionMargin = 8 * mebibyte
)

// Figures of a turn of sessions.
const (
	sessionRate  = "operations"
	p95Time      = "p95"
	fromFiles    = "from files"
	spilled      = "spilled"
	inMemory     = "in memory"
	inFiles      = "in files"
	resident     = "resident"
	residentEach = "resident per session"
	readFromDisk = "read from disk"
	sessionKB    = "data of a session"
)

var sessionSeries = []trial.Series{
	{Name: sessionRate, Unit: "1/s"}, {Name: site.MedianTime, Unit: "ms"}, {Name: p95Time, Unit: "ms"},
	{Name: fromFiles, Unit: "% of accesses"}, {Name: spilled, Unit: "MB/s"}, {Name: inMemory, Unit: "MB"},
	{Name: inFiles, Unit: "MB"}, {Name: resident, Unit: "MB"}, {Name: residentEach, Unit: "kB"},
	{Name: readFromDisk, Unit: "MB"}, {Name: sessionKB, Unit: "kB", Hidden: true},
}

// sessionLoad is a number of sessions with a number of bytes each, of which so many are active at once.
type sessionLoad struct{ sessions, bytes, clients int }

// bound in MiB that holds this share of the data.
func (l sessionLoad) bound(holds float64) int {
	need := holds * float64(l.sessions) * float64(l.bytes)
	if holds >= 1 {
		need += sessionMargin
	}
	return max(1, int(need/mebibyte))
}

// measure a worker process that keeps this much of the data in memory.
func (l sessionLoad) measure(ctx context.Context, b site.Bench, dsn string, holds float64, turn time.Duration,
	seed uint64) (trial.Figures, error) {
	w, err := b.Worker(ctx, dsn, "--session-memory", strconv.Itoa(l.bound(holds)), "--sessions",
		strconv.Itoa(l.sessions+1))
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	empty, err := askSessions(ctx, w.URL, w.PID)
	if err != nil {
		return nil, err
	}
	c := newSessionSet(l, seed)
	defer c.transport.CloseIdleConnections()
	if err = c.logIn(ctx, w.URL); err == nil {
		err = c.fill(ctx)
	}
	if err == nil {
		err = c.warm(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, site.CheckAlive(w))
	}
	before, err := askSessions(ctx, w.URL, w.PID)
	if err != nil {
		return nil, err
	}
	times, err := c.play(ctx, turn)
	if err == nil && len(times) == 0 {
		err = ctx.Err()
	}
	after, lookErr := askSessions(ctx, w.URL, w.PID)
	if err = errors.Join(err, lookErr); err != nil || len(times) == 0 {
		return nil, errors.Join(err, site.CheckAlive(w))
	}
	if after.lost > 0 || after.refused > 0 {
		return nil, fmt.Errorf("the worker lost the data of %.0f sessions and had no room for %.0f values", after.lost,
			after.refused)
	}
	f := after.since(before, turn, float64(l.bytes))
	f[sessionRate], f[site.MedianTime], f[p95Time] = float64(len(times))/turn.Seconds(), site.Percentile(times, 0.5),
		site.Percentile(times, 0.95)
	f[sessionKB] = float64(l.bytes) / 1000
	f[residentEach] = (after.resident - empty.resident) / float64(l.sessions) / 1e3
	return f, nil
}

// sessionSet is the sessions of a worker and their data.
type sessionSet struct {
	load      sessionLoad
	seed      uint64
	client    *client.Client
	transport *http.Transport
	sessions  []*client.Session
	versions  [][sessionValues]uint32 // of the last written value
	documents site.Weighted           // what the users do with the values
}

func newSessionSet(l sessionLoad, seed uint64) *sessionSet {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: l.clients}
	return &sessionSet{
		load: l, seed: seed, transport: transport, documents: site.Writing(),
		client:   client.New(client.Options{Transport: transport, RefusedShare: -1}),
		sessions: make([]*client.Session, l.sessions), versions: make([][sessionValues]uint32, l.sessions),
	}
}

func (s *sessionSet) logIn(ctx context.Context, base string) error {
	users, err := s.client.Users(ctx, base)
	if err != nil {
		return err
	}
	// the first login of a warehouse leaves its lists in the session, which must be smaller than the room for its own
	// data
	for n := range users {
		first, err := s.client.Login(ctx, base, client.UserCode(1+n))
		if err == nil {
			err = s.client.Logout(ctx, first)
		}
		if err != nil {
			return err
		}
	}
	return s.each(func(_, n int) (err error) {
		s.sessions[n], err = s.client.Login(ctx, base, client.UserCode(1+n%users))
		return err
	})
}

// each session is used by one client only.
func (s *sessionSet) each(do func(who, session int) error) error {
	return site.AllAtOnce(s.load.clients, func(who int) error {
		for n := who; n < len(s.sessions); n += s.load.clients {
			if err := do(who, n); err != nil {
				return fmt.Errorf("session %d: %w", n+1, err)
			}
		}
		return nil
	})
}

func (s *sessionSet) fill(ctx context.Context) error {
	room := make([][]byte, s.load.clients)
	return s.each(func(who, n int) error {
		for key := range sessionValues {
			if err := s.put(ctx, n, key, &room[who]); err != nil {
				return err
			}
		}
		return nil
	})
}

// text begins the value of a session with key and version, so that values cannot be confused.
func (s *sessionSet) text(session, key int) string {
	return fmt.Sprintf("\"session %d, value %d, version %d ", session, key, s.versions[session][key])
}

func keyOf(key int) string { return fmt.Sprintf("form-%d", key) }

// put writes a new version of a value.
func (s *sessionSet) put(ctx context.Context, session, key int, room *[]byte) error {
	s.versions[session][key]++
	size := s.load.bytes / sessionValues
	value := append((*room)[:0], s.text(session, key)...)
	for len(value) < size-1 {
		value = append(value, byte('a'+len(value)%26))
	}
	*room = append(value, '"')
	return s.client.Keep(ctx, s.sessions[session], keyOf(key), *room)
}

func (s *sessionSet) get(ctx context.Context, session, key int, room *[]byte) (err error) {
	if *room, err = s.client.Kept(ctx, s.sessions[session], keyOf(key), (*room)[:0]); err != nil {
		return err
	}
	if want := s.text(session, key); !bytes.HasPrefix(*room, []byte(want)) || len(*room) < s.load.bytes/sessionValues {
		return fmt.Errorf("%d bytes beginning with %.60q are not what it stored, %q", len(*room), *room, want)
	}
	return nil
}

// own are the sessions of a client: each is used by one at a time.
func (s *sessionSet) own(who int) int {
	return max(0, (len(s.sessions)-who+s.load.clients-1)/s.load.clients)
}

// warm up: each client does each kind of document once.
func (s *sessionSet) warm(ctx context.Context) error {
	return site.AllAtOnce(min(s.load.clients, len(s.sessions)), func(who int) error {
		rng := rand.New(rand.NewPCG(s.seed, 1<<32|uint64(who)))
		for _, op := range s.documents {
			if err := site.Do(ctx, s.client, s.sessions[who], op, rng); err != nil {
				return fmt.Errorf("warm up: %w", err)
			}
		}
		return nil
	})
}

// play has the clients work for some time: a form is read from its session, its document posted, and the form kept
// again. It returns the latencies, sorted.
func (s *sessionSet) play(ctx context.Context, d time.Duration) ([]time.Duration, error) {
	return site.BackToBack(ctx, s.load.clients, d, func(who int) func() error {
		own := s.own(who)
		if own == 0 {
			return nil
		}
		rng := rand.New(rand.NewPCG(s.seed, uint64(who)))
		var room []byte
		return func() error {
			n, read, write := who+s.load.clients*rng.IntN(own), rng.IntN(sessionValues), rng.IntN(sessionValues)
			if err := s.get(ctx, n, read, &room); err != nil {
				return err
			}
			if err := site.Do(ctx, s.client, s.sessions[n], s.documents.Pick(rng), rng); err != nil {
				return err
			}
			return s.put(ctx, n, write, &room)
		}
	})
}

// sessionMetrics are a worker's figures on its session data and memory, in bytes and since its start.
type sessionMetrics struct {
	memory, disk, hits, reads, spills, lost, refused, resident float64
	diskReads                                                  float64 // negative: unavailable
}

func askSessions(ctx context.Context, base string, pid int) (m sessionMetrics, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/metrics", nil)
	if err != nil {
		return m, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return m, fmt.Errorf("ask worker: %w", err)
	}
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		return m, fmt.Errorf("ask worker: %w", err)
	}
	for name, to := range map[string]*float64{
		"plimsoll_session_data_memory_bytes": &m.memory, "plimsoll_session_data_disk_bytes": &m.disk,
		"plimsoll_session_data_hits_total":  &m.hits,
		"plimsoll_session_data_reads_total": &m.reads, "plimsoll_session_data_spills_total": &m.spills,
		"plimsoll_session_data_lost_total":    &m.lost,
		"plimsoll_session_data_refused_total": &m.refused, "process_resident_memory_bytes": &m.resident,
	} {
		if all[name] == nil {
			return m, fmt.Errorf("ask worker: it does not report %s", name)
		}
		*to = single(all[name])
	}
	m.diskReads = diskReads(pid)
	return m, nil
}

func single(f *dto.MetricFamily) (sum float64) {
	for _, m := range f.GetMetric() {
		sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	return sum
}

// diskReads is what a process read from the disk itself (proc(5), read_bytes), not from the cache.
func diskReads(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "read_bytes: "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64); err == nil {
				return float64(n)
			}
		}
	}
	return -1
}

// since computes the figures of a turn.
func (m sessionMetrics) since(before sessionMetrics, turn time.Duration, session float64) trial.Figures {
	f := trial.Figures{
		inMemory: m.memory / 1e6, inFiles: m.disk / 1e6, resident: m.resident / 1e6,
		spilled: (m.spills - before.spills) * session / 1e6 / turn.Seconds(), fromFiles: 0,
	}
	if accesses := m.hits + m.reads - before.hits - before.reads; accesses > 0 {
		f[fromFiles] = 100 * (m.reads - before.reads) / accesses
	}
	if m.diskReads >= 0 && before.diskReads >= 0 {
		f[readFromDisk] = (m.diskReads - before.diskReads) / 1e6
	}
	return f
}
