package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/load/onec"
)

func TestOf1C_PrintedReadsAsItself(t *testing.T) {
	s := Of1C()
	var text strings.Builder
	if err := s.WriteTOML(&text); err != nil {
		t.Fatal(err)
	}
	read, err := parse(t, text.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	if read.Digest() != s.Digest() {
		t.Error(cmp.Diff(s, read))
	}
	if c := read.Crowd(0, nil); len(c.Operations) != len(onec.Operations()) || c.Operations[0].Target == 0 ||
		!read.NeedsDatabase() || !read.SpeaksSQL() {
		t.Errorf("%+v", c)
	}
}

// Each user of a 1C load may have a session; users of own SQL share.
func TestConnections_ZeroIsOf1CAlone(t *testing.T) {
	s, err := parse(t, "application = \"1c\"\n[sql]\nconnections = 0\n[operations.\"sale.write\"]\nweight = 9\n")
	if err != nil || s.Own.Connections != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := parse(t, "application = \"none\"\n[sql]\nconnections = 0\n"); err == nil {
		t.Error("own SQL without a connection is taken")
	}
	if _, err := parse(t, "application = \"1c\"\n[operations.\"sale.wrote\"]\nweight = 9\n"); err == nil ||
		!strings.Contains(err.Error(), "no such key operation in the 1C load") {
		t.Error(err)
	}
}
