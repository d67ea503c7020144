// Command pictures takes the screenshots of the documents again, from a real run in a real browser:
//
//	go run ./test/pictures [-users 200] [-duration 60s] PROGRAM FOLDER
//
// It writes report.png and dashboard.png into FOLDER. PROGRAM is plimsoll. The run has a state folder of its own, which
// is removed; a small base is filled first. The pictures show what the pages look like, no measurement: the run counts
// as valid on a busy machine, too.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/chromedp/chromedp"
)

// The windows: all charts of the dashboard side by side, and the beginning of what is below.
const (
	dashboardWidth, dashboardHeight = 1280, 1750
	reportWidth, reportHeight       = 1200, 1960
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	users := flag.Int("users", 200, "users of the run")
	duration := flag.Duration("duration", time.Minute, "steady state of the run; the dashboard is taken near its end")
	flag.Parse()
	if flag.NArg() != 2 || *duration < 20*time.Second {
		fmt.Fprintln(os.Stderr, "usage: pictures [-users N] [-duration 20s or more] PROGRAM FOLDER")
		os.Exit(2)
	}
	if err := take(ctx, flag.Arg(0), flag.Arg(1), *users, *duration); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// take both pictures of one run.
func take(ctx context.Context, program, folder string, users int, duration time.Duration) (err error) {
	state, err := os.MkdirTemp("", "plimsoll-pictures-")
	if err != nil {
		return err
	}
	// The server of a run by root is an ordinary user's process, who must reach its folder.
	if err := os.Chmod(state, 0o755); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	page := filepath.Join(state, "report.html")
	run, address, err := start(ctx, program, state, page, users, duration)
	if err != nil {
		return err
	}
	defer func() { // it stops its server
		_ = run.Process.Signal(os.Interrupt)
		_ = run.Wait()
	}()
	browser, closeBrowser := open(ctx)
	defer closeBrowser()
	fmt.Println("the dashboard, near the end of the run")
	if err := chromedp.Run(browser,
		chromedp.EmulateViewport(dashboardWidth, dashboardHeight), chromedp.Navigate(address),
		chromedp.WaitVisible("#tiles dd", chromedp.ByQuery), // beyond the page that takes the token
		until(`document.querySelector("#phase")?.textContent === "Steady state: measuring"`),
		chromedp.Sleep(duration-10*time.Second), shoot(filepath.Join(folder, "dashboard.png"))); err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	fmt.Println("the report")
	if err := written(ctx, page); err != nil {
		return err
	}
	if err := chromedp.Run(browser,
		chromedp.EmulateViewport(reportWidth, reportHeight), chromedp.Navigate("file://"+page),
		chromedp.WaitReady("canvas", chromedp.ByQuery), shoot(filepath.Join(folder, "report.png"))); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// start the run, and wait until it says where its dashboard is.
func start(ctx context.Context, program, state, page string, users int, duration time.Duration) (*exec.Cmd, string,
	error) {
	run := exec.CommandContext(ctx, program, "run", "--ui", "--ui-stay", "--title", "Autumn release, small base",
		"--users", fmt.Sprint(users), "--think", "4s", "--ramp", "10s", "--duration", duration.String(),
		"--disturbed-limit", "1", "--lag-limit", "5s", "--html", page)
	run.Env = append(os.Environ(), "PLIMSOLL_STATE="+state)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	progress, err := os.Create(filepath.Join(state, "progress"))
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = progress.Close() }()
	run.Stderr = progress
	if err := run.Start(); err != nil {
		return nil, "", err
	}
	for {
		text, err := os.ReadFile(progress.Name())
		if at := regexp.MustCompile(`(?m)^dashboard: (http\S+)$`).FindSubmatch(text); at != nil {
			return run, string(at[1]), nil
		}
		if err := errors.Join(err, pause(ctx)); err != nil || bytes.Contains(text, []byte("\nhint: ")) {
			return nil, "", fmt.Errorf("%s run has no dashboard: %w\n%s", program, errors.Join(err, run.Wait()), text)
		}
	}
}

func open(ctx context.Context) (context.Context, context.CancelFunc) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			options = append(options, chromedp.ExecPath(path))
			break
		}
	}
	ctx, closeAll := chromedp.NewExecAllocator(ctx, options...)
	ctx, closeOne := chromedp.NewContext(ctx)
	return ctx, func() { closeOne(); closeAll() }
}

func until(condition string) chromedp.Action {
	return chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(0))
}

// written waits for a file that appears as a whole.
func written(ctx context.Context, path string) error {
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second):
		return nil
	}
}

// shoot what the window shows.
func shoot(path string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var picture []byte
		if err := chromedp.CaptureScreenshot(&picture).Do(ctx); err != nil {
			return err
		}
		return os.WriteFile(path, picture, 0o644)
	})
}
