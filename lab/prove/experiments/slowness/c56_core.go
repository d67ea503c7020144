package slowness

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"plimsoll/erp/client"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Sides, figures and bars of C56.
const (
	oneThread   = "a component of one thread"
	manyThreads = "of a thread for each processor"

	documentTime = "time of a document"
	formTime     = "time to keep a form"
	busyCores    = "cores busy"
	named        = "named"

	// Users feel slowerBy; two runs of one system differ by up to notSlower.
	slowerBy, notSlower = 1.2, 1.05
	// looksIdle is the percentage of busy cores below which nobody takes the machine for full.
	looksIdle = 85
	// manyCores beside which one is little; the report's machine has 24.
	manyCores = 8

	coreWriters = 4
	coreThink   = 200 * time.Millisecond
	// formBytes of a value that a form keeps in its session. The worker reads and checks it; the user only sends it, so
	// that the users do not fill their core first.
	formBytes = 100_000
	formLine  = 100 // bytes, at most
	// formsBeyond what one thread can do do the others ask for: two can. As they wait for their answers they ask for
	// less where it is slow: with 1.2 a thread is busy 88 % of the time (formsBusy), and no core is filled.
	formsBeyond = 1.8
	formsAsking = 3 * time.Second
)

// formUsers keep the data of their forms, so that all users together are as many as elsewhere.
const formUsers = site.Clients - coreWriters

// filledCore is the experiment behind C56: the worker, which is a component of the system, has one thread or several.
func filledCore(b site.Bench, _ *site.Site) trial.Trial {
	o, pace := newOffice(b), &formPace{}
	part := o.part(trial.Series{Name: documentTime, Unit: "ms"}, trial.Series{Name: formTime, Unit: "ms"},
		trial.Series{Name: busyCores, Unit: "%"}, trial.Series{Name: named},
		trial.Series{Name: processors, Hidden: true})
	side := func(name string, threads int) trial.Side {
		return trial.Side{Name: name, Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
			dsn, err := o.copy(ctx)
			if err != nil {
				return nil, err
			}
			d, err := newDesk(ctx, b, dsn, arrangement{users: coreWriters, threads: threads}, r.AtEnd)
			if err != nil {
				return nil, err
			}
			f, err := openForms(ctx, d.worker.URL)
			if err != nil {
				return nil, err
			}
			r.Close(f.close)
			if threads == 1 { // it comes first
				if err := pace.measure(ctx, f, r); err != nil {
					return nil, err
				}
			}
			return func(ctx context.Context, n int) (trial.Figures, error) {
				return d.beside(ctx, f, pace, part.Turn, n)
			}, nil
		}}
	}
	part.Sides = []trial.Side{side(oneThread, 1), side(manyThreads, 0)}
	slower := trial.Ratio{Of: trial.At(oneThread, documentTime), To: trial.At(manyThreads, documentTime)}
	forms := trial.Ratio{Of: trial.At(oneThread, formTime), To: trial.At(manyThreads, formTime)}
	busy := trial.Every{Of: trial.At(oneThread, busyCores), Unit: "%"}
	tells := trial.Every{Of: trial.At(oneThread, named)}
	part.Measured = []trial.Phrase{trial.Say("documents take %s and forms %s where the application server has one "+
		"thread; all cores together are then busy %s; 'plimsoll diagnose' names it (1: yes, 0: no): %s", slower, forms,
		busy, tells)}
	return trial.Trial{
		Text: fmt.Sprintf("%d users post documents while %d keep the data of their forms, on an application server of "+
			"one thread and on one of several", coreWriters, formUsers),
		Parts: []trial.Part{part}, Overhead: officeMaking + deskMaking(2, coreWriters) + formsAsking,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least)}, Direction: []trial.Criterion{
			{Of: slower, Confirm: trial.AtLeast(slowerBy), Refute: trial.Below(notSlower)},
			{Of: busy, Confirm: trial.AtMost(looksIdle), Unless: "the machine is full, and not only one core"},
			isNamed(tells),
		}, Situation: []trial.Condition{
			{Of: trial.Every{Of: trial.At(oneThread, processors), As: processors}, Report: "24",
				Met: trial.AtLeast(manyCores)},
			site.AtWork(coreWriters+formUsers, "40 jobs")}},
		Conditions: []claims.Condition{officeCondition(coreThink), {Name: "component", Text: fmt.Sprintf("the ERP's "+
			"application server with one thread for its code (GOMAXPROCS=1): it executes the documents, and keeps "+
			"forms of %d kB in the sessions, of which is asked for %.0f %% of what one thread can do", formBytes/1000,
			100*formsBeyond)}},
	}
}

// beside posts documents while others keep forms and 'plimsoll diagnose' looks on.
func (d *desk) beside(ctx context.Context, forms *forms, pace *formPace, length time.Duration, n int) (trial.Figures,
	error) {
	var kept []time.Duration
	documents, found, err := d.watched(ctx, length, coreThink, n,
		func(ctx context.Context, length time.Duration) (found *diagnose.Diagnosis, err error) {
			err = site.AllAtOnce(2, func(who int) (err error) {
				if who == 0 {
					kept, err = forms.play(ctx, length, pace.think)
				} else {
					found, err = d.diagnosed(ctx, length)
				}
				return err
			})
			return found, err
		})
	if err != nil {
		return nil, err
	}
	f := trial.Figures{documentTime: site.Mean(documents), formTime: site.Mean(kept), named: 0,
		processors: float64(runtime.NumCPU())}
	if found.Host != nil && found.Host.Full != nil {
		f[named] = flag(hasFinding(found, "one-core-filled") && found.Host.Full.PID == d.worker.PID)
	}
	busyOf(f, found)
	return f, nil
}

// formsBusy is how busy a thread is of which so many users ask for so many times what it can do, each thinking before
// the next request: 1 - p0 of the queue M/M/1//N (machine interference).
func formsBusy(users int, beyond float64) float64 {
	waiting, all := 1.0, 0.0 // of none at the thread, and of all numbers
	for there := range users + 1 {
		all += waiting
		waiting *= float64(users-there) * beyond / float64(users)
	}
	return 1 - 1/all
}

// formPace is how long the users of forms think, so that they ask for more than one thread can do.
type formPace struct{ think time.Duration }

func (p *formPace) measure(ctx context.Context, f *forms, r *trial.Record) error {
	times, err := f.play(ctx, formsAsking, 0)
	if err != nil {
		return err
	}
	capacity := float64(len(times)) / formsAsking.Seconds()
	p.think = time.Duration(formUsers / (formsBeyond * capacity) * float64(time.Second))
	r.Condition("capacity of one thread", fmt.Sprintf("%.0f forms kept a second", capacity))
	return nil
}

// forms are users who keep the data of a form in their sessions.
type forms struct {
	client    *client.Client
	transport *http.Transport
	sessions  []*client.Session
	value     []byte // JSON
}

func openForms(ctx context.Context, base string) (*forms, error) {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: formUsers}
	f := &forms{client: client.New(client.Options{Transport: transport}), transport: transport,
		value: formValue()}
	for n := range formUsers {
		// The first login of a warehouse leaves its lists in the session, beside which there is no room for a form.
		first, err := f.client.Login(ctx, base, client.UserCode(1+n))
		if err == nil {
			err = f.client.Logout(ctx, first)
		}
		if err != nil {
			return nil, err
		}
		session, err := f.client.Login(ctx, base, client.UserCode(1+n))
		if err != nil {
			return nil, err
		}
		f.sessions = append(f.sessions, session)
	}
	return f, nil
}

// formValue is a table of a form, with a row for each line.
func formValue() []byte {
	var b bytes.Buffer
	b.WriteString("[")
	for n := 1; b.Len() < formBytes-formLine; n++ {
		if n > 1 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"line":%d,"item":"goods %d","quantity":%d,"price":%d.50,"checked":true}`, n, n, n%7, n%100)
	}
	b.WriteString("]")
	return b.Bytes()
}

func (f *forms) close() { f.transport.CloseIdleConnections() }

func (f *forms) play(ctx context.Context, length, think time.Duration) ([]time.Duration, error) {
	return site.Thinking(ctx, len(f.sessions), length, think, func(who int) func() error {
		return func() error { return f.client.Keep(ctx, f.sessions[who], "form", f.value) }
	})
}
