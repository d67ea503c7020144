package advise

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
)

// Journal is what was applied to one database and how it was before. It is written before each step:
//
//	planned ──change made──▶ done ──revert──▶ reverted, left
//	   ├──── stopped in between: applied again, or reverted
//	   └──── refused by the server
type Journal struct {
	Schema   string `json:"schema"`
	Server   string `json:"server"` // system identifier
	Database string `json:"database"`
	Cluster  string `json:"cluster,omitempty"`
	// Address as the last connection named it, and Data, the server's data directory: if it does not start, the journal
	// is found by the one and the server's file by the other.
	Address string `json:"address,omitempty"`
	Data    string `json:"data_directory,omitempty"`
	Steps   []Step `json:"steps"`

	path string
}

const journalSchema = "plimsoll-advise-journal-1"

// Step of a journal: one change of one advice.
type Step struct {
	Advice string    `json:"advice"`
	Title  string    `json:"title"`
	Change Change    `json:"change"`
	State  State     `json:"state"`
	At     time.Time `json:"at"`
	// Before is what ALTER SYSTEM had set; null: nothing. Worked is the value that the server used.
	Before *string `json:"before"`
	Worked string  `json:"worked,omitempty"`
	// Restore are the statements that recreate a dropped index as it was.
	Restore []string `json:"restore,omitempty"`
	// Made is the definition of an index that was built.
	Made string `json:"made,omitempty"`
	// Why a step was refused.
	Why string `json:"why,omitempty"`
	// Expected gain, and the actual one once it was compared.
	Expected *Range  `json:"expected_gain"`
	Actual   *Actual `json:"actual_gain"`
}

// State of a step.
type State string

// A step that is Left was changed by somebody else meanwhile. One that was Refused was not made.
const (
	Planned  State = "planned"
	Done     State = "done"
	Reverted State = "reverted"
	Left     State = "left"
	Refused  State = "refused"
)

// Folder of the journals.
func Folder() string { return filepath.Join(dirs.State(), "advise") }

const identitySQL = `SELECT system_identifier::text, current_setting('data_directory'), current_database(),
	pg_is_in_recovery() FROM pg_control_system()`

// openJournal of the database that conn is connected to.
func openJournal(ctx context.Context, conn *pgx.Conn, folder, cluster string) (*Journal, error) {
	var id, data, database string
	var standby bool
	if err := conn.QueryRow(ctx, identitySQL).Scan(&id, &data, &database, &standby); err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("identify the server: %w", err),
			"settings need a superuser; indexes need their table's owner, and the role pg_monitor")
	}
	address := addressOf(conn.Config())
	if err := dirs.Private(folder); err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("create the journal folder: %w", err), "")
	}
	names := []string{id, data, database}
	if standby { // it has its primary's identifier, and often the same folder on another machine
		names = append(names, "standby", address)
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	j := &Journal{Schema: journalSchema, Server: id, Database: database, Cluster: cluster, Address: address, Data: data,
		path: filepath.Join(folder, hex.EncodeToString(sum[:8])+".json")}
	text, err := os.ReadFile(j.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return j, nil
	case err == nil:
		err = json.Unmarshal(text, j)
		j.Address, j.Data = address, data
	}
	if err == nil && j.Schema != journalSchema {
		err = fmt.Errorf("its schema is %q", j.Schema)
	}
	if err != nil {
		return nil, fmt.Errorf("read journal %s: %w", j.path, err)
	}
	return j, nil
}

func (j *Journal) write() error {
	if err := kept.Write(j.path, func(w io.Writer) error { return kept.JSON(w, j) }); err != nil {
		return problem.New(problem.Environment, fmt.Errorf("write journal: %w", err),
			"nothing is changed unless the journal records it first")
	}
	return nil
}

// Applied steps that were not reverted.
func (j *Journal) Applied() (steps []Step) {
	for _, s := range j.Steps {
		if s.State == Done {
			steps = append(steps, s)
		}
	}
	return steps
}

// StillApplied are the servers of a folder's journals on which a change is in force that was not reverted.
func StillApplied(folder string) (servers []string, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	for _, path := range paths {
		var j Journal
		text, readErr := os.ReadFile(path)
		if readErr == nil {
			readErr = json.Unmarshal(text, &j)
		}
		switch {
		case readErr != nil:
			return nil, problem.New(problem.Environment, fmt.Errorf("read journal %s: %w", path, readErr), "")
		case len(j.Applied()) > 0:
			servers = append(servers, cmp.Or(j.Cluster, j.Address, j.Server))
		}
	}
	return servers, err
}

// open step of the same change, that a stop has left half done; -1: none.
func (j *Journal) open(c Change, states ...State) int {
	for i := len(j.Steps) - 1; i >= 0; i-- {
		if slices.Contains(states, j.Steps[i].State) && j.Steps[i].Change == c {
			return i
		}
	}
	return -1
}

// Comparison are the arguments of 'plimsoll compare' that compare the server as it was with the server as it is.
func (j *Journal) Comparison() (flags []string) {
	var before, after []string
	for _, s := range j.Applied() {
		if s.Change.Kind == Setting {
			flags = append(flags, "--set-a", s.Change.Name+"="+s.Worked, "--set-b", s.Change.Name+"="+s.Change.Value)
			continue
		}
		after = append(after, plainSQL(s.Change.SQL))
		before = append(s.undoing(), before...)
	}
	if len(before) > 0 {
		flags = append(flags, "--sql-a", strings.Join(before, "; "))
	}
	if len(after) > 0 {
		flags = append(flags, "--sql-b", strings.Join(after, "; "))
	}
	return flags
}

// undoing is the SQL that reverts a step, for a copy of the base that nobody else uses.
func (s Step) undoing() (all []string) {
	for _, sql := range s.Restore {
		all = append(all, plainSQL(sql))
	}
	if len(all) == 0 && s.Change.Undo != "" {
		all = []string{plainSQL(s.Change.Undo)}
	}
	return all
}

func plainSQL(sql string) string { return strings.Replace(sql, concurrently, "", 1) }

// Command that Comparison makes, for a shell.
func (j *Journal) Command() string {
	words := []string{"plimsoll", "compare"}
	if j.Cluster != "" {
		words = append(words, j.Cluster)
	} else {
		words = append(words, "--scenario", "own.toml", "--dsn-a", `"$DSN"`, "--reset", "template")
	}
	for _, f := range j.Comparison() {
		words = append(words, shell(f))
	}
	return strings.Join(words, " ")
}
