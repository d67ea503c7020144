package neighbours

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/ground/host/cpu"
	"plimsoll/test/patience"
)

func TestNeighbours(t *testing.T) {
	const s = time.Second
	names := map[int]string{7: "stress", 8: "stress", 9: "make", 10: "cc1"}
	n := &Watch{From: 10 * s, To: 20 * s, Cores: 2, Names: func(pid int) string { return names[pid] }}
	n.Look(9*s, map[int]cpu.Usage{7: {Own: 0}}) // of the ramp
	n.Look(10*s, map[int]cpu.Usage{7: {Own: 100 * s}, 9: {}, 10: {Own: 2 * s}})
	n.Look(15*s, map[int]cpu.Usage{7: {Own: 103 * s}, 8: {Own: 2 * s}, 9: {}, 10: {Own: 4 * s}})
	n.Look(20*s, map[int]cpu.Usage{7: {Own: 104 * s}, 9: {Reaped: 4 * s}}) // 8 was killed, cc1 ended
	n.Look(40*s, map[int]cpu.Usage{7: {Own: 900 * s}})                     // of the drain
	all, neighbours := n.Share()
	// 3 + 2 + 2 of the first five seconds; of the others a sum that shrinks by what was killed counts for nothing.
	if all == nil {
		t.Fatal("no share of the processors, want 7/20")
	}
	if *all != 7.0/20 {
		t.Errorf("share %v of the processors, want 7/20", *all)
	}
	if len(neighbours) != 2 || neighbours[0] != (Neighbour{Name: "stress", Processes: 2, Share: 6.0 / 20}) ||
		neighbours[1] != (Neighbour{Name: "cc1", Processes: 1, Share: 2.0 / 20}) {
		t.Errorf("%+v", neighbours)
	}
	if all, who := (&Watch{}).Share(); all != nil || who != nil {
		t.Errorf("nothing was seen, and %v, %v", all, who)
	}
}

// TestNobodyUsesMoreThanThereIs: a counter may leap, as when a process with a long life is seen for the first time. For
// the time between two looks no process, and not all of them, can have used more than the processors could give.
func TestNobodyUsesMoreThanThereIs(t *testing.T) {
	const s = time.Second
	n := &Watch{From: 0, To: 10 * s, Cores: 2, Names: func(pid int) string { return []string{"old", "calm"}[pid] }}
	n.Look(0, map[int]cpu.Usage{1: {}})
	n.Look(2*s, map[int]cpu.Usage{0: {Own: 900 * s}, 1: {Own: s}}) // 4 s at most
	n.Look(10*s, map[int]cpu.Usage{0: {Own: 900 * s}, 1: {Own: 3 * s}})
	all, neighbours := n.Share()
	if all == nil || *all != (4+2)/20.0 {
		t.Errorf("all of them: %v, want %v", *all, (4+2)/20.0)
	}
	if len(neighbours) != 2 || neighbours[0] != (Neighbour{"old", 1, 4 / 20.0}) ||
		neighbours[1] != (Neighbour{"calm", 1, 3 / 20.0}) {
		t.Errorf("%+v", neighbours)
	}
}

// A process that ends while everyone is read leaves its whole life to its parent, which looks as if it had been used
// since. Others cannot have done more than the machine.
func TestOthersDoNoMoreThanTheMachine(t *testing.T) {
	const s = time.Second
	busy := 50 * s
	n := &Watch{To: Forever, Cores: 2, Names: func(int) string { return "shell" },
		Busy: func() (time.Duration, bool) { busy += s / 2; return busy, true }}
	n.Look(0, map[int]cpu.Usage{1: {}})
	n.Look(2*s, map[int]cpu.Usage{1: {Reaped: 3 * s}})
	if all, _ := n.Share(); all == nil || *all != 0.5/4 {
		t.Errorf("others used %v of the cores, want an eighth, as all together did", *all)
	}
}

func TestMachine_SeesWhatIsNotOurs(t *testing.T) {
	const name = "stranger-of-all"
	shell := filepath.Join(t.TempDir(), name)
	if err := os.Symlink("/bin/sh", shell); err != nil {
		t.Fatal(err)
	}
	stranger := exec.Command(shell, "-c", "while :; do :; done")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
	without := Begin(func() []int { return []int{os.Getpid()} }) // it descends from the test
	with := Begin(func() []int { return nil })
	time.Sleep(2 * Shortest)
	patience.Until(t, "it has worked", func() bool {
		everyone, err := cpu.ReadEveryone()
		used, errTree := everyone.Tree(stranger.Process.Pid)
		return err == nil && errTree == nil && used > 100*time.Millisecond
	})
	named := func(m *Machine) bool {
		got := m.End()
		if got.Others == nil || got.For < Shortest {
			t.Errorf("nothing was seen: %+v", got)
		}
		return m.others.who[name] != nil // on a busy machine it may not be one of those that are named
	}
	if named(without) {
		t.Error("a process of our own is a neighbour")
	}
	if !named(with) {
		t.Error("a process that is not ours is no neighbour")
	}
}
