package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/host/process"
	"plimsoll/lab/prove/peers"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

// The test binary is the application, or a generator with two users, when it is told to.
func TestMain(m *testing.M) {
	var role func(context.Context) error
	if base := os.Getenv("CALL"); base != "" {
		role = func(ctx context.Context) error { return callOn(ctx, base) }
	}
	if slices.Contains(os.Args, "-target") {
		role = serveTarget
	}
	if role == nil {
		leak.Main(m)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := role(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func callOn(ctx context.Context, base string) error {
	for user := 0; ctx.Err() == nil; user = 1 - user {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/cards/7", nil)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", token)
		request.Header.Set("X-User", fmt.Sprint(user))
		if answer, err := http.DefaultClient.Do(request); err == nil {
			answer.Body.Close()
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// caller is a generator of ours.
func caller(command func(j peers.Job) *exec.Cmd) peers.Tool {
	return peers.Tool{
		Name: "caller", Command: func(_ string, j peers.Job) (*exec.Cmd, error) { return command(j), nil },
		Read: func(peers.Job) (peers.Report, error) { return peers.Report{Answers: 1}, nil },
	}
}

func calling(j peers.Job) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CALL="+j.Base)
	return cmd
}

func try(t *testing.T, g peers.Tool, w work, memory int64) trial {
	t.Helper()
	b := &bench{options: options{window: 300 * time.Millisecond, memory: memory}, folder: t.TempDir()}
	made, err := b.do(t.Context(), g, w, 0)
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return made
}

// How much a generator does in the window is the machine's affair.
func TestTrialMeasuresAGenerator(t *testing.T) {
	made := try(t, caller(calling), work{busy, 2}, 8)
	if made.Wrong != "" || made.Rate < 0 || made.Cores < 0 || made.Served < 0 || made.Resident < 1<<20 ||
		made.Refused != 0 || made.Own.Answers != 1 || made.WindowSec < 0.3 {
		t.Errorf("trial %+v, want one answer and all figures", made)
	}
}

func TestTrialIsWhatLiesBetweenTwoMoments(t *testing.T) {
	var made trial
	began := time.Now()
	made.setWindow(moment{began, report{Requests: 100, Refused: 1}, time.Second, 2 * time.Second},
		moment{began.Add(2 * time.Second), report{Requests: 300, Refused: 3}, 2 * time.Second, 5 * time.Second})
	want := trial{Rate: 100, Cores: 0.5, Served: 1.5, Refused: 3, WindowSec: 2}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
}

// Two moments of a running generator differ in all that is counted, however long that takes.
func TestMomentsCountWhatAGeneratorDoes(t *testing.T) {
	app, err := startApplication()
	if err != nil {
		t.Fatal(err)
	}
	defer app.end()
	child, err := process.StartChild(calling(peers.Job{Base: app.at.Application}), syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	defer endChild(child)
	w := &watch{application: app, child: child}
	now := func() moment {
		m, err := w.moment(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	from := now()
	patience.Until(t, "requests, users and processor time are counted", func() bool {
		m := now()
		return m.report.Requests > from.report.Requests+10 && m.report.Users == 2 && m.generator > from.generator &&
			m.served > from.served
	})
	http.DefaultClient.CloseIdleConnections()
}

func TestTrialWithoutFiguresSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		command func(peers.Job) *exec.Cmd
		memory  int64
		want    string
	}{
		"EndsAtOnce": {func(peers.Job) *exec.Cmd { return exec.Command("false") }, 8,
			"it stopped too early: exit status 1"},
		"TooMuchMemory": {calling, 0, "it took more than 0 GB"},
		"CallsAndDies": {func(peers.Job) *exec.Cmd {
			return exec.Command("sh", "-c", "sleep 0.2; exit 3")
		}, 8, "it stopped too early: exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			if made := try(t, caller(c.command), work{busy, 2}, c.memory); !strings.Contains(made.Wrong, c.want) {
				t.Errorf("%q, want %q", made.Wrong, c.want)
			}
		})
	}
}
