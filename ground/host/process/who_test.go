package process

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestWho(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	child, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if parent, err := child.Parent(); err != nil || parent != Self() {
		t.Errorf("parent %v, want %d, %v", parent, os.Getpid(), err)
	}
	if name := child.Name(); name != "sleep" {
		t.Errorf("name %q", name)
	}
	if at, err := child.StartedAt(); err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("started %v, %v", at, err)
	}
}
