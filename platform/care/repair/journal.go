package repair

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

const (
	journalSQL = `INSERT INTO plimsoll_repair (step, run, class, object, document, changes, why, proof)
SELECT coalesce(max(step), 0) + 1, $1, $2, $3, $4, $5, $6, $7 FROM plimsoll_repair`
	entriesSQL = `SELECT step, run, made_at, class, object, document, changes, why, proof FROM plimsoll_repair
WHERE step > $1 ORDER BY step`
)

// Entry of the journal: a step that was committed.
type Entry struct {
	Database string                    `json:"database"` // that it was done in
	Step     int64                     `json:"step"`
	Run      id.ID                     `json:"run"`
	At       time.Time                 `json:"at"`
	Class    Class                     `json:"class"`
	Object   string                    `json:"object"`
	Document id.ID                     `json:"document,omitzero"`
	Changes  []Change                  `json:"changes"`
	Why      string                    `json:"why"`
	Proof    map[string]map[string]sum `json:"proof"` // before and after, by table
}

// changesNoted of a step: a table of totals that was lost has more than a value of JSON holds.
const changesNoted = 1000

// journal queues noting a step in its own transaction. Repairs run one at a time, so numbers do not collide.
func journal(_ context.Context, w *database.Work, run id.ID, s *Step, p *proof) error {
	noted := s.Changes
	if more := len(noted) - changesNoted; more > 0 {
		noted = append(slices.Clone(noted[:changesNoted]), Change{Field: fmt.Sprintf("and %d more", more)})
	}
	changes, err := json.Marshal(noted)
	if err != nil {
		return err
	}
	sums, err := json.Marshal(map[string]map[string]sum{"before": p.before, "after": p.after})
	if err != nil {
		return err
	}
	w.Queue("note step", journalSQL, run, string(s.Class), s.Object, s.Document, string(changes), s.Why, string(sums))
	return nil
}

// Journal brings a file of JSON lines up to what the database's own journal holds: a line for each step, also for those
// of a repair that was killed before it wrote them. It returns how many lines it added.
func Journal(ctx context.Context, db *database.Database, path string) (added int, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return 0, fmt.Errorf("open journal: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	last, end, err := lastEntry(file, db.Identity())
	if err != nil {
		return 0, problem.New(problem.Usage, fmt.Errorf("read journal %s: %w", path, err), "name another file")
	}
	if err := errors.Join(file.Truncate(end), seek(file, end)); err != nil {
		return 0, err
	}
	var entries []Entry
	var newest int64
	err = db.Read(ctx, func(w *database.Work) error {
		entries = nil
		w.Queue("last step", "SELECT coalesce(max(step), 0) FROM plimsoll_repair").Rows(func(r pgx.Rows) error {
			return r.Scan(&newest)
		})
		w.Queue("read journal", entriesSQL, last).Rows(func(r pgx.Rows) error {
			e := Entry{Database: db.Identity()}
			var changes, sums []byte
			if err := r.Scan(&e.Step, &e.Run, &e.At, &e.Class, &e.Object, &e.Document, &changes, &e.Why,
				&sums); err != nil {
				return err
			}
			entries = append(entries, e)
			one := &entries[len(entries)-1]
			return errors.Join(json.Unmarshal(changes, &one.Changes), json.Unmarshal(sums, &one.Proof))
		})
		return nil
	})
	if err != nil {
		return 0, err
	}
	if newest < last {
		return 0, problem.New(problem.Usage, fmt.Errorf("journal %s has %d steps, the database only %d of them: it "+
			"was restored from an older backup", path, last, newest), "name another file")
	}
	out := json.NewEncoder(file)
	for _, e := range entries {
		if err := out.Encode(e); err != nil {
			return added, err
		}
		added++
	}
	return added, file.Sync()
}

func seek(file *os.File, to int64) error {
	_, err := file.Seek(to, io.SeekStart)
	return err
}

// lastEntry is the last step of a database in a journal, and where whole lines end: a line cut off is written again.
func lastEntry(file io.Reader, name string) (last, end int64, err error) {
	in := bufio.NewReader(file)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			begins := `{"database":"` + name + `"`
			if !strings.HasPrefix(string(line), begins) && !strings.HasPrefix(begins, string(line)) {
				return 0, 0, errors.New("it is not a repair journal")
			}
			return last, end, nil
		}
		if err != nil {
			return 0, 0, err
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil || e.Step == 0 {
			return 0, 0, errors.New("it is not a repair journal")
		}
		if e.Database != name {
			return 0, 0, errors.New("it belongs to another database")
		}
		last, end = e.Step, end+int64(len(line))
	}
}
