package system

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
)

// Restore is how the owner of a system restores it before each run: SQL in its database, or a command.
type Restore struct {
	SQL     string
	Command []string
}

// RestoreCommand begins the text of a restore that is a command.
const RestoreCommand = "!"

// ParseRestore reads SQL, or a command after an exclamation mark.
func ParseRestore(text string) (r Restore, err error) {
	command, is := strings.CutPrefix(text, RestoreCommand)
	if !is {
		return Restore{SQL: text}, nil
	}
	if r.Command, err = Words(command); err != nil {
		return r, problem.New(problem.Usage, fmt.Errorf("read restore command: %w", err), "")
	}
	return r, nil
}

// Given says whether there is one.
func (r Restore) Given() bool { return r.SQL != "" || len(r.Command) > 0 }

// String is the text that ParseRestore reads, in one line.
func (r Restore) String() string {
	if len(r.Command) > 0 {
		return RestoreCommand + strings.Join(r.Command, " ")
	}
	return strings.Join(strings.Fields(r.SQL), " ")
}

// Run restores the system whose database this is. The environment is for the command.
func (r Restore) Run(ctx context.Context, dsn string, environment ...string) (err error) {
	switch {
	case r.SQL != "":
		err = postgres.Execute(ctx, dsn, r.SQL)
	case len(r.Command) > 0:
		_, err = Execute(ctx, r.Command, environment...)
	}
	if err != nil && ctx.Err() == nil {
		return problem.New(problem.Usage, fmt.Errorf("restore it: %w", err), "")
	}
	return err
}
