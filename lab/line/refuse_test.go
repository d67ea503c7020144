package line

import (
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/lab/system"
	"plimsoll/test/files"
)

func TestJudge(t *testing.T) {
	below := 12
	void := &Unmeasured{Users: 11, Times: 3, Why: "worker 1 died"}
	passed, closed := &Answer{Users: 10}, &Answer{Users: 10, Below: &below}
	for _, c := range []struct {
		name string
		line Line
		says string // empty: the answer is yes
	}{
		{"AnInterval", Line{Complete: true, Answer: closed}, ""},
		{"NothingFailed", Line{Complete: true, Answer: passed}, ""},
		{"VoidWithinTheInterval", Line{Complete: true, Answer: closed, Unmeasured: void}, ""},
		{"VoidWithoutAnUpperEnd", Line{Complete: true, Answer: passed, Unmeasured: void},
			"11 could not be measured; 3 trials were void: worker 1 died"},
		{"VoidAndNothingPassed", Line{Complete: true, Trials: []Trial{{Users: 11, Outcome: Void}},
			Unmeasured: void}, "not known"},
		{"NothingPassed", Line{Complete: true, Trials: []Trial{{Users: 1, Outcome: Fails},
			{Users: 1, Outcome: Fails, Purpose: Beyond}}}, "not even 1 user "},
		{"OneTrialFailed", Line{Complete: true, Trials: []Trial{{Users: 1, Outcome: Fails}}},
			"1 user did not pass in 1 of 1 trials, which is too little evidence"},
		{"Budget", Line{Answer: closed}, "the budget ended the search"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := c.line.Judge()
			several := (&Comparison{Complete: c.line.Complete, Lines: []Compared{{Line: &c.line},
				{Line: &Line{Complete: true, Answer: closed}}}}).Judge()
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

// A trial holds one load: stages would vary it.
func TestASearchRefusesStages(t *testing.T) {
	q := Request{Options: Options{Target: 0.85, Bounds: Bounds{Resolution: 0.1, First: 1, Most: 10}},
		System: system.Spec{
			Scenario: files.Write(t, t.TempDir(), "own.toml",
				"application = \"none\"\n[operations.a]\ntarget = \"1s\"\n"+
					"sql = \"SELECT 1\"\n[[stages]]\nduration = \"1m\"\nusers = 5\n")}}
	_, err := q.systems(t.Context())
	if problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), "the scenario has stages") {
		t.Error(err)
	}
}
