package memory

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"plimsoll/ground/host/process"
)

func TestParse(t *testing.T) {
	const text = "Name:\tpostgres\nState:\tS (sleeping)\nVmRSS:\t   12345 kB\nRssAnon:\t    1000 kB\n"
	for _, c := range []struct {
		name, text string
		want       int64
		fails      bool
	}{
		{"Private", text, 1000 << 10, false},
		{"NotThere", "Name:\tkthreadd\nState:\tS (sleeping)\n", 0, true},
		{"OtherUnit", "RssAnon:\t1000 MB\n", 0, true},
		{"NoNumber", "RssAnon:\tx kB\n", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(1, c.text)
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("%d, %v", got, err)
			}
		})
	}
	t.Run("OneThatHasEndedIsGone", func(t *testing.T) {
		if _, err := parse(1, "Name:\tsh\nState:\tZ (zombie)\n"); !errors.Is(err, process.ErrGone) {
			t.Error(err)
		}
	})
}

func TestOwnSeesWhatIsWritten(t *testing.T) {
	before, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	const bytes = 64 << 20
	block := make([]byte, bytes)
	for i := 0; i < len(block); i += os.Getpagesize() {
		block[i] = 1
	}
	after, err := Own()
	if err != nil || after-before < bytes/2 {
		t.Errorf("%d, then %d, %v", before, after, err)
	}
	runtime.KeepAlive(block)
}

func TestTreeHasTheChildren(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 600 & echo; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	root, err := process.Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.KillTree(context.Background()); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	alone, err := memoryOf(root.PID)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Tree(root)
	if err != nil || all <= alone {
		t.Errorf("the tree has %d, its root alone %d, %v", all, alone, err)
	}
}

func TestTreeOfNobodyIsAnError(t *testing.T) {
	if n, err := Tree(process.ID{PID: 1 << 30}); !errors.Is(err, process.ErrGone) {
		t.Errorf("%d, %v", n, err)
	}
}
