package thorough_test

import (
	"flag"
	"slices"
	"testing"

	_ "pgregory.net/rapid" // has the flag

	"plimsoll/test/thorough"
)

func TestFewAreTriedUnlessAllAreAskedFor(t *testing.T) {
	all, checks := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, flag.Lookup("rapid.checks").Value
	t.Setenv(thorough.Variable, "yes")
	before := checks.String()
	thorough.Checks(3)
	if thorough.Or(5, 2) != 5 || !slices.Equal(thorough.Part(all, 3), all) || checks.String() != before {
		t.Errorf("thorough tries %d of 5, %v, %s checks", thorough.Or(5, 2), thorough.Part(all, 3), checks)
	}
	t.Setenv(thorough.Variable, "")
	var tried []int
	for n := range 4 {
		tried = append(tried, thorough.Part(all, n)...)
	}
	if slices.Sort(tried); thorough.Or(5, 2) != 2 || !slices.Equal(tried, all) {
		t.Errorf("four parts are %v", tried)
	}
	thorough.Checks(3)
	if checks.String() != "3" {
		t.Errorf("%s checks", checks)
	}
	thorough.Checks(4)
	if checks.String() != "3" {
		t.Errorf("%s checks though so many were asked for", checks)
	}
}
