package cpu

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// burn starts a shell whose child uses processor time and ends, then waits for a
// line of input; it returns when the child has ended.
func burn(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", `sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo done; read _`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// tree of a process, as it is now.
func tree(root int) (time.Duration, error) {
	everyone, err := ReadEveryone()
	if err != nil {
		return 0, err
	}
	return everyone.Tree(root)
}

func TestTree(t *testing.T) {
	cmd := burn(t)
	t.Run("CountsChildrenThatHaveEnded", func(t *testing.T) {
		used, err := tree(cmd.Process.Pid)
		if err != nil || used < 50*time.Millisecond {
			t.Errorf("used %v, error %v: want 50 ms or more", used, err)
		}
	})
	t.Run("CountsLivingDescendants", func(t *testing.T) {
		child, err := tree(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := tree(os.Getpid())
		if err != nil || whole < child {
			t.Errorf("this process's tree %v, its child's alone %v, %v", whole, child, err)
		}
	})
	t.Run("OfNobodyIsAnError", func(t *testing.T) {
		if used, err := tree(1 << 30); err == nil {
			t.Errorf("a process that does not exist used %v, want an error", used)
		}
	})
}

func TestSystemOnlyGrows(t *testing.T) {
	before, err := ReadSystem()
	if err != nil {
		t.Fatal(err)
	}
	burn(t)
	after, err := ReadSystem()
	if err != nil || after.Busy <= before.Busy || after.Steal < before.Steal {
		t.Errorf("%+v, then %+v, %v", before, after, err)
	}
}
