package repair

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// operation whose document is gone. Where anything is left of it, only a backup has the rest. Its key is freed for its
// client. What was acknowledged stays noted, and is a violation, until the client has sent it again; forgetting it
// before must be asked for.
func (p *planning) operation(ctx context.Context, w *database.Work, f finding) error {
	var key string
	at := strings.LastIndex(f.Subject, " document=")
	if !strings.HasPrefix(f.Subject, "key=") || at < 0 {
		return nil
	}
	key = f.Subject[len("key="):at]
	v, err := id.Parse(f.Subject[at+len(" document="):])
	if err != nil {
		return nil
	}
	r, kind := p.Repairer, f.invariant
	if recorded, err := r.recorded(ctx, w, documentRef{kind, v}); err != nil || recorded.any() {
		return err
	}
	lost := posting.LostMark + v.String()
	s := Step{Class: Resubmit, Object: fmt.Sprintf("operation %q of %s %s", strings.TrimSuffix(key, lost), kind, v),
		Document: v, Risk: Low, Changes: []Change{{"key", "done", "free"}},
		Why: "acknowledged, but its document is gone: the client must send it again with the " +
			"same key; it stays recorded until then"}
	sql := "UPDATE plimsoll_operation SET key = key || '" + lost + "' WHERE document = $1 AND key = $2"
	switch freed := strings.HasSuffix(key, lost); {
	case r.forget:
		s.Why = "acknowledged, but its document is gone: its record is deleted"
		s.Changes = []Change{{"key", "done", "forgotten"}}
		sql = "DELETE FROM plimsoll_operation WHERE document = $1 AND key = $2"
	case freed:
		s.Skipped = "its key is free, but its client has not sent it again; --forget-lost gives it up"
		p.add(s)
		return nil
	}
	s.act = func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
		recorded, err := r.recorded(ctx, w, documentRef{kind, v})
		if err != nil {
			return false, err
		}
		if recorded.any() || !recorded.operation {
			return false, nil
		}
		at := part{"plimsoll_operation", "plimsoll_operation t WHERE t.document = $1", []any{v}}
		if err := p.open(ctx, w, at); err != nil {
			return false, err
		}
		w.Queue("free key", sql, v, key)
		return true, errors.Join(w.Flush(ctx), p.close(ctx, w))
	}
	p.add(s)
	return nil
}

const (
	renumberSQL = `INSERT INTO plimsoll_number AS n (organisation, kind, next)
SELECT $1, $2, coalesce(max(substr(number, $3)::bigint), 0) + 1 FROM %s
WHERE organisation = $1 AND number ~ ('^' || $4 || '-[0-9]{1,18}$')
ON CONFLICT (organisation, kind) DO UPDATE SET next = excluded.next WHERE n.next < excluded.next`
)

func (p *planning) counter(f finding) {
	meta, known := p.app.Document(f.invariant)
	v, err := id.Parse(uuidPattern.FindString(f.Subject))
	if !known || err != nil {
		return
	}
	p.add(Step{Class: Renumber, Object: f.Subject, Risk: Low, Why: "numbers beyond the counter are in use",
		Changes: []Change{{f.Field, f.Found, f.Expected}},
		act: func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
			at := part{"plimsoll_number", "plimsoll_number t WHERE t.organisation = $1 AND t.kind = $2",
				[]any{v, meta.Name}}
			if err := p.open(ctx, w, at); err != nil {
				return false, err
			}
			var moved int64
			w.Queue("renumber", fmt.Sprintf(renumberSQL, meta.Table()), v, meta.Name, len(meta.Prefix)+2, meta.Prefix).
				Affected(func(n int64) error { moved = n; return nil })
			return moved > 0, errors.Join(w.Flush(ctx), p.close(ctx, w))
		}})
}
