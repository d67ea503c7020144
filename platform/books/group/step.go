package group

import (
	"encoding/json"
	"fmt"

	"plimsoll/platform/data/database"
)

// Step is a member that is done or undone.
type Step struct {
	N      int // from 0
	Member json.RawMessage

	group *Group
	to    int // how many are done afterwards
}

// Key names the step, the same for each repetition by one owner, and another one for everybody else.
func (s Step) Key() string { return fmt.Sprintf("group %s %s %d", s.group.ID, s.group.owner, s.N) }

// state of the group after the step.
func (s Step) state() State {
	switch {
	case s.group.State == Doing && s.to == s.group.Planned:
		return Whole
	case s.group.State == Undoing && s.to == 0:
		return Undone
	}
	return s.group.State
}

const countSQL = `UPDATE plimsoll_group SET done = $5, state = $6, why = '', changed_at = now()
WHERE id = $1 AND owner = $2 AND state = $3 AND done = $4`

// Count queues counting the member, in the transaction that does it. It fails if the group is not ours any more.
func (s Step) Count(w *database.Work) {
	g := s.group
	w.Queue("count member", countSQL, g.ID, g.owner, string(g.State), g.Done, s.to, string(s.state())).
		Affected(func(n int64) error {
			if n != 1 {
				return ErrTaken
			}
			return nil
		})
}
