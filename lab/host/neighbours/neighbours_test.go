package neighbours

import (
	"testing"
	"time"

	"plimsoll/lab/host/cpu"
)

func TestNeighbours(t *testing.T) {
	const s = time.Second
	names := map[int]string{7: "stress", 8: "stress", 9: "make", 10: "cc1"}
	n := &Watch{From: 10 * s, To: 20 * s, Cores: 2, Names: func(pid int) string { return names[pid] }}
	n.Look(9*s, map[int]cpu.Usage{7: {Own: 0}}) // of the ramp
	n.Look(10*s, map[int]cpu.Usage{7: {Own: 100 * s}, 9: {}, 10: {Own: 2 * s}})
	n.Look(15*s, map[int]cpu.Usage{7: {Own: 103 * s}, 8: {Own: 2 * s}, 9: {}, 10: {Own: 4 * s}})
	n.Look(20*s, map[int]cpu.Usage{7: {Own: 104 * s}, 9: {Buried: 4 * s}}) // 8 was killed, cc1 ended
	n.Look(40*s, map[int]cpu.Usage{7: {Own: 900 * s}})                     // of the drain
	all, who := n.Share()
	// 3 + 2 + 2 of the first five seconds; of the others a sum that shrinks by what was killed counts for nothing.
	if all == nil || *all != 7.0/20 {
		t.Errorf("%v", *all)
	}
	if len(who) != 2 || who[0] != (Neighbour{Name: "stress", Processes: 2, Share: 6.0 / 20}) ||
		who[1] != (Neighbour{Name: "cc1", Processes: 1, Share: 2.0 / 20}) {
		t.Errorf("%+v", who)
	}
	if all, who := (&Watch{}).Share(); all != nil || who != nil {
		t.Errorf("nothing was seen, and %v, %v", all, who)
	}
}
