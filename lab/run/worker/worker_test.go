package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

// With PLIMSOLL_TEST_WORKER set, the test binary is the process under test.
func TestMain(m *testing.M) {
	switch os.Getenv("PLIMSOLL_TEST_WORKER") {
	case "":
		leak.Main(m)
	case "listens":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "ready")
		fmt.Println(`{"listening":"http://127.0.0.1:1"}`)
		<-term
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(`{"listening":"http://127.0.0.1:1"}`)
		hang()
	case "dies":
		fmt.Fprintln(os.Stderr, "one line\ndatabase does not exist")
		os.Exit(4)
	case "chats":
		fmt.Println("hello")
		hang()
	case "complains":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Println(`{"listening":"http://127.0.0.1:1"}`)
		for range 20 {
			fmt.Fprintln(os.Stderr, "the database is away")
		}
		fmt.Fprintln(os.Stderr, "said all")
		<-term
	case "silent":
		hang()
	}
}

// hang until killed. A test that does not kill it leaves nothing for good.
func hang() { time.Sleep(time.Hour) }

func start(ctx context.Context, role string, log *bytes.Buffer) (*Worker, error) {
	return Start(ctx, []string{os.Args[0]}, []string{"PLIMSOLL_TEST_WORKER=" + role}, log)
}

func TestStart(t *testing.T) {
	ctx := context.Background()
	t.Run("ReadsTheAddressAndStopsOnRequest", func(t *testing.T) {
		var log bytes.Buffer
		w, err := start(ctx, "listens", &log)
		if err != nil {
			t.Fatal(err)
		}
		if w.URL != "http://127.0.0.1:1" || w.PID == 0 {
			t.Errorf("%q, process %d", w.URL, w.PID)
		}
		w.Stop()
		if w.Ended().Error() != "exit status 0" || !strings.Contains(log.String(), "ready") {
			t.Errorf("%v, log %q", w.Ended(), log.String())
		}
	})
	t.Run("SaysHowItDiedAndItsLastWords", func(t *testing.T) {
		_, err := start(ctx, "dies", &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "exit status 4") ||
			problem.HintOf(err) != "database does not exist" || problem.ClassOf(err) != problem.Environment {
			t.Errorf("%v, hint %q", err, problem.HintOf(err))
		}
	})
	t.Run("RefusesAnotherFirstLine", func(t *testing.T) {
		if _, err := start(ctx, "chats", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), `"hello"`) {
			t.Error(err)
		}
	})
	t.Run("StopsWaitingWhenCancelled", func(t *testing.T) {
		soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if _, err := start(soon, "silent", &bytes.Buffer{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	t.Run("SaysThatTheCommandIsMissing", func(t *testing.T) {
		if _, err := Start(ctx, []string{"/no/such/plimsoll"}, nil, nil); err == nil ||
			problem.ClassOf(err) != problem.Environment {
			t.Error(err)
		}
	})
}

func TestGoneTellsOfADeathInService(t *testing.T) {
	w, err := start(context.Background(), "deaf", &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.Gone():
		t.Fatal("gone while it runs")
	default:
	}
	w.Kill()
	<-w.Gone()
	if w.Ended().Error() != "signal: killed" {
		t.Error(w.Ended())
	}
}

// fullDisk accepts no data.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestLogThatHasNoRoomEndsNoWorker(t *testing.T) {
	w, err := Start(t.Context(), []string{os.Args[0]}, []string{"PLIMSOLL_TEST_WORKER=complains"}, fullDisk{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Kill()
	patience.Until(t, "it has said all", func() bool {
		select {
		case <-w.Gone():
			t.Fatalf("it ended: %v, after %q", w.Ended(), w.LastOutput())
		default:
		}
		return w.LastOutput() == "said all"
	})
	w.Stop()
	if text := w.Ended().Error(); !strings.Contains(text, "exit status 0") {
		t.Error(text)
	}
}
