package cli

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/line"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/lab/run/store"
)

// storedRuns keeps a run that began so long ago, for each, and gives their ids.
func storedRuns(t *testing.T, ages ...time.Duration) (ids []string) {
	t.Helper()
	for i, age := range ages {
		id, err := store.Default().Begin(time.Now().Add(-age), i+1)
		if err != nil {
			t.Fatal(err)
		}
		r := resulttest.Overloaded(t)
		r.ID = id
		if err := store.Default().Save(r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

const day = 24 * time.Hour

func TestRuns_TagsFindThemAgain(t *testing.T) {
	freshState(t)
	ids := storedRuns(t, 3*day, 2*day, day)
	plimsoll(t, "runs", "tag", ids[0], "nightly", "base", "--note", "before the upgrade").want(t, ExitOK)
	plimsoll(t, "runs", "tag", "latest", "nightly").want(t, ExitOK)
	var found struct {
		Runs []struct {
			ID   string
			Tags []string
			Note string
		}
	}
	plimsoll(t, "runs", "--tag", "nightly", "--json").decode(t, &found)
	if len(found.Runs) != 2 || found.Runs[0].ID != ids[2] || found.Runs[1].Note != "before the upgrade" ||
		!slices.Equal(found.Runs[1].Tags, []string{"base", "nightly"}) {
		t.Errorf("%+v", found)
	}
	plimsoll(t, "runs", "tag", ids[2], "--remove", "nightly").want(t, ExitOK)
	o := plimsoll(t, "runs", "--tag", "nightly")
	if o.want(t, ExitOK); !strings.Contains(o.stdout, "base,nightly") || strings.Contains(o.stdout, ids[1]) ||
		strings.Contains(o.stdout, ids[2]) {
		t.Errorf("%s", o.stdout)
	}
	for line, says := range map[string]string{
		"tag " + ids[0]:                "nothing to change",
		"tag 2001 nightly":             `no result "2001"`,
		"tag latest a,b":               `"a,b" is no tag`,
		"tag":                          "tag needs the id of a run",
		"tagg latest":                  `"tagg" is not tag or prune`,
		"tag latest x --older-than 3d": "--older-than applies only to 'runs prune'",
		"--note x":                     "--note applies only to 'runs tag'",
	} {
		plimsoll(t, append([]string{"runs"}, strings.Fields(line)...)...).want(t, ExitUsage, says, "hint: ")
	}
}

func TestRuns_PruneRemovesWhatItSaysAfterAsking(t *testing.T) {
	freshState(t)
	ids := storedRuns(t, 50*day, 40*day, day)
	lineID, release, err := line.DefaultStore().Start(t.Context(), time.Now().Add(-60*day))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(line.DefaultStore().ResultPath(lineID), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	left := func() (all []string) {
		var found struct{ Results []struct{ ID string } }
		plimsoll(t, "runs", "--all", "--json").decode(t, &found)
		for _, one := range found.Results {
			all = append(all, one.ID)
		}
		return all
	}
	prune := []string{"runs", "prune", "--older-than", "30d"}

	t.Run("NothingByADryRun", func(t *testing.T) {
		o := plimsoll(t, append(prune, "--dry-run")...)
		if o.want(t, ExitOK); !strings.Contains(o.stdout, "would remove 2 results, ") || len(left()) != 3 {
			t.Errorf("%s, left %q", o.stdout, left())
		}
	})
	t.Run("NothingWithoutTheWord", func(t *testing.T) {
		for answer, says := range map[string]string{"": "there was no answer", "yes\n": "the answer was not prune"} {
			plimsollWith(t, t.Context(), answer, nil, prune...).want(t, ExitUsage, says, "--yes skips the question")
		}
		if len(left()) != 3 {
			t.Errorf("left %q", left())
		}
	})
	t.Run("WhatIsOldAndNotHeld", func(t *testing.T) {
		plimsollWith(t, t.Context(), "prune\n", nil, prune...).want(t, ExitOK)
		if got := left(); !slices.Equal(got, ids[2:]) {
			t.Errorf("left %q", got)
		}
	})
	t.Run("LinesToo", func(t *testing.T) {
		if release(); !slices.Contains(left(), lineID) {
			t.Fatalf("the load line was removed while a process worked on it: %q", left())
		}
		plimsoll(t, append(prune, "--yes")...).want(t, ExitOK)
		if got := left(); !slices.Equal(got, ids[2:]) {
			t.Errorf("left %q", got)
		}
	})
	t.Run("NothingWithoutACondition", func(t *testing.T) {
		plimsoll(t, "runs", "prune", "--yes").want(t, ExitUsage, "prune needs a condition", "hint: ")
		plimsoll(t, "runs", "prune", "--larger-than", "lots").want(t, ExitUsage, "a size such as")
		plimsoll(t, "runs", "prune", "--older-than", "old").want(t, ExitUsage, "an age such as")
	})
}

func TestRun_TagsAreRefusedBeforeItBegins(t *testing.T) {
	freshState(t)
	for _, command := range []string{"run", "line", "compare"} {
		plimsoll(t, command, "--tag", "a b").want(t, ExitUsage, `"a b" is no tag`, "hint: ")
	}
}
