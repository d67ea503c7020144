package crash

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestLeftoversAreTemporaryFilesAlone(t *testing.T) {
	data := t.TempDir()
	for _, path := range []string{"base/5/1259", "base/5/1259_vm", "base/5/t3_16400", "base/5/t12_16401.1",
		"base/5/t3_1_fsm", "base/pgsql_tmp/pgsql_tmp7.0", "base/5/pg_filenode.map"} {
		at := filepath.Join(data, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := leftovers(data)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for _, path := range []string{"base/5/t12_16401.1", "base/5/t3_16400", "base/5/t3_1_fsm",
		"base/pgsql_tmp/pgsql_tmp7.0"} {
		want = append(want, "a temporary file was left behind: "+path)
	}
	slices.Sort(found)
	if !slices.Equal(found, want) {
		t.Errorf("found %v", found)
	}
}

// A cut before the first acknowledgement could lose nothing.
func TestACutHasSomethingAtStake(t *testing.T) {
	for _, c := range []struct {
		acks []ack
		want uint64
	}{{nil, 10}, {[]ack{{number: 40}, {number: 30}}, 29}, {[]ack{{number: 10}}, 10}, {[]ack{{number: 0}}, 10}} {
		l := &loaded{begin: 10, acks: c.acks}
		if got := l.stake(); got != c.want || len(c.acks) > 0 && len(l.acknowledgedBefore(got+1)) == 0 {
			t.Errorf("%+v: behind record %d, want %d", c.acks, got, c.want)
		}
	}
}

// A lost acknowledgement is lost though another operation, whose answer nobody got, is there in its place.
func TestTheLedgerIsByKey(t *testing.T) {
	var c Cut
	lost := c.count([]string{"b", "c"}, []ack{{key: "a"}, {key: "b"}}, ack{}.at)
	if !slices.Equal(lost, []string{"a"}) || c.Lost != 1 || c.Acknowledged != 2 || c.Recovered != 2 {
		t.Errorf("%v, %+v", lost, c)
	}
}
