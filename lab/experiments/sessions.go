package experiments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"plimsoll/erp/client"
)

const (
	// sessionClients work at once: while one waits for a file, others have the processors.
	sessionClients = 4
	// sessionValues make up the data of a session: none is larger than a request may be.
	sessionValues = 8
	mebibyte      = 1 << 20
	// sessionMargin is what lists and filters take that operations leave in sessions.
	sessionMargin = 8 * mebibyte

	sessionRate = "operations"
)

var sessionUnits = map[string]string{
	sessionRate: "1/s", "median": "ms", "p95": "ms", "from files": "% of accesses", "spilled": "MB/s", "in memory": "MB", "in files": "MB",
	"resident": "MB", "resident per session": "kB", "read from disk": "MB",
}

// sessionLoad is so many sessions, each with so many bytes of data.
type sessionLoad struct{ sessions, bytes int }

// bound in MiB is enough for that share of the data.
func (l sessionLoad) bound(holds float64) int {
	need := holds * float64(l.sessions) * float64(l.bytes)
	if holds >= 1 {
		need += sessionMargin
	}
	return max(1, int(need/mebibyte))
}

// measure a worker process that keeps so much of the data in memory.
func (l sessionLoad) measure(ctx context.Context, b Bench, dsn string, holds float64, turn time.Duration, seed uint64) (figures, error) {
	w, err := b.worker(ctx, dsn, "--session-memory", strconv.Itoa(l.bound(holds)), "--sessions", strconv.Itoa(l.sessions+1))
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	empty, err := look(ctx, w.URL, w.PID)
	if err != nil {
		return nil, err
	}
	c := newCloakroom(l, seed)
	defer c.carrier.CloseIdleConnections()
	if err = c.logIn(ctx, w.URL); err == nil {
		err = c.fill(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, well(w))
	}
	before, err := look(ctx, w.URL, w.PID)
	if err != nil {
		return nil, err
	}
	times, err := c.play(ctx, turn)
	if err == nil && len(times) == 0 {
		err = ctx.Err()
	}
	after, lookErr := look(ctx, w.URL, w.PID)
	if err = errors.Join(err, lookErr); err != nil || len(times) == 0 {
		return nil, errors.Join(err, well(w))
	}
	if after.lost > 0 || after.refused > 0 {
		return nil, fmt.Errorf("the worker lost the data of %.0f sessions and had no room for %.0f values", after.lost, after.refused)
	}
	f := after.since(before, turn, float64(l.bytes))
	f[sessionRate], f["median"], f["p95"] = float64(len(times))/turn.Seconds(), quantile(times, 0.5), quantile(times, 0.95)
	f["resident per session"] = (after.resident - empty.resident) / float64(l.sessions) / 1e3
	return f, nil
}

// cloakroom is the sessions of a worker, and what each has left there.
type cloakroom struct {
	load     sessionLoad
	seed     uint64
	client   *client.Client
	carrier  *http.Transport
	sessions []*client.Session
	versions [][sessionValues]uint32 // of the value that was written last
}

func newCloakroom(l sessionLoad, seed uint64) *cloakroom {
	carrier := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: sessionClients}
	return &cloakroom{
		load: l, seed: seed, carrier: carrier, client: client.New(client.Options{Transport: carrier}),
		sessions: make([]*client.Session, l.sessions), versions: make([][sessionValues]uint32, l.sessions),
	}
}

func (c *cloakroom) logIn(ctx context.Context, base string) error {
	users, err := c.client.Users(ctx, base)
	if err != nil {
		return err
	}
	for n := range users { // the first login of a warehouse leaves its lists in the session, which is to have room for its own
		first, err := c.client.Login(ctx, base, client.UserCode(1+n))
		if err == nil {
			err = c.client.Logout(ctx, first)
		}
		if err != nil {
			return err
		}
	}
	return c.each(func(_, n int) (err error) {
		c.sessions[n], err = c.client.Login(ctx, base, client.UserCode(1+n%users))
		return err
	})
}

// each session is its client's alone.
func (c *cloakroom) each(do func(who, session int) error) error {
	return allAtOnce(sessionClients, func(who int) error {
		for n := who; n < len(c.sessions); n += sessionClients {
			if err := do(who, n); err != nil {
				return fmt.Errorf("session %d: %w", n+1, err)
			}
		}
		return nil
	})
}

func (c *cloakroom) fill(ctx context.Context) error {
	var room [sessionClients][]byte
	return c.each(func(who, n int) error {
		for key := range sessionValues {
			if err := c.put(ctx, n, key, &room[who]); err != nil {
				return err
			}
		}
		return nil
	})
}

// text begins the value of a session under a key in a version, so that it cannot be taken for another.
func (c *cloakroom) text(session, key int) string {
	return fmt.Sprintf("\"session %d, value %d, version %d ", session, key, c.versions[session][key])
}

func keyOf(key int) string { return fmt.Sprintf("form-%d", key) }

// put a new version of a value.
func (c *cloakroom) put(ctx context.Context, session, key int, room *[]byte) error {
	c.versions[session][key]++
	size := c.load.bytes / sessionValues
	value := append((*room)[:0], c.text(session, key)...)
	for len(value) < size-1 {
		value = append(value, byte('a'+len(value)%26))
	}
	*room = append(value, '"')
	return c.client.Keep(ctx, c.sessions[session], keyOf(key), *room)
}

func (c *cloakroom) get(ctx context.Context, session, key int, room *[]byte) (err error) {
	if *room, err = c.client.Kept(ctx, c.sessions[session], keyOf(key), (*room)[:0]); err != nil {
		return err
	}
	if want := c.text(session, key); !bytes.HasPrefix(*room, []byte(want)) || len(*room) < c.load.bytes/sessionValues {
		return fmt.Errorf("%d bytes beginning with %.60q are not what it left, %q", len(*room), *room, want)
	}
	return nil
}

// play has the clients work for some time; the answer is what each operation took, sorted.
func (c *cloakroom) play(ctx context.Context, d time.Duration) (all []time.Duration, err error) {
	var mutex sync.Mutex
	end := time.Now().Add(d)
	err = allAtOnce(sessionClients, func(who int) error {
		own := (len(c.sessions) - who + sessionClients - 1) / sessionClients
		if own <= 0 {
			return nil
		}
		rng := rand.New(rand.NewPCG(c.seed, uint64(who)))
		var room []byte
		var mine []time.Duration
		for began := time.Now(); began.Before(end) && ctx.Err() == nil; began = time.Now() {
			session, read, write := who+sessionClients*rng.IntN(own), rng.IntN(sessionValues), rng.IntN(sessionValues)
			err := c.get(ctx, session, read, &room)
			if err == nil {
				err = c.put(ctx, session, write, &room)
			}
			if err != nil {
				return err
			}
			mine = append(mine, time.Since(began))
		}
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, mine...)
		return nil
	})
	slices.Sort(all)
	return all, err
}

// kept is what a worker says of its session data and its memory, in bytes and since it began.
type kept struct {
	memory, disk, hits, reads, spills, lost, refused, resident float64
	diskReads                                                  float64 // negative: unavailable
}

func look(ctx context.Context, base string, pid int) (k kept, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/metrics", nil)
	if err != nil {
		return k, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return k, fmt.Errorf("ask worker: %w", err)
	}
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		return k, fmt.Errorf("ask worker: %w", err)
	}
	for name, to := range map[string]*float64{
		"plimsoll_session_data_memory_bytes": &k.memory, "plimsoll_session_data_disk_bytes": &k.disk, "plimsoll_session_data_hits_total": &k.hits,
		"plimsoll_session_data_reads_total": &k.reads, "plimsoll_session_data_spills_total": &k.spills, "plimsoll_session_data_lost_total": &k.lost,
		"plimsoll_session_data_refused_total": &k.refused, "process_resident_memory_bytes": &k.resident,
	} {
		if all[name] == nil {
			return k, fmt.Errorf("ask worker: it does not tell %s", name)
		}
		*to = single(all[name])
	}
	k.diskReads = diskReads(pid)
	return k, nil
}

func single(f *dto.MetricFamily) (sum float64) {
	for _, m := range f.GetMetric() {
		sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	return sum
}

// diskReads is what a process had from the disk itself (proc(5), read_bytes), not from the cache.
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

// since makes the figures of a turn.
func (k kept) since(before kept, turn time.Duration, session float64) figures {
	f := figures{
		"in memory": k.memory / 1e6, "in files": k.disk / 1e6, "resident": k.resident / 1e6,
		"spilled": (k.spills - before.spills) * session / 1e6 / turn.Seconds(), "from files": 0,
	}
	if accesses := k.hits + k.reads - before.hits - before.reads; accesses > 0 {
		f["from files"] = 100 * (k.reads - before.reads) / accesses
	}
	if k.diskReads >= 0 && before.diskReads >= 0 {
		f["read from disk"] = (k.diskReads - before.diskReads) / 1e6
	}
	return f
}
