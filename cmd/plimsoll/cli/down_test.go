package cli

import (
	"fmt"
	"os"
	"testing"

	"plimsoll/ground/postgres/cluster"
)

// downOfOneInUse is refused unless it is forced.
func (s *stand) downOfOneInUse(t *testing.T) {
	c, err := cluster.Open("").Find(s.one)
	if err != nil {
		t.Fatal(err)
	}
	load, err := c.TakeForLoad(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {s.one}, {"--all"}, {s.one, "--immediate"}} {
		plimsoll(t, append([]string{"down"}, args...)...).want(t, ExitEnvironment,
			"cluster "+s.one+" is in use by load", "hint: wait until it has finished",
			fmt.Sprintf("kill -INT %d", os.Getpid()), "--force")
	}
	if st := s.status(t)[s.one]; st.State != cluster.Running {
		t.Fatalf("want the cluster still running, got %+v", st)
	}
	plimsoll(t, "down", "--force").want(t, ExitOK)
	if st := s.status(t)[s.one]; st.State != cluster.Stopped {
		t.Errorf("want the cluster stopped, got %+v", st)
	}
	plimsoll(t, s.upOne...).want(t, ExitOK)
	if err := load.Remove(); err != nil {
		t.Fatal(err)
	}
	plimsoll(t, "down").want(t, ExitOK)
}
