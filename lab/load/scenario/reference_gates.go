package scenario

import (
	"errors"
	"fmt"
	"maps"

	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/gate"
)

func init() {
	maps.Copy(reference, map[string]about{
		"gates": {
			says:    "Conditions under which a run of this scenario fails, with exit code 3.",
			takes:   "table",
			instead: "no gates but those of --fail-if",
			example: "[gates]\nfail_if = [\"goods_sale.post: p95 > 200ms\", \"errors > 1%\"]",
		},
		"gates.fail_if": {
			says: "One condition in each text: [OPERATION:] FIGURE COMPARED LIMIT. Without an operation it is about " +
				"the run, with * about each operation. Figures: p50 to p99.9 and any other percentile, mean and " +
				"max of one operation; errors, refused, throughput and apdex of one or of the run. A run that is not " +
				"valid, or too short for the figure, does not pass.",
			takes:   "text or list of texts",
			instead: "none",
			example: "fail_if = [\"goods_sale.post: p95 > 200ms\", \"*: apdex < 0.85\", \"errors > 1%\"]",
		},
	})
}

var gateKeys = []key{
	{"gates", true, nil},
	{"gates.fail_if", false, failIf},
}

// failIf takes one gate or a list of them.
func failIf(r *reader, e tomlfile.Entry) error {
	list, is := e.Raw.([]any)
	if !is {
		list = []any{e.Raw}
	}
	for i, item := range list {
		text, is := item.(string)
		if !is {
			return r.wrong(e, fmt.Sprintf("takes texts in quotes, not %v", item), gate.Examples)
		}
		g, err := gate.Parse(text, r.ids())
		if err != nil {
			return r.wrongGate(e, i, len(list), err)
		}
		r.Gates = append(r.Gates, g)
	}
	return nil
}

// wrongGate says which of several gates is wrong, and where in its text.
func (r *reader) wrongGate(e tomlfile.Entry, at, of int, err error) error {
	var m *gate.Mistake
	if !errors.As(err, &m) {
		return err
	}
	which := ""
	if of > 1 {
		which = fmt.Sprintf("the %d. of %d, ", at+1, of)
	}
	return problem.New(problem.Usage, fmt.Errorf("%s: %s: %s%w", r.file.At(e.Line), keyText(e.Key), which, err), m.Hint)
}
