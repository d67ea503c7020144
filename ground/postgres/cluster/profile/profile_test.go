package profile_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/test/files"
	"plimsoll/test/golden"
)

const gB = int64(1) << 30

// Settings that only our patched server knows.
var ours = []string{"enable_temp_memory_catalog", "temp_local_invalidation", "temp_skip_locks", "temp_async_commit",
	"temp_buffers_by_relation", "temp_lazy_files", "temp_lazy_toast"}

func stock(name string) bool { return !slices.Contains(ours, name) }

var machines = []struct {
	name string
	in   profile.Input
}{
	{"smallest-vm", profile.Input{Version: 18,
		Machine: machine.Facts{MemoryBytes: gB, Cores: 1, Disk: machine.UnknownDisk, DiskFreeBytes: 8 * gB}}},
	{"container-on-15", profile.Input{Version: 15,
		Machine: machine.Facts{MemoryBytes: 4 * gB, Cores: 2, Disk: machine.UnknownDisk, DiskFreeBytes: 80 * gB,
			LimitedBy: "cgroup memory, cgroup cpu"}}},
	{"laptop", profile.Input{Version: 18, Machine: machine.Facts{MemoryBytes: 16 * gB, Cores: 8,
		Disk: machine.SolidState, DiskFreeBytes: 200 * gB}}},
	{"laptop-half", profile.Input{Version: 18, Memory: 8 * gB,
		Machine: machine.Facts{MemoryBytes: 16 * gB, Cores: 8, Disk: machine.SolidState, DiskFreeBytes: 200 * gB}}},
	{"rotating-on-16", profile.Input{Version: 16,
		Machine: machine.Facts{MemoryBytes: 64 * gB, Cores: 16, Disk: machine.Rotational, DiskFreeBytes: 3000 * gB}}},
	{"field-report", profile.Input{Version: 18,
		Machine: machine.Facts{MemoryBytes: 1024 * gB, Cores: 96, Disk: machine.SolidState, DiskFreeBytes: 4000 * gB}}},
	{"field-report-on-17", profile.Input{Version: 17,
		Machine: machine.Facts{MemoryBytes: 1024 * gB, Cores: 96, Disk: machine.SolidState, DiskFreeBytes: 4000 * gB}}},
}

func TestTuned(t *testing.T) {
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			m.in.Knows = knownTo(m.in.Version)
			golden.Compare(t, "testdata/"+m.name+".conf",
				profile.Render(profile.Tuned, m.in, profile.Derive(profile.Tuned, m.in)))
		})
	}
}

func TestReport(t *testing.T) {
	for _, m := range machines {
		if m.name == "laptop" || m.name == "field-report" {
			m.in.Knows = knownTo(m.in.Version)
			golden.Compare(t, "testdata/report-"+m.name+".conf",
				profile.Render(profile.Report, m.in, profile.Derive(profile.Report, m.in)))
		}
	}
}

func TestOneC(t *testing.T) {
	for _, m := range machines {
		if slices.Contains([]string{"smallest-vm", "laptop", "field-report", "container-on-15"}, m.name) {
			m.in.Knows = knownTo(m.in.Version)
			m.in.Library = func(string) bool { return m.in.Version >= 18 }
			golden.Compare(t, "testdata/1c-"+m.name+".conf",
				profile.Render(profile.OneC, m.in, profile.Derive(profile.OneC, m.in)))
		}
	}
}

func TestStock(t *testing.T) {
	in := machines[0].in
	golden.Compare(t, "testdata/stock.conf", profile.Render(profile.Stock, in, profile.Derive(profile.Stock, in)))
}

// knownTo stands for a stock server of that version.
func knownTo(version int) func(string) bool {
	return func(name string) bool {
		switch name {
		case "io_workers", "autovacuum_worker_slots":
			return version >= 18
		}
		return stock(name)
	}
}

func TestTuned_IsNeverLossy(t *testing.T) {
	for _, m := range machines {
		neverLossy(t, m.name, profile.Tuned, m.in)
		neverLossy(t, m.name, profile.OneC, m.in)
	}
}

func neverLossy(t *testing.T, machine string, name profile.Name, in profile.Input) {
	t.Helper()
	got := map[string]string{}
	for _, s := range profile.Derive(name, in) {
		if got[s.Name] != "" {
			t.Errorf("%s: %s is there twice", machine, s.Name)
		}
		got[s.Name] = s.Value
		if s.Reason == "" {
			t.Errorf("%s: %s has no reason", machine, s.Name)
		}
	}
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit", "autovacuum"} {
		if got[name] != "on" {
			t.Errorf("%s: %s is %q", machine, name, got[name])
		}
	}
}

func TestTuned_WritesOnlyWhatTheServerKnows(t *testing.T) {
	in := machines[0].in
	in.Knows = func(name string) bool { return name == "work_mem" || !stock(name) }
	var names []string
	for _, s := range profile.Derive(profile.Tuned, in) {
		names = append(names, s.Name)
	}
	want := append([]string{"work_mem"}, ours...)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestTuned_LeavesOutWhatTheServerWasNotBuiltFor(t *testing.T) {
	in := machines[0].in
	for _, built := range []bool{true, false} {
		in.Accepts = func(name, value string) bool {
			if name != "wal_compression" || value != "lz4" {
				t.Errorf("asked for %s = %s", name, value)
			}
			return built
		}
		set := slices.ContainsFunc(profile.Derive(profile.Tuned, in), func(s profile.Setting) bool {
			return s.Name == "wal_compression"
		})
		if set != built {
			t.Errorf("built for it: %t, set: %t", built, set)
		}
	}
}

// A real server reads each machine's settings; it does not need the machine for that.
func TestTuned_IsAcceptedByTheServer(t *testing.T) {
	c := clustertest.Start(t)
	srv := c.Server()
	known, err := srv.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			in := m.in
			in.Version, in.Knows, in.Accepts = srv.Major(), known.Has, known.Accepts
			in.Library = srv.HasLibrary
			for _, name := range profile.Names {
				if bad := refused(t, srv, profile.Render(name, in, profile.Derive(name, in))); bad != "" {
					t.Errorf("%s: %s", name, bad)
				}
			}
		})
	}
	t.Run("WhichRefusesNonsense", func(t *testing.T) {
		if refused(t, srv, "work_mem = 1kB\n") == "" {
			t.Error("work_mem = 1kB was accepted: this test can't fail")
		}
	})
}

// Our server's own list of settings leaves out those that its sample file leaves out: all of ours must be set
// nevertheless.
func TestTuned_SetsAllThatOurServerHas(t *testing.T) {
	srv := clustertest.Start(t).Server()
	if srv.Patchset == 0 {
		t.Skip("not our server")
	}
	known, err := srv.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := machines[0].in
	in.Version, in.Knows = srv.Major(), known.Has
	set := map[string]string{}
	for _, s := range profile.Derive(profile.Tuned, in) {
		set[s.Name] = s.Value
	}
	for _, name := range ours {
		if set[name] != "on" {
			t.Errorf("%s is %q", name, set[name])
		}
	}
	if known.Has("temp_of_nobody") || known.Err() != nil {
		t.Errorf("a setting that there is not: %v", known.Err())
	}
}

// refused has the server check a configuration file without starting: -C reads it.
func refused(t *testing.T, srv installation.Server, conf string) string {
	t.Helper()
	dir := clustertest.State(t)
	file := files.Write(t, dir, "postgresql.conf", conf)
	postgres, err := srv.Program("postgres")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(postgres, "-C", "work_mem", "-c", "config_file="+file, "-D", dir).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return ""
}

func TestParseMemory(t *testing.T) {
	const all = 16 * gB
	for _, c := range []struct {
		text string
		want int64
	}{
		{"", all}, {"50%", 8 * gB}, {"100%", all}, {"4GB", 4 * gB}, {"1.5GB", gB * 3 / 2}, {"512MB", gB / 2},
		{"512 MB", gB / 2},
	} {
		if got, err := profile.ParseMemory(c.text, all); err != nil || got != c.want {
			t.Errorf("%q: got %d, %v, want %d", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"x", "4", "-1GB", "0%", "101%", "17GB", "1MB", "9999999999999999999999GB", "1e3MB"} {
		if got, err := profile.ParseMemory(text, all); problem.ClassOf(err) != problem.Usage ||
			problem.HintOf(err) == "" {
			t.Errorf("%q: got %d, %v", text, got, err)
		}
	}
}

func TestChanges(t *testing.T) {
	before := "# a\nwork_mem = 4MB\njit = off\n\nfsync = on\n"
	after := "# b\nwork_mem = 8MB\nfsync = on\nport = 1\n"
	want := []string{"jit off → default", "port default → 1", "work_mem 4MB → 8MB"}
	if diff := cmp.Diff(want, profile.Changes(before, after)); diff != "" {
		t.Error(diff)
	}
}

func TestRender_QuotesWhatIsNoWord(t *testing.T) {
	text := profile.Render(profile.Stock, machines[0].in,
		[]profile.Setting{{Name: "search_path", Value: `a, 'b'`, Reason: "x"}})
	if !strings.HasSuffix(text, "\n# x\nsearch_path = 'a, ''b'''\n") {
		t.Error(text)
	}
}

func TestSettingCheck(t *testing.T) {
	for _, s := range []profile.Setting{{Name: "work_mem", Value: "1MB"},
		{Name: "online_analyze.enable", Value: "on"}} {
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []profile.Setting{{Name: ""}, {Name: "a b"}, {Name: "a\nfsync"}, {Name: "a.b.c"},
		{Name: "work_mem", Value: "1MB\nfsync=off"}} {
		if err := s.Check(); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%+v: got %v", s, err)
		}
	}
}
