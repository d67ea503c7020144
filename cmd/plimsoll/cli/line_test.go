package cli

import (
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/lab/line"
)

func TestJudgeLine(t *testing.T) {
	below := 12
	void := &line.Unmeasured{Users: 11, Times: 3, Why: "worker 1 died"}
	passed, closed := &line.Answer{Users: 10}, &line.Answer{Users: 10, Below: &below}
	for _, c := range []struct {
		name string
		line line.Line
		says string // empty: the answer is yes
	}{
		{"AnInterval", line.Line{Complete: true, Answer: closed}, ""},
		{"NothingFailed", line.Line{Complete: true, Answer: passed}, ""},
		{"VoidWithinTheInterval", line.Line{Complete: true, Answer: closed, Unmeasured: void}, ""},
		{"VoidWithoutAnUpperEnd", line.Line{Complete: true, Answer: passed, Unmeasured: void},
			"11 could not be measured; 3 trials were void: worker 1 died"},
		{"VoidAndNothingPassed", line.Line{Complete: true, Trials: []line.Trial{{Users: 11, Outcome: line.Void}},
			Unmeasured: void}, "not known"},
		{"NothingPassed", line.Line{Complete: true, Trials: []line.Trial{{Users: 1, Outcome: line.Fails},
			{Users: 1, Outcome: line.Fails, Purpose: line.Beyond}}}, "not even 1 user "},
		{"OneTrialFailed", line.Line{Complete: true, Trials: []line.Trial{{Users: 1, Outcome: line.Fails}}},
			"1 user did not pass in 1 of 1 trials, which is too little evidence"},
		{"Budget", line.Line{Answer: closed}, "the budget ended the search"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := judgeLine(&c.line)
			several := judgeLines(&line.Comparison{Complete: c.line.Complete, Lines: []line.Compared{{Line: &c.line},
				{Line: &line.Line{Complete: true, Answer: closed}}}})
			for _, err := range []error{one, several} {
				if (err == nil) != (c.says == "") || err != nil && problem.ClassOf(err) != problem.Threshold {
					t.Errorf("error %v, want one of class threshold: %t", err, c.says != "")
				}
			}
			if c.says != "" && !strings.Contains(one.Error(), c.says) {
				t.Errorf("%v, want %q", one, c.says)
			}
		})
	}
}
