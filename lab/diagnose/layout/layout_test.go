package layout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/ground/host/probe"
	"plimsoll/ground/host/topology"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/test/files"
	"plimsoll/test/golden"
	"plimsoll/test/leak"
	"plimsoll/test/schema"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

// machineFiles lays out the files of sockets × cores × threads and nodes, as the kernel shows them.
func machineFiles(t *testing.T, sockets, cores, threads, nodes int) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) { files.Write(t, root, name, text) }
	all := sockets * cores * threads
	for id := range all {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", id)
		write(dir+"physical_package_id", fmt.Sprintln(id/(cores*threads)))
		write(dir+"core_id", fmt.Sprintln(id/threads%cores))
		write(dir+"thread_siblings_list", fmt.Sprintf("%d-%d\n", id/threads*threads, id/threads*threads+threads-1))
	}
	for n := range nodes {
		dir := fmt.Sprintf("sys/devices/system/node/node%d/", n)
		write(dir+"cpulist", fmt.Sprintf("%d-%d\n", n*all/nodes, (n+1)*all/nodes-1))
		write(dir+"meminfo", "MemTotal: 1048576 kB\n")
		var distances []string
		for k := range nodes {
			distances = append(distances, fmt.Sprint(10+10*min(1, abs(n-k))))
		}
		write(dir+"distance", strings.Join(distances, " "))
	}
	return root
}

func abs(n int) int { return max(n, -n) }

func verdict(t *testing.T, r *Report, name string) Item {
	t.Helper()
	for _, i := range r.Items {
		if i.Name == name {
			return i
		}
	}
	t.Fatalf("there is no item %q", name)
	return Item{}
}

// The two topologies of the report that this is for.
func TestTake_TellsTheReportsTopologiesApart(t *testing.T) {
	for _, c := range []struct {
		name                           string
		sockets, cores, threads, nodes int
		want                           Verdict
	}{
		{"OfTheSlowCluster", 24, 1, 1, 2, Harmful}, {"OfTheGoodOne", 2, 8, 2, 2, Trustworthy},
		{"FourSocketsOfOneCore", 4, 1, 1, 1, Odd}, {"OneSocket", 1, 4, 2, 1, Trustworthy},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Take(t.Context(), Options{Root: machineFiles(t, c.sockets, c.cores, c.threads, c.nodes)})
			if err != nil {
				t.Fatal(err)
			}
			if got := verdict(t, r,
				"processors"); got.Verdict != c.want || (len(got.Reasons) > 0) == (c.want == Trustworthy) {
				t.Errorf("%+v, want %s", got, c.want)
			}
			if got := verdict(t, r, "memory"); got.Verdict != Unknown || len(got.Reasons) == 0 {
				t.Errorf("another machine's memory was measured: %+v", got)
			}
		})
	}
	if _, err := Take(t.Context(), Options{Root: t.TempDir()}); problem.ClassOf(err) != problem.Environment {
		t.Errorf("nothing is there: %v", err)
	}
}

func times(ns float64) probe.Times {
	return probe.Times{N: 99, Least: ns, Median: ns, P99: ns, Most: ns}
}

// planted figures and the verdict that each must change: "" leaves all trustworthy or not measured.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, item string
		want       Verdict
		plant      func(*Report)
	}{
		{"Sound", "", "", func(*Report) {}},
		{"SlowClock", "clock", Harmful, func(r *Report) { r.Probes.Clock.ReadNS = 900 }},
		{"ClockOfTheBoard", "clock", Harmful, func(r *Report) { r.Topology.Clock.Source = "hpet" }},
		{"LateTimer", "sleep", Odd, func(r *Report) { r.Probes.Clock.Sleep = times(2e6) }},
		{"LateByTheRunQueue", "", "", func(r *Report) {
			r.Probes.Clock.Sleep = times(2e6)
			queued := 1.9e6
			r.Probes.Clock.QueuedNS = &queued
		}},
		{"NodesThatCostNothing", "NUMA nodes", Odd, func(r *Report) { r.Probes.Memory[1].Access = times(101) }},
		{"NodesTooFar", "NUMA nodes", Harmful, func(r *Report) { r.Probes.Memory[1].Access = times(400) }},
		{"UnequalWithinANode", "memory", Odd, func(r *Report) {
			r.Probes.Memory = append(r.Probes.Memory, Memory{3, 0, true, times(200)})
		}},
		{"UnequalOnABusyMachine", "", "", func(r *Report) {
			busy := times(200)
			busy.Median = 900
			r.Probes.Memory = append(r.Probes.Memory, Memory{3, 0, true, busy})
		}},
		{"NearThatIsFar", "cache lines", Odd, func(r *Report) { r.Probes.Lines[0].Trip = times(350) }},
		{"ThreadsThatAreStrangers", "cache lines", Odd, func(r *Report) {
			r.Probes.Lines = []Line{{0, 1, topology.SameCore, times(600)}}
		}},
		{"SlowFlush", "flush", Harmful, func(r *Report) { *r.Probes.Flush = times(20e6) }},
		{"NoFlushAtAll", "flush", Odd, func(r *Report) { *r.Probes.Flush = times(3000) }},
		{"FarDatabase", "round trip", Harmful, func(r *Report) { *r.Probes.Trip = times(2e6) }},
		{"BusyDatabase", "", "", func(r *Report) { r.Probes.Trip.Median = 2e6 }},
		{"HalfOfTheProcessors", "server's processors", Odd, func(r *Report) { r.Server.Processors = "0-1" }},
		{"SmallPages", "huge pages", Harmful, func(r *Report) {
			r.Server.Settings["huge_pages_status"], r.Server.Settings["shared_memory_size"] = "off", "65536MB"
		}},
		{"SharedMemoryOnOneNode", "shared memory by node", Harmful, func(r *Report) {
			r.Server.SharedByNode = map[string]int64{"0": 990, "1": 10}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := validReport(t)
			c.plant(r)
			r.judge()
			for _, i := range r.Items {
				switch {
				case i.Name == c.item && i.Verdict != c.want:
					t.Errorf("%+v, want %s", i, c.want)
				case i.Name != c.item && i.Verdict != Trustworthy && i.Verdict != Unknown:
					t.Errorf("also %+v", i)
				}
			}
		})
	}
}

// validReport is of a machine of two sockets and its server, all measured.
func validReport(t *testing.T) *Report {
	t.Helper()
	m, err := topology.ReadMap(machineFiles(t, 2, 1, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	m.Clock.Source = "tsc"
	flush, trip := times(1e6), times(1e5)
	return &Report{Schema: Schema, Root: "/", Topology: m, Items: []Item{}, Unavailable: []Missing{}, Probes: Probes{
		Clock:  &probe.Timing{ReadNS: 40, StepNS: 40, SleptNS: 1e6, Sleep: times(60_000)},
		Memory: []Memory{{0, 0, true, times(100)}, {2, 0, false, times(140)}},
		Lines:  []Line{{0, 1, topology.SameCore, times(30)}, {0, 2, topology.OtherNode, times(200)}},
		Flush:  &flush, Dir: "/data", Trip: &trip},
		Server: &Server{Way: "loopback", Processors: "0-3", MemoryNodes: "0-1", Settings: map[string]string{
			"huge_pages": "try", "huge_pages_status": "on", "shared_memory_size": "65536MB"},
			SharedByNode: map[string]int64{"0": 500, "1": 500}}}
}

func TestCompare(t *testing.T) {
	a, b := validReport(t), validReport(t)
	b.Probes.Flush = nil
	trip := times(4e5)
	b.Probes.Trip = &trip
	a.judge()
	b.judge()
	var out strings.Builder
	if err := Compare("good", a, "slow", b).Text(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"round trip: differs, B is ×4.00", "memory: same, B is ×1.00",
		"flush: not compared", "1 of 13 items differ"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, out.String())
		}
	}
	file := filepath.Join(t.TempDir(), "a.json")
	text, err := json.Marshal(a)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	kept, err := Load(file)
	if err != nil || len(kept.Items) != len(a.Items) || kept.Items[0].Verdict != a.Items[0].Verdict {
		t.Errorf("%+v, %v", kept, err)
	}
	if err := os.WriteFile(file, []byte(`{"schema": "else"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); problem.ClassOf(err) != problem.Usage {
		t.Errorf("a report of another schema: %v, want a usage error", err)
	}
}

// This machine, with a server, as a person would take it; the time is too short for good figures.
func TestTake(t *testing.T) {
	dir := t.TempDir()
	r, err := Take(t.Context(), Options{DSN: clustertest.Database(t).Secret(), Dir: dir, Within: time.Second})
	if err != nil {
		t.Fatalf("%v: %s", err, problem.HintOf(err))
	}
	if r.Server.Version == "" || r.Probes.Trip == nil || len(r.Items) != 13 || len(r.Topology.Processors) == 0 {
		t.Errorf("report %+v lacks the server, its round trip, items or processors", r)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	text := schema.Of(t, &Report{}, "urn:plimsoll:schema:topology-1", "A machine as a database uses it",
		"What `plimsoll topology --json` prints. Null is \"not measured\", never zero.")
	golden.Compare(t, "../../../docs/schema/topology-1.json", text)
	one, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Compile(t, []byte(text)).Validate(tree); err != nil {
		t.Error(err)
	}
}

func TestTake_StopsAtOnce(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r, err := Take(ctx, Options{Dir: t.TempDir(), Within: time.Hour})
	if problem.ClassOf(err) != problem.Interrupted || r == nil || len(r.Items) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAreaFor_LeavesMemoryToTheServer(t *testing.T) {
	caches := topology.Map{Caches: []topology.Cache{{Bytes: 100 << 20}}}
	if bytes, fits := areaFor(caches, 4<<30, 0); bytes != 200<<20 || !fits {
		t.Errorf("%d, %v", bytes, fits)
	}
	for _, memory := range [][]int64{{1 << 30, 64 << 30}, {64 << 30, 1 << 30}} {
		if _, fits := areaFor(caches, memory...); fits {
			t.Errorf("an area of 200 MB is taken of %d", memory)
		}
	}
}
