package agents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"plimsoll/lab/load/data"
	"plimsoll/lab/run"
)

// Rows of files and queries are read by the coordinator alone. An agent asks it for them before its users log in, part
// by part: any NATS server takes messages of this size.
const (
	rowsPart   = 512 << 10
	rowsWithin = 30 * time.Second // for one part
)

// rowsWanted is a request for a part of a source's rows, as data.Table.Encode makes them.
type rowsWanted struct {
	Coordinator string `json:"coordinator"`
	Source      string `json:"source"`
	From        int    `json:"from"`
}

// offerRows answers requests for the rows of the plan until the fleet is dismissed.
func (f *Fleet) offerRows(plan run.Plan) error {
	encoded := map[string][]byte{}
	for _, source := range plan.Scenario.Own.Data {
		if source.Table() == nil {
			continue
		}
		text, err := source.Table().Encode()
		if err != nil {
			return err
		}
		encoded[source.Name] = text
	}
	if len(encoded) == 0 {
		return nil
	}
	if f.rows != nil { // of an earlier run with the same agents
		_ = f.rows.Unsubscribe()
	}
	var err error
	f.rows, err = f.conn.Subscribe(rowsOf("*"), func(m *nats.Msg) {
		want, err := decode[rowsWanted](m.Data)
		text := encoded[want.Source]
		if err != nil || want.Coordinator != f.id || want.From < 0 || want.From > len(text) {
			return // not for this run; the agent gives up
		}
		_ = m.Respond(text[want.From:min(len(text), want.From+rowsPart)])
	})
	if err != nil {
		return fmt.Errorf("offer rows to the agents: %w", err)
	}
	return f.conn.Flush()
}

// fetchRows gets the rows that the agent cannot make itself.
func (a *agent) fetchRows(ctx context.Context) error {
	for _, source := range a.plan.Scenario.Own.Data {
		if source.Rows > 0 {
			continue
		}
		var text []byte
		for {
			part, err := a.fetchPart(ctx, rowsWanted{a.coordinator, source.Name, len(text)})
			if err != nil {
				return fmt.Errorf("get the rows of data.%s: %w", source.Name, err)
			}
			text = append(text, part...)
			if len(part) < rowsPart {
				break
			}
		}
		table, err := data.Decode(text)
		if err != nil {
			return fmt.Errorf("data.%s: %w", source.Name, err)
		}
		source.Put(table)
	}
	return nil
}

func (a *agent) fetchPart(ctx context.Context, want rowsWanted) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, rowsWithin)
	defer cancel()
	reply, err := a.conn.RequestWithContext(ctx, rowsOf(a.hello.ID), encode(want))
	if err != nil {
		return nil, err
	}
	return reply.Data, nil
}

// appendNew texts; those of several agents are often the same.
func appendNew(all, more []string) []string {
	for _, text := range more {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
