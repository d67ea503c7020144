package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plimsoll/cmd/plimsoll/mcp"
	"plimsoll/cmd/plimsoll/progress"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
)

// textMost lines of an answer's text: the JSON has the rest.
const textMost = 40

// tools as clients see them. Loads are listed where they are refused, too: the refusal says who can allow them.
func (s *mcpScope) tools() (all []mcp.Tool) {
	for _, t := range commandTools() {
		if len(t.long) > 0 {
			if t.more == nil {
				t.more = properties{}
			}
			t.more["details"] = properties{"type": "boolean",
				"description": "also " + strings.Join(t.long, ", ") + ", which are long"}
		}
		all = append(all, mcp.Tool{Name: t.name, Title: t.title, Description: t.about, Arguments: s.arguments(t),
			ReadOnly: !t.loads,
			Call: func(ctx context.Context, arguments map[string]any, tell func(mcp.Progress)) mcp.Answer {
				return s.call(ctx, t, arguments, tell)
			}})
	}
	return all
}

// call runs a command in this process, as a person would run it with --json.
func (s *mcpScope) call(ctx context.Context, t commandTool, arguments map[string]any,
	tell func(mcp.Progress)) mcp.Answer {
	if t.loads {
		switch {
		case !s.loads:
			return failedCall(problem.New(problem.Usage, fmt.Errorf("%s puts load on a system, and this server only "+
				"reads", t.name), "a person must start it with --allow-load: plimsoll mcp --allow-load"))
		case !s.loading.TryLock():
			return failedCall(problem.New(problem.Environment, errors.New("another load is running, and two would "+
				"disturb each other"), "wait until it ends, or cancel it"))
		}
		defer s.loading.Unlock()
	}
	words, err := s.words(t, arguments)
	if err != nil {
		return failedCall(err)
	}
	var out, told bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &told)
	var answer any
	a.emitted = func(v any) { answer = v }
	a.watch = func(step progress.Step) { tell(mcp.Progress{Text: step.Text, Left: step.Left}) }
	a.exec(ctx, words)
	notes, wrong := toldBy(told.Bytes())
	if out.Len() == 0 {
		if wrong == nil {
			wrong = &errorBody{Message: "the command gave no answer"}
		}
		return wrong.answer(notes)
	}
	return t.answer(answer, out.Bytes(), arguments, notes, wrong)
}

func (e *errorBody) text() string {
	if e.Hint == "" {
		return e.Message + "\n"
	}
	return e.Message + "\nhint: " + e.Hint + "\n"
}

func (e *errorBody) answer(notes string) mcp.Answer {
	body, _ := json.Marshal(map[string]*errorBody{"error": e})
	return mcp.Answer{Text: e.text() + notes, JSON: body, Failed: true}
}

// failedCall is the answer to a call that began nothing.
func failedCall(err error) mcp.Answer {
	body := bodyOf(err)
	return body.answer("")
}

// toldBy a command on stderr: notes, and on the last line the error, if there is one.
func toldBy(stderr []byte) (notes string, wrong *errorBody) {
	lines := strings.SplitAfter(strings.TrimRight(string(stderr), "\n"), "\n")
	var body struct {
		Error *errorBody `json:"error"`
	}
	if last := len(lines) - 1; json.Unmarshal([]byte(lines[last]), &body) == nil && body.Error != nil {
		wrong, lines = body.Error, lines[:last]
	}
	return human.Redact(strings.Join(lines, "")), wrong
}

// answer of a command that gave one. An error beside it, such as an Apdex below the target, is part of the verdict.
func (t commandTool) answer(answer any, asJSON json.RawMessage, arguments map[string]any, notes string,
	wrong *errorBody) mcp.Answer {
	var text strings.Builder
	if wrong != nil {
		text.WriteString(wrong.text())
	}
	write := t.text
	if write == nil {
		write = answerText
	}
	var body bytes.Buffer
	err := write(&body, answer, arguments)
	if err == nil && t.cut != nil {
		asJSON, err = t.cut(asJSON, arguments)
	}
	details, _ := arguments["details"].(bool)
	if err == nil && len(t.long) > 0 && !details {
		asJSON, err = withoutNames(asJSON, t.long)
	}
	var compact bytes.Buffer
	if err == nil {
		err = json.Compact(&compact, asJSON)
	}
	if err != nil {
		return failedCall(err)
	}
	text.WriteString(firstLines(strings.TrimLeft(body.String(), "\n"), textMost))
	text.WriteString(notes)
	return mcp.Answer{Text: human.Redact(text.String()), JSON: compact.Bytes()}
}

func firstLines(text string, most int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "") + "… the JSON has the rest\n"
}

// withoutNames leaves out some names of the top of an object.
func withoutNames(object json.RawMessage, names []string) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	for _, name := range names {
		delete(all, name)
	}
	return json.Marshal(all)
}
