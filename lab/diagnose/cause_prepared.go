package diagnose

import (
	"fmt"
	"strings"
)

// Prepared names the prepared transaction that holds a lock.
type Prepared struct {
	GID      string  `json:"gid"`
	Owner    string  `json:"owner"`
	Database string  `json:"database"`
	AgeS     float64 `json:"age_s"`
	XIDs     int64   `json:"transactions_since"`
	Holds    string  `json:"holds"` // locks of tables of the connected database
}

func (p Prepared) says() string {
	holds := ""
	if p.Holds != "" {
		holds = "; it holds " + p.Holds
	}
	return fmt.Sprintf("prepared transaction %s of %s in database %s, prepared %.0f s ago, %d transactions began "+
		"since%s",
		p.GID, p.Owner, p.Database, p.AgeS, p.XIDs, holds)
}

// lockOfPrepared: a transaction is prepared for two-phase commit, and nobody ends it.
var lockOfPrepared = cause{
	name:    "prepared-transaction",
	healthy: "",
	classes: inLocks,
	find: func(m *measured) (*Finding, string) {
		f := m.blockedBy(func(s Story) bool { return s.Root.Prepared != nil })
		if f == nil {
			return nil, ""
		}
		var gids []string
		for _, s := range m.stories {
			if p := s.Root.Prepared; p != nil {
				f.Evidence = append(f.Evidence, p.says())
				gids = append(gids, nonEmpty(p.GID, "its name is not known"))
				if p.GID == "" {
					f.Next = append(f.Next, "SELECT * FROM pg_prepared_xacts    which one?")
					continue
				}
				f.Next = append(f.Next, fmt.Sprintf("COMMIT PREPARED '%[1]s' or ROLLBACK PREPARED '%[1]s' in database "+
					"%[2]s, as its transaction manager decided: the other choice loses or doubles its changes",
					strings.ReplaceAll(p.GID, "'", "''"), p.Database))
			}
		}
		f.Title = "Sessions wait for a prepared transaction: " + strings.Join(gids, ", ")
		f.Mechanism = "A transaction that is prepared (PREPARE TRANSACTION) has no session any more. It keeps its " +
			"locks and holds back vacuum until somebody commits it or rolls it back, also over a restart."
		f.Excluded = []string{"no session holds these locks: ending sessions does not help"}
		f.Next = append(f.Next, "find out why the transaction manager did not finish it; max_prepared_transactions "+
			"= 0 "+
			"where none is used")
		return f, ""
	},
}
