// Package cli owns the command line: the commands a person meets, their flags,
// help, output and exit codes. A command only parses, calls the package that does
// the work and prints; stdout carries the answer, stderr progress and errors.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/cmd/plimsoll/progress"
	"plimsoll/ground/host/dirs"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
)

// app is one execution: its streams, the flags common to all commands and where
// every setting came from.
type app struct {
	stdin          io.Reader
	stdout, stderr *human.PlainWriter // others' text cannot steer the terminal
	rawOut, rawErr io.Writer          // for callers that know what is written
	json, quiet    bool
	configFile     string
	root           *cobra.Command
	running        bool // the command itself has started: cobra's own checks are over
	meter          *progress.Meter
	sources        config.Sources // where each setting came from
	// A program that runs commands within this one is told the answer before it is written, and the progress.
	emitted func(answer any)
	watch   func(progress.Step)
}

// Exec runs one command line and returns the exit code. Cancelling ctx stops the
// command as Ctrl-C does.
func Exec(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(stdin, stdout, stderr).exec(ctx, args)
}

func (a *app) exec(ctx context.Context, args []string) int {
	a.root.SetArgs(append([]string{}, args...)) // nil would mean this process's own
	err := a.root.ExecuteContext(ctx)
	a.meter.End()
	switch {
	case err == nil:
	case ctx.Err() != nil && stopped(err):
		// Drivers and children report a cancelled context in words of their own, with
		// hints that would mislead.
		err = problem.New(problem.Interrupted, errors.New(interruptedText(err.Error())), "")
	case problem.ClassOf(err) == problem.Interrupted && errors.Is(err, context.Canceled):
		err = problem.New(problem.Interrupted, errors.New(interruptedText(err.Error())), problem.HintOf(err))
	case !a.running && problem.ClassOf(err) == problem.Failure:
		err = problem.New(problem.Usage, flagGroupError(err), "")
	}
	return reportError(a.rawErr, err, a.json || slices.Contains(args, "--json"))
}

// stopped reports whether err may come from an interruption: any error but those that say so themselves, a wrong
// command line, and an answer that is no.
func stopped(err error) bool {
	class := problem.ClassOf(err)
	return class == problem.Failure || class == problem.Environment || !problem.Classified(err)
}

// interruptedText says what was interrupted, without the words of programs for it. A command that says so itself keeps
// its words.
func interruptedText(text string) string {
	text = strings.ReplaceAll(text, "timeout: context already done: ", "") // the driver's
	text = strings.TrimSuffix(strings.TrimSuffix(text, context.Canceled.Error()), ": ")
	switch {
	case text == "":
		return "interrupted"
	case strings.Contains(text, "interrupted") || strings.Contains(text, "stopped"):
		return text
	}
	return "interrupted: " + text
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{stdin: stdin, stdout: human.NewPlainWriter(stdout), stderr: human.NewPlainWriter(stderr), rawOut: stdout,
		rawErr: stderr,
		meter:  progress.New(io.Discard, progress.Options{Quiet: true})}
	a.root = newRoot(a)
	return a
}

// configure gives every flag its value from environment and file before a command begins.
func (a *app) configure() (config.Sources, error) {
	settings := config.Settings(a.root)
	env, err := config.Environment(os.Environ(), settings, noSettings()...)
	if err != nil {
		return nil, err
	}
	path, named := a.configFile, a.configFile != ""
	if !named {
		path, named = dirs.ConfigFile(), os.Getenv("PLIMSOLL_CONFIG") != ""
	}
	file, err := config.Read(path, named, settings)
	if err != nil {
		return nil, err
	}
	return config.Apply(settings, env, file)
}

// progressTo makes the meter once quiet and the streams are known.
func (a *app) progressTo(w io.Writer) {
	o := progress.Detect(w)
	o.Quiet, o.Watch = a.quiet, a.watch
	a.meter = progress.New(w, o)
}

// answer is v as JSON if that is asked for, else as text.
func (a *app) answer(v any, text func(io.Writer) error) error {
	if a.json {
		return a.emit(v)
	}
	return text(a.stdout)
}

// answerLine is v as JSON if that is asked for, else a line of text.
func (a *app) answerLine(v any, format string, args ...any) error {
	return a.answer(v, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format+"\n", args...)
		return err
	})
}

// emit writes v as the one JSON document on stdout.
func (a *app) emit(v any) error {
	if a.emitted != nil {
		a.emitted(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.stdout.Write(human.PlainJSON(b.Bytes()))
	return err
}
