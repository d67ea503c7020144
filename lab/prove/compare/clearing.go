package compare

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
)

// Clearing is how the owner of a side restores it before each run: SQL in its database, or a command.
type Clearing struct {
	SQL     string
	Command []string
}

// ClearingCommand begins the text of a clearing that is a command.
const ClearingCommand = "!"

// ParseClearing reads SQL, or a command after an exclamation mark.
func ParseClearing(text string) (c Clearing, err error) {
	command, is := strings.CutPrefix(text, ClearingCommand)
	if !is {
		return Clearing{SQL: text}, nil
	}
	if c.Command, err = Words(command); err != nil {
		return c, problem.New(problem.Usage, fmt.Errorf("read clearing: %w", err), "")
	}
	return c, nil
}

func (c Clearing) given() bool { return c.SQL != "" || len(c.Command) > 0 }

// String is the text that ParseClearing reads, in one line.
func (c Clearing) String() string {
	if len(c.Command) > 0 {
		return ClearingCommand + strings.Join(c.Command, " ")
	}
	return strings.Join(strings.Fields(c.SQL), " ")
}

// clear restores a side. A side that cannot be restored ends the comparison: its runs would start from different
// states.
func (s *session) clear(ctx context.Context, side *Side, r *Replica) (err error) {
	switch {
	case side.Clearing.SQL != "":
		err = postgres.Execute(ctx, side.Run.DSN, side.Clearing.SQL)
	case len(side.Clearing.Command) > 0:
		_, err = execute(ctx, side.Clearing.Command, r)
	}
	if err != nil && ctx.Err() == nil {
		return problem.New(problem.Usage, fmt.Errorf("restore it: %w", err), "")
	}
	return err
}
