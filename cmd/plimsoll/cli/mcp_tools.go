package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/report"
)

// commandTool is a command that clients may call.
type commandTool struct {
	name, title, about string
	command            string
	// flags of the command that a client may set. Left out are those that lead elsewhere (--url, --dsn, --engine), run
	// programs or SQL (--command-a, --sql-b, --set-b), change a server (--apply) or name a file.
	flags []string

	target   bool // takes a database or a cluster
	sides    bool // takes two of them
	scenario bool // takes a scenario file
	loads    bool // puts load on a system

	more     properties // arguments that are no flags
	required []string
	rest     func(arguments map[string]any) []string // words after the flags

	text func(w io.Writer, answer any, arguments map[string]any) error // nil: verdict and text of the answer
	long []string                                                      // names left out without details
	cut  func(answer json.RawMessage, arguments map[string]any) (json.RawMessage, error)
}

var loadFlagNames = []string{"duration", "ramp", "think", "think-distribution", "timeout", "seed", "title", "shape",
	"load"}

const stoppable = " Reports progress; cancel it to stop."

// commandTools are all tools.
func commandTools() []commandTool {
	run := properties{"type": "string", "pattern": `^(latest|[0-9]{8}-[0-9A-Za-z-]*)$`}
	return []commandTool{
		{name: "diagnose", title: "Diagnose a database", command: "diagnose", target: true,
			about: "Watch a PostgreSQL server while it works and say where the time of its sessions goes: causes by " +
				"price with evidence, a ledger of waits, statements with plans, lock stories. Needs a load that is " +
				"there already. Writes nothing." + stoppable,
			flags: []string{"duration", "rate"}, long: []string{"limits", "settings", "host"}},
		{name: "advise", title: "Advise on a server", command: "advise", target: true,
			about: "Say what to change on a PostgreSQL server: settings, indexes, statistics, vacuum, each with " +
				"reason, proof and undo. Applies nothing. With for (such as 2m) it watches first, so that advice has " +
				"a price." + stoppable,
			flags: []string{"for", "run"}, long: []string{"limits"}},
		{name: "results_list", title: "List stored runs", command: "runs",
			about: "Stored runs, newest first, each with users, Apdex, rate and whether it is valid.",
			more: properties{"limit": properties{"type": "integer", "minimum": 1, "maximum": 1000,
				"description": "how many (default 20)"}},
			text: listText, cut: listCut},
		{name: "results_show", title: "Show a stored run", command: "report",
			about: "One stored run: scores of all operations, causes, audit, conditions.",
			more:  properties{"id": describedSchema(run, "id of a run or its beginning, or latest (default)")},
			rest: func(arguments map[string]any) []string {
				if id, _ := arguments["id"].(string); id != "" {
					return []string{id}
				}
				return []string{store.Latest}
			}, long: []string{"series"}},
		{name: "results_compare", title: "Compare stored runs", command: "report",
			about: "Several stored runs side by side, with the conditions in which they differ. One run of each side " +
				"says nothing about significance: compare does.",
			more: properties{"ids": properties{"type": "array", "items": run, "minItems": 2,
				"maxItems": report.SidesMax, "description": "ids of the runs"}},
			required: []string{"ids"},
			rest:     func(arguments map[string]any) []string { return textList(arguments["ids"]) },
			text: func(w io.Writer, answer any, _ map[string]any) error {
				return report.SideBySide(w, runsOf[*result.Result](answer))
			}, cut: withoutSeries},
		{name: "scenario_check", title: "Check a scenario file", command: "scenario", scenario: true,
			about: "Read a scenario file of this server's command line and say what is wrong with it, by line and " +
				"key, or what it contains. Without an argument: the built-in scenario. Sends nothing.",
			text: func(w io.Writer, _ any, arguments map[string]any) error {
				_, err := fmt.Fprintf(w, "no mistake found in %s\n", scenarioOf(arguments))
				return err
			}},
		{name: "run", title: "Run a load", command: "run", target: true, scenario: true, loads: true,
			about: "Put virtual users on a system for a while and score every operation by Apdex; audit the books " +
				"of the built-in ERP. Writes to the database as its users do." + stoppable,
			flags: append([]string{"users", "target", "arrivals", "rate", "workers"}, loadFlagNames...),
			long:  []string{"series"}},
		{name: "line", title: "Find the load line", command: "line", target: true, scenario: true, loads: true,
			about: "Search for the largest number of users at which the Apdex still reaches target, and what limits " +
				"it: a dozen runs or more, on copies of the base. A stopped search goes on with resume." + stoppable,
			flags: append([]string{"target", "from", "most", "resolution", "confirmations", "budget", "resume",
				"workers"}, loadFlagNames...)},
		{name: "compare", title: "Compare two systems", command: "compare", target: true, sides: true, scenario: true,
			loads: true,
			about: "Run two systems in turns on the same load and say whether the second is better, worse or equal, " +
				"by a test over whole runs. A stopped comparison goes on with resume." + stoppable,
			flags: append([]string{"metric", "pairs", "margin", "budget", "resume", "control", "users", "workers",
				"tweak-a", "tweak-b"}, loadFlagNames...)},
	}
}

func describedSchema(schema properties, description string) properties {
	all := properties{"description": description}
	for name, value := range schema {
		all[name] = value
	}
	return all
}

func scenarioOf(arguments map[string]any) string {
	if name, _ := arguments["scenario"].(string); name != "" {
		return "scenario " + name
	}
	return "the built-in scenario"
}

// answerText is what a person would read, the verdict first.
func answerText(w io.Writer, answer any, _ map[string]any) error {
	if v, is := answer.(interface{ Statement() string }); is {
		if _, err := fmt.Fprintln(w, v.Statement()); err != nil {
			return err
		}
	}
	switch v := answer.(type) {
	case *result.Result:
		return report.Summary(w, v, "")
	case interface{ Text(io.Writer) error }:
		return v.Text(w)
	}
	return nil
}

const runsListed = 20

func limitOf(arguments map[string]any) int {
	if limit, is := arguments["limit"].(float64); is {
		return int(limit)
	}
	return runsListed
}

// runsOf an answer that is a list of runs: those of 'report', or those of 'runs', which have labels.
func runsOf[T labelled | *result.Result](answer any) []T {
	list, _ := answer.(map[string]any)
	all, _ := list["runs"].([]T)
	return all
}

func listText(w io.Writer, answer any, arguments map[string]any) error {
	all := runsOf[labelled](answer)
	if most := limitOf(arguments); len(all) > most {
		fmt.Fprintf(w, "the newest %d of %d runs\n", most, len(all))
		all = all[:most]
	}
	return newApp(nil, w, io.Discard).showRuns(all, "")
}

// listCut keeps of each run what tells it from the others.
func listCut(answer json.RawMessage, arguments map[string]any) (json.RawMessage, error) {
	return eachRun(answer, limitOf(arguments), func(run map[string]json.RawMessage) {
		kept := map[string]json.RawMessage{}
		for _, name := range []string{"schema", "id", "title", "started_at", "valid", "invalid_reasons", "interrupted",
			"users", "duration_s", "ops", "errors", "ops_per_s", "apdex", "band", "interval"} {
			if value, has := run[name]; has {
				kept[name] = value
			}
		}
		clear(run)
		for name, value := range kept {
			run[name] = value
		}
	})
}

func withoutSeries(answer json.RawMessage, _ map[string]any) (json.RawMessage, error) {
	return eachRun(answer, report.SidesMax, func(run map[string]json.RawMessage) { delete(run, "series") })
}

func eachRun(answer json.RawMessage, most int, do func(map[string]json.RawMessage)) (json.RawMessage, error) {
	var list struct {
		Runs []map[string]json.RawMessage `json:"runs"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, err
	}
	list.Runs = list.Runs[:min(most, len(list.Runs))]
	for _, run := range list.Runs {
		do(run)
	}
	return json.Marshal(list)
}
