package cli

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/background"
	"plimsoll/erp/monthclose"
	"plimsoll/lab/run/worker"
	"plimsoll/lab/system"
	"plimsoll/platform/books/group"
	"plimsoll/platform/books/group/grouptest"
	"plimsoll/platform/worker/jobs"
	"plimsoll/test/patience"
)

// closing months in a cluster whose workers and server are killed.
type closing struct {
	*killStand
	dsn  string
	jobs *jobs.Jobs // to submit jobs and look at them
	last time.Time  // month that can be closed
}

func newClosing(t *testing.T) *closing {
	s := newKillStand(t, "--log", "replica")
	all, err := background.New(s.db, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	month, err := monthclose.Month(s.value(t, "SELECT to_char(max(date), 'YYYY-MM') FROM doc_goods_sale"))
	if err != nil {
		t.Fatal(err)
	}
	return &closing{killStand: s, dsn: s.cluster.DSN(system.Database).Secret(), jobs: all,
		last: month.AddDate(0, -1, 0)}
}

// worker is a process of 'plimsoll serve' that works on jobs, and its log.
func (c *closing) worker(t *testing.T, more ...string) (*worker.Worker, *watched) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := &watched{}
	w, err := worker.Start(patience.Context(t), append([]string{self, "serve", "--cluster", c.one, "--listen",
		"127.0.0.1:0", "--jobs", "2", "--json"}, more...), nil, log)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	t.Cleanup(w.Kill)
	return w, log
}

// killedUndoing starts to undo a group, and is killed in the transaction of its last step.
func (c *closing) killedUndoing(t *testing.T, one group.Group) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	gate := grouptest.Close(t, c.dsn, 0)
	cmd := exec.Command(self, "groups", "undo", one.ID.String(), "--cluster", c.one)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gate.Await(t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed
	left := c.left(t)
	gate.Open(t)
	if len(left) != 1 || left[0].State != group.Undoing {
		t.Fatalf("want one group being undone, got %+v", left)
	}
}

// submit asks for one organisation's months.
func (c *closing) submit(t *testing.T) int64 {
	t.Helper()
	arguments := fmt.Sprintf(`{"organisation": %q, "month": %q, "through": true}`,
		c.value(t, "SELECT id FROM cat_organisations ORDER BY code LIMIT 1"), c.last.Format(monthclose.Format))
	number, _, err := c.jobs.Submit(t.Context(), monthclose.Kind, operator, json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// half kills a worker, or it and the server, before the second month of a group is counted.
func (c *closing) half(t *testing.T, kill func(*worker.Worker)) (one group.Group, job int64) {
	t.Helper()
	gate := grouptest.Close(t, c.dsn, 2)
	w, _ := c.worker(t)
	job = c.submit(t)
	patience.Until(t, "the job is held up, or has ended", func() bool {
		if gate.Held(t) {
			return true
		}
		if now, err := c.jobs.Show(t.Context(), operator, job); err != nil || now.State.Ended() {
			t.Fatalf("it ended in the middle: %+v, %v", now, err)
		}
		return false
	})
	kill(w)
	left := c.left(t)
	gate.Open(t)
	if len(left) != 1 || left[0].Why != "" || left[0].Done != 1 || left[0].Planned < 2 {
		t.Fatalf("left after the kill: %+v", left)
	}
	if o := plimsoll(t, "groups", "--cluster", c.one); !strings.Contains(o.stdout, left[0].ID.String()) ||
		!strings.Contains(o.stdout, "a crash") {
		t.Errorf("groups: %s", o.stdout)
	}
	return left[0], job
}

func (c *closing) left(t *testing.T) (left []group.Group) {
	t.Helper()
	if !patience.Holds(func() bool { // the session of the killed worker ends a moment later
		var err error
		left, err = group.Left(t.Context(), c.db)
		return err == nil && len(left) > 0
	}) {
		t.Error("no group is half-done")
	}
	return left
}

func (c *closing) closed(t *testing.T) string {
	t.Helper()
	return c.value(t, "SELECT count(*) FROM doc_month_close WHERE posted")
}

// atRest waits until the job and all its parts have ended.
func (c *closing) atRest(t *testing.T, number int64) (job jobs.Job) {
	t.Helper()
	patience.Until(t, "the job has ended", func() bool {
		var err error // of connections to a server that was killed
		job, err = c.jobs.Show(t.Context(), operator, number)
		return err == nil && job.State.Ended() && job.Parts.Running == 0
	})
	return job
}

// recovered starts a worker, which must say what became of the group, and waits for the job.
func (c *closing) recovered(t *testing.T, state group.State, number int64) (job jobs.Job) {
	t.Helper()
	w, log := c.worker(t)
	patience.Until(t, "the log says that the group is "+string(state), func() bool {
		logged := log.String()
		return strings.Contains(logged, "recovered a group") && strings.Contains(logged, "is="+string(state))
	})
	job = c.atRest(t, number)
	w.Stop()
	plimsoll(t, "audit", "--cluster", c.one, "--quiet").want(t, ExitOK)
	return job
}

// A worker that starts goes on with what a crash left: it undoes what somebody was undoing, and finishes months that
// were being closed. A standby shows what it sees, and writes nothing.
func TestServeRecoversGroupsAtItsStart(t *testing.T) {
	c := newClosing(t)
	plimsoll(t, "up", "second", "--replica", "--of", c.one, "--socket-only", "--quiet").want(t, ExitOK)

	one, job := c.half(t, func(w *worker.Worker) { w.Kill() })
	c.onStandby(t, one)
	c.killedUndoing(t, one)
	c.recovered(t, group.Undone, job) // the part that the killed worker left in the queue is not done again
	if c.closed(t) != "0" {
		t.Errorf("undone, and %s months are closed", c.closed(t))
	}
	c.onStandby(t)

	one, job = c.half(t, func(w *worker.Worker) {
		if err := c.cluster.Kill(patience.Context(t)); err != nil {
			t.Fatal(err)
		}
		w.Kill()
		plimsoll(t, append(c.upOne, "--quiet")...).want(t, ExitOK)
	})
	if done := c.recovered(t, group.Whole, job); done.State != jobs.Done {
		t.Errorf("the job: %+v", done)
	}
	if c.closed(t) != fmt.Sprint(one.Planned) || c.value(t, "SELECT count(*) FROM doc_month_close WHERE posted") !=
		c.value(t, "SELECT count(DISTINCT date) FROM doc_month_close") {
		t.Errorf("%s of %d months are closed", c.closed(t), one.Planned)
	}

	c.jobsCommitAs(t, "sync,background=async", "off")
	c.jobsCommitAs(t, "async,background=sync", "on")
}

// Jobs commit as their worker was told, whatever the server's setting is. The title of the group notes how.
func (c *closing) jobsCommitAs(t *testing.T, durability, want string) {
	t.Helper()
	c.do(t, `CREATE OR REPLACE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			NEW.title := NEW.title || ' ' || current_setting('synchronous_commit');
			RETURN NEW;
		END $$;
		CREATE OR REPLACE TRIGGER note_commit BEFORE INSERT OR UPDATE ON plimsoll_group
			FOR EACH ROW EXECUTE FUNCTION note_commit()`)
	w, _ := c.worker(t, "--durability", durability)
	arguments := fmt.Sprintf(`{"month": %q, "reopen": true}`, c.last.Format(monthclose.Format))
	number, _, err := c.jobs.Submit(t.Context(), monthclose.Kind, operator, json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	if job := c.atRest(t, number); job.State != jobs.Done {
		t.Errorf("want the job done, got %+v", job)
	}
	w.Stop()
	c.do(t, "DROP FUNCTION note_commit CASCADE")
	if title := c.value(t, "SELECT title FROM plimsoll_group ORDER BY begun_at DESC LIMIT 1"); !strings.HasSuffix(title,
		c.last.Format(monthclose.Format)+" "+want+" "+want) {
		t.Errorf("jobs of --durability %s: begun and done with synchronous_commit: %s, want %s", durability, title,
			want)
	}
	c.last = c.last.AddDate(0, -1, 0)
}

func (c *closing) do(t *testing.T, sql string) {
	t.Helper()
	if err := c.db.Borrow(t.Context(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), sql)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// onStandby waits until the standby sees these unfinished groups, and no others.
func (c *closing) onStandby(t *testing.T, want ...group.Group) {
	t.Helper()
	var got struct {
		Standby            bool
		Groups, Unfinished []group.Group
	}
	patience.Until(t, fmt.Sprintf("the standby sees %d unfinished groups", len(want)), func() bool {
		o := plimsoll(t, "groups", "--cluster", "second", "--json")
		o.want(t, ExitOK)
		o.decode(t, &got)
		return len(got.Unfinished) == len(want) || t.Failed()
	})
	o := plimsoll(t, "groups", "--cluster", "second")
	o.want(t, ExitOK)
	if len(want) == 0 {
		if o.stdout != "no group is unfinished\n" {
			t.Errorf("a standby without one says %q", o.stdout)
		}
		return
	}
	id := want[0].ID.String()
	if !got.Standby || len(got.Groups) != 0 || got.Unfinished[0].ID != want[0].ID ||
		!strings.Contains(o.stdout, id) || strings.Contains(o.stdout, "a crash") {
		t.Errorf("%+v, %s", got, o.stdout)
	}
	for _, verb := range []string{groupsFinish, groupsUndo} {
		plimsoll(t, "groups", verb, id, "--cluster", "second").want(t, ExitEnvironment, "the standby is read-only",
			verb+" the group on its primary")
	}
}
