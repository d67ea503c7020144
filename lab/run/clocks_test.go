package run

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
)

// TestClocks plays seconds of a run in which clocks advance differently.
func TestClocks(t *testing.T) {
	second := time.Second
	ordinary := moment{second, second, second}
	for _, c := range []struct {
		name  string
		steps []moment // how far each clock advances
		want  []string
		tone  live.Tone
		slept time.Duration
	}{
		{"AllAlike", []moment{ordinary, ordinary, ordinary}, nil, "", 0},
		{"Slewed", []moment{ordinary, {second, second, second + second/3}, ordinary}, nil, "", 0},
		{"SetForward", []moment{ordinary, {second, second, time.Hour + second}, ordinary},
			[]string{"set forward by 1h0m0s"}, live.Note, 0},
		{"SetBack", []moment{{second, second, -2 * second}, ordinary}, []string{"set back by 3s"}, live.Note, 0},
		{"Slept", []moment{ordinary, {second, 13 * second, 13 * second}, ordinary}, []string{"slept for 12s"},
			live.Alarm, 12 * second},
		{"SleptTwice", []moment{{second, 3 * second, 3 * second}, {second, 3 * second, 3 * second}},
			[]string{"slept for 2s", "slept for 2s"}, live.Alarm, 4 * second},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := moment{100 * second, 200 * second, 300 * second}
			var tones []live.Tone
			watch := clocks{read: func() (moment, error) {
				return now, nil
			}, tell: func(tone live.Tone, _ string) { tones = append(tones, tone) }}
			watch.look(0)
			for i, step := range c.steps {
				now = moment{now.steady + step.steady, now.withSleep + step.withSleep, now.wall + step.wall}
				watch.look(time.Duration(i+1) * second)
			}
			if len(watch.events) != len(c.want) || len(tones) != len(c.want) || watch.slept != c.slept {
				t.Fatalf("%v, %v, slept %v; want %q", watch.events, tones, watch.slept, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(watch.events[i].Text, want) || tones[i] != c.tone {
					t.Errorf("%s %q, want %s with %q", tones[i], watch.events[i].Text, c.tone, want)
				}
			}
		})
	}
}

func TestClocksThatCannotBeReadSayNothing(t *testing.T) {
	now, broken := moment{}, errors.New("no such clock")
	var err error
	watch := clocks{read: func() (moment, error) { return now, err }, tell: func(live.Tone, string) { t.Error("told") }}
	watch.look(0)
	err = broken
	watch.look(time.Second)
	err, now = nil, moment{wall: time.Hour}
	watch.look(2 * time.Second)
	if len(watch.events) != 0 {
		t.Error(watch.events)
	}
}

func TestTheMachinesClocksAreReadAsTheyAre(t *testing.T) {
	before, err := readClocks()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	after, err := readClocks()
	if err != nil || after.steady-before.steady < 20*time.Millisecond || after.withSleep < after.steady {
		t.Errorf("%v, then %v, %v", before, after, err)
	}
	if wall := time.Duration(time.Now().UnixNano()); (wall - after.wall).Abs() > time.Minute {
		t.Errorf("on the wall %v, read %v", wall, after.wall)
	}
}

func TestSleepIsInTheVerdict(t *testing.T) {
	r := &record{Options: Options{Load: load.Load{Duration: time.Minute}, LagLimit: LagLimitDefault},
		audit: result.Audit{None: true}, meters: (&meter{clocks: clocks{slept: 12 * time.Second}}).end()}
	all := &result.Result{Totals: result.Totals{Ops: 200, OK: 200}}
	r.judge(all)
	if all.Valid || len(all.InvalidReasons) != 1 || !strings.Contains(all.InvalidReasons[0], "slept for 12s") {
		t.Errorf("want the sleep as the only reason, got %q", all.InvalidReasons)
	}
}
