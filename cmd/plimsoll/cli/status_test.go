package cli

import (
	"strings"
	"testing"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
)

func TestStatus_SaysWhatToDoAboutAFailingArchive(t *testing.T) {
	behind := 300.0
	for name, c := range map[string]struct {
		archiving cluster.Archiving
		want      []string
	}{
		"Fails": {cluster.Archiving{Dir: "/archive", ServerLog: "/server.log", Failing: true, FailedCount: 12,
			LastFailed: "0001", Waiting: 3, WaitingBytes: 48 << 20, BehindS: &behind},
			[]string{"one: archiving fails: 12 times, the last time with 0001; 3 segments (48 MB) wait, " +
				"the oldest for 5m00s\n",
				"hint: make room and rights in /archive (/server.log says what is wrong)"}},
		"WorksAgain": {cluster.Archiving{FailedCount: 2, LastFailed: "0001"},
			[]string{"archiving failed 2 times, the last time with 0001, and works again\n"}},
		"IsBehind": {cluster.Archiving{Waiting: 1, WaitingBytes: 16 << 20, BehindS: &behind},
			[]string{"archiving never failed; 1 segments (16 MB) wait"}},
		"Works": {cluster.Archiving{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			(&app{stdout: human.NewPlainWriter(&out)}).showArchiving(cluster.Status{Name: "one",
				Archiving: &c.archiving})
			for _, part := range c.want {
				if !strings.Contains(out.String(), part) {
					t.Errorf("%q lacks %q", out.String(), part)
				}
			}
			if (out.String() == "") != (c.want == nil) {
				t.Errorf("says %q", out.String())
			}
		})
	}
}
