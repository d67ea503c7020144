package posting

import (
	"context"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// Reverse deletes everything that a recorder has in a register, whatever organisation and time its rows name. Totals
// follow as in Examined.Repair.
func (b *Books) Reverse(ctx context.Context, w *database.Work, name string, recorder id.ID) error {
	if known := b.known[name]; known != nil {
		known.Erase(w, recorder)
		return nil
	}
	t, err := b.readRecording(ctx, w, name, recorder)
	if err != nil {
		return err
	}
	follow := t.weighed != nil && t.weighed.Keys == t.weighed.Stored
	if r := b.registers[name]; r != nil {
		r.Erase(w, recorder)
		if follow {
			r.Follow(w, t.recorder, t.movements, orNone(nil, r))
		}
		return w.Flush(ctx)
	}
	l := b.ledgers[name]
	l.Erase(w, recorder)
	if follow {
		l.Follow(w, t.recorder, t.entries, &ledger.Entries{})
	}
	return w.Flush(ctx)
}

// recording is what a recorder has in a register with totals, and how these agree with it. Rows of several
// organisations or times cannot be weighed.
type recording struct {
	recorder  register.Recorder
	movements *register.Movements
	entries   *ledger.Entries
	weighed   *register.Weighed
}

func (b *Books) readRecording(ctx context.Context, w *database.Work, name string,
	recorder id.ID) (t recording, err error) {
	several := 0
	w.Queue("read recorders", "SELECT DISTINCT organisation, period FROM "+b.table(name)+" WHERE recorder = $1",
		recorder).Rows(func(r pgx.Rows) error {
		several++
		t.recorder.ID = recorder
		return r.Scan(&t.recorder.Organisation, &t.recorder.Period)
	})
	r, l := b.registers[name], b.ledgers[name]
	if r != nil {
		t.movements = r.Read(w, recorder)
	} else {
		t.entries = l.Read(w, recorder)
	}
	if err := w.Flush(ctx); err != nil || several != 1 {
		return t, err
	}
	if r != nil {
		t.weighed = r.Weigh(w, t.recorder, t.movements, orNone(nil, r))
	} else {
		t.weighed = l.Weigh(w, t.recorder, t.entries, &ledger.Entries{})
	}
	return t, w.Flush(ctx)
}

// AskTotals asks totals about what a recorder has in registers. DocumentChanged: they were added up with it, so it was
// posted once. RecordsChanged: they were not, so it was never posted.
func (b *Books) AskTotals(ctx context.Context, w *database.Work, names []string, recorder id.ID) (Witness, error) {
	all, several := map[string]*register.Weighed{}, false
	for _, name := range names {
		if b.known[name] != nil {
			continue
		}
		t, err := b.readRecording(ctx, w, name, recorder)
		if err != nil {
			return Silent, err
		}
		if t.weighed == nil {
			several = true
			continue
		}
		all[name] = t.weighed
	}
	witness := jointWitness(all)
	if several && witness == RecordsChanged {
		witness = Silent
	}
	return witness, nil
}
