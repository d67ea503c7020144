package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// exitRecord is how the last postmaster ended, as its parent saw it.
type exitRecord struct {
	At  time.Time `json:"at"`
	How string    `json:"how"`
}

func (r exitRecord) String() string {
	return fmt.Sprintf("%s at %s", r.How, r.At.Local().Format(time.DateTime))
}

func (c *Cluster) exitPath() string { return filepath.Join(c.dir, "last-exit.json") }

// recordExit ignores errors: a full disk or a cluster that is gone just has no record.
func (c *Cluster) recordExit(err error) {
	r := exitRecord{At: time.Now().UTC().Truncate(time.Second), How: "shut down"}
	if err != nil {
		r.How = err.Error()
	}
	text, err := json.Marshal(r)
	if err == nil {
		_ = writeFile(c.exitPath(), append(text, '\n'), 0o600)
	}
}

func (c *Cluster) forgetExit() error {
	if err := os.Remove(c.exitPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return environment(err)
	}
	return nil
}

// lastExit is zero while the postmaster runs, and if no parent saw its end.
func (c *Cluster) lastExit() string {
	var r exitRecord
	text, err := os.ReadFile(c.exitPath())
	if err != nil || json.Unmarshal(text, &r) != nil {
		return ""
	}
	return r.String()
}
