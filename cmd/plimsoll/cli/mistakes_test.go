package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/postgres/backup"
	"plimsoll/test/files"
)

func TestMistakes_AreNamedWithAWayOut(t *testing.T) {
	freshState(t)
	for _, c := range []struct {
		name   string
		args   []string
		stderr []string
	}{
		{"UnknownCommand", []string{"rum"}, []string{`plimsoll: unknown command "rum"`, "hint: did you mean run?"}},
		{"UnknownCommandLikeNone", []string{"frobnicate"}, []string{"hint: 'plimsoll help' lists the commands"}},
		{"UnknownHelpTopicLikeNone", []string{"help", "frobnicate"},
			[]string{"hint: 'plimsoll help' lists the commands"}},
		{"UnknownHelpTopic", []string{"help", "statsu"}, []string{`unknown command "statsu"`, "did you mean status?"}},
		{"UnknownFlag", []string{"run", "--usres", "5"}, []string{"unknown flag --usres", "did you mean --users?"}},
		{"UnknownFlagLikeNone", []string{"status", "--frobnicate"},
			[]string{"'plimsoll status --help' lists the flags"}},
		{"UnknownShortFlag", []string{"run", "-x"}, []string{"unknown flag -x"}},
		{"FlagOfPsql", []string{"psql", "-c", "SELECT 1"},
			[]string{"unknown flag -c", "hint: arguments of psql come after --"}},
		{"URLThatIsNone", []string{"run", "--url", "foo"},
			[]string{`--url: "foo" is not a URL`, "hint: such as --url http"}},
		{"MonthToCome", []string{"close", "2999-01"}, []string{"2999-01 has not ended", "hint: name an earlier month"}},
		{"FlagForACommand", []string{"--version"},
			[]string{"unknown flag --version", "hint: the command is 'plimsoll version'"}},
		{"NothingStored", []string{"report"}, []string{"no run is stored in ", "hint: 'plimsoll run' creates one"}},
		{"LineWithNothingToResume", []string{"line", "--resume"},
			[]string{"there is no stopped search with these settings", "hint: start one"}},
		{"CommonFlagMistyped", []string{"--jsno", "status"}, []string{"unknown flag --jsno", "did you mean --json?"}},
		{"WrongNumber", []string{"run", "--users", "many"}, []string{`--users takes a whole number, not "many"`}},
		{"NumberOutOfRange", []string{"run", "--users", "0"}, []string{"--users: must be between 1 and 100000, not 0"}},
		{"WrongScale", []string{"fill", "--scale", "-1"},
			[]string{"fill at scale -1", "scales go from 0.0001 to 1000"}},
		{"ScaleOfNothing", []string{"fill", "--scale", "0"}, []string{"hint: scales go from"}},
		{"WrongSize", []string{"fill", "--size", "20 bags"}, []string{`"20 bags" is not a size`, "for example 20GB"}},
		{"ScaleAndCounts", []string{"fill", "--scale", "0.1", "--documents", "5"}, []string{"documents", "scale"}},
		{"CheckAtAScale", []string{"fill", "--check", "--scale", "5"}, []string{"--scale applies only to " +
			"filling; --check uses the existing base", "hint: leave it out"}},
		{"CheckOfASmallBase", []string{"fill", "--check", "--small"}, []string{"--small applies only to filling"}},
		{"CopyOfASize", []string{"fill", "--compare-copy", "--size", "1GB"},
			[]string{"--size applies only to filling; --compare-copy"}},
		{"EstimateIfEmpty", []string{"fill", "--estimate", "--if-empty"},
			[]string{"--if-empty applies only to filling"}},
		{"ResumeAndDiscard", []string{"fill", "--resume", "--discard"}, []string{"resume", "discard"}},
		{"WrongDuration", []string{"run", "--duration", "5"},
			[]string{`--duration takes a duration such as 30s or 5m, not "5"`}},
		{"DurationTooShort", []string{"run", "--duration", "1ms"},
			[]string{"--duration: must be at least 1s, not 1ms"}},
		{"TargetAsPercent", []string{"run", "--target", "85"}, []string{"--target: must be between 0 and 1, not 85"}},
		{"WrongChoice", []string{"up", "--flavour", "vanila"},
			[]string{"--flavour: must be one of plimsoll, vanilla", "did you mean vanilla?"}},
		{"ValueMissing", []string{"run", "--users"}, []string{"--users needs a value: a whole number",
			"hint: --users int: number of virtual users (default 1000)"}},
		{"TooManyArguments", []string{"status", "x"},
			[]string{`plimsoll status takes no arguments, not "x"`, "hint: usage: plimsoll status"}},
		{"ArgumentMissing", []string{"destroy"}, []string{"plimsoll destroy needs the name of a cluster"}},
		{"ExclusiveFlags", []string{"up", "--port", "5555", "--socket-only"},
			[]string{"--port and --socket-only exclude each other"}},
		{"NoneOfTheNeededFlags", []string{"crash"}, []string{"one of --power-cut, --kill, --stop is needed"}},
		{"UnknownClaim", []string{"prove", "C99"}, []string{`unknown claim "C99"`}},
		{"CompareOneSystem", []string{"compare", "plimsoll+lean"},
			[]string{"compare needs two systems", "--set-b NAME=VALUE"}},
		{"CompareUnknownShape", []string{"compare", "plimsoll+lea", "vanilla"}, []string{"A: \"lea\"",
			"did you mean lean?"}},
		{"CompareMistypedFlavour", []string{"compare", "vanila+lean", "plimsoll+lean"}, []string{`no cluster "vanila"`,
			"did you mean vanilla?"}},
		{"CompareMistypedMetric", []string{"compare", "plimsoll", "--set-b", "jit=off", "--metric", "latencyms"},
			[]string{`no metric "latencyms"`, "did you mean latency_ms?"}},
		{"CompareControlOfCommands", []string{"compare", "--command-a", "a", "--command-b", "b", "--control"},
			[]string{"--control: a command generates its own load"}},
		{"CompareNoSetting", []string{"compare", "plimsoll", "--set-b", "work_mem"}, []string{"is not NAME=VALUE"}},
		{"CompareCommandWithSQL", []string{"compare", "--command-a", "a", "--command-b", "b", "--sql-b", "SELECT 1"},
			[]string{"B: a command takes no settings, tweaks, SQL"}},
		{"CompareUnknownComparison", []string{"compare", "--show", "zzz"}, []string{`no comparison "zzz"`}},
		{"CompareFewPairs", []string{"compare", "a", "b", "--pairs", "3"}, []string{"--pairs: must be between 4 and"}},
		{"CompareNothingToResume", []string{"compare", "--command-a", "a", "--command-b", "b", "--resume"},
			[]string{"there is no stopped comparison with these settings"}},
		{"UnknownShell", []string{"completion", "zhs"}, []string{`unknown shell "zhs"`}},
		{"UnknownCluster", []string{"down", "nosuch"}, []string{`no cluster "nosuch"`}},
		{"UnknownClusterToRunOn", []string{"run", "--cluster", "nosuch"},
			[]string{`no cluster "nosuch"`, "clusters\nhint: plimsoll up nosuch creates it"}},
		{"UnknownClusterToProveOn", []string{"prove", "C01", "--cluster", "nosuch"}, []string{`no cluster "nosuch"`}},
		{"BadClusterName", []string{"up", "../etc"}, []string{`invalid cluster name "../etc"`}},
		{"UnknownEngine", []string{"up", "--engine", "oracle"}, []string{`unknown engine "oracle"`}},
		{"ConfigFileMissing", []string{"--config", "/no/such.toml", "status"},
			[]string{"read configuration", "/no/such.toml"}},
		{"ConfigOfUnknownCommand", []string{"config", "rum"}, []string{"did you mean run?"}},
		{"ConfigOfUnknownFlag", []string{"config", "run", "--usres", "5"}, []string{"did you mean --users?"}},
		{"RateWithoutArrivals", []string{"run", "--rate", "5"},
			[]string{"--rate has no effect without --arrivals", "hint: add --arrivals poisson"}},
		{"ArrivalsWithoutRate", []string{"run", "--arrivals", "poisson"}, []string{"--arrivals needs --rate"}},
		{"ArrivalsThatThink", []string{"run", "--arrivals", "poisson", "--rate", "5", "--think", "1s"},
			[]string{"--think has no effect with --arrivals", "hint: leave it out"}},
		{"NegativeRate", []string{"run", "--arrivals", "poisson", "--rate", "-5"}, []string{"-5 arrivals per second"}},
		{"WrongArrivals", []string{"run", "--arrivals", "poison"},
			[]string{"--arrivals: must be one of poisson, constant", "did you mean poisson?"}},
		{"CollectorWithoutAddress", []string{"run", "--otlp", "127.0.0.1:4318"},
			[]string{`"127.0.0.1:4318" is not a collector's address`, "hint: --otlp takes an address such as http://"}},
		{"AddressOfNoDashboard", []string{"run", "--ui-address", "127.0.0.1:0"},
			[]string{"--ui-address has no effect without --ui", "hint: add --ui"}},
		{"TokenForNobody", []string{"line", "--agents-wait", "1m"},
			[]string{"--agents-wait has no effect without --agents", "hint: add --agents"}},
		{"TwoPlacesToJoin", []string{"run", "--agents", "2", "--agents-listen", "127.0.0.1:0", "--agents-bus",
			"nats://127.0.0.1:1"}, []string{"--agents-listen has no effect with --agents-bus", "hint: leave it out"}},
		{"ShapeOfForeignWorkers", []string{"run", "--url", "http://127.0.0.1:1", "--shape", "classic"},
			[]string{"--shape has no effect with --url", "hint: leave it out, or leave out --url"}},
		{"NumberOfForeignWorkers", []string{"line", "--url", "http://127.0.0.1:1", "--workers", "2"},
			[]string{"--workers has no effect with --url"}},
		{"EngineOfForeignWorkers", []string{"run", "--url", "http://127.0.0.1:1", "--engine", "vanilla"},
			[]string{"--engine applies only to a cluster that this command creates"}},
		{"EngineOfForeignDatabase", []string{"run", "--dsn", "host=/nowhere", "--engine", "vanilla"},
			[]string{"--engine applies only to a cluster that this command creates", "hint: leave it out"}},
		{"ThinkingOfArrivals", []string{"run", "--arrivals", "poisson", "--rate", "5", "--think-distribution",
			"constant"}, []string{"--think-distribution has no effect with --arrivals", "hint: leave it out"}},
		{"RepairOfNoClass", []string{"repair", "--only", "rebild"},
			[]string{`--only: no class "rebild" that repairs`, "hint: choose from resubmit, reverse, repost"}},
		{"RepairOfWhatABackupHas", []string{"repair", "--only", "restore"}, []string{`no class "restore" that`}},
		{"RepairOfNoClasses", []string{"repair", "--only", ""},
			[]string{"--only: nothing is named", "hint: leave it out for all"}},
		{"RepairOfNoDocuments", []string{"repair", "--documents="}, []string{"--documents: nothing is named"}},
		{"RepairOfADocumentByNumber", []string{"repair", "--documents", "GS-000000001"},
			[]string{`--documents: "GS-000000001" is not an id`, "hint: the ids are those that"}},
		{"RepairOfTheEmptyDocument", []string{"repair", "--documents", "00000000-0000-0000-0000-000000000000"},
			[]string{"is not an id"}},
		{"BackupBeforeADryRun", []string{"repair", "--backup", "--dry-run"},
			[]string{"--backup has no effect with --dry-run", "hint: leave one of them out"}},
		{"BackupOfAForeignDatabase", []string{"repair", "--backup", "--dsn", "host=/nowhere"},
			[]string{"--backup is for local clusters", "hint: back it up with its own tools"}},
		{"LagOfNothing", []string{"backup", "--max-lag", "soon"},
			[]string{`"soon" is neither a time, such as 1s, nor megabytes of log, such as 16MB`}},
		{"LagOfNoTime", []string{"audit", "--max-lag", "-1s"}, []string{"a time must be more than 0"}},
		{"LagOfTooMuch", []string{"backup", "--max-lag", "99999999999MB"}, []string{"neither a time"}},
		{"LagOfAList", []string{"backup", "list", "--max-lag", "1s"},
			[]string{"--max-lag applies only to taking a backup"}},
		{"RateOfNothing", []string{"commits", "--rate", "-5"}, []string{"must be between 0 and"}},
		{"RecoveriesOfAKill", []string{"crash", "--kill", "all", "--recoveries", "4"},
			[]string{"--recoveries has no effect without --power-cut", "hint: leave it out"}},
		{"StandbyOfNobody", []string{"crash", "--power-cut", "--standby", "async"},
			[]string{"--standby has no effect without --promote", "hint: leave it out, or add --promote"}},
		{"ShapeOfSQL", []string{"crash", "--power-cut", "--load", "sql", "--shape", "lean"},
			[]string{"--shape has no effect with --load sql", "hint: leave it out"}},
		{"SeedOfNoSample", []string{"audit", "--seed", "7"},
			[]string{"--seed applies only to --sample", "hint: add --sample"}},
		{"SlowWithoutAnEventLog", []string{"serve", "--slow", "5s"},
			[]string{"--slow applies only to --events", "hint: add --events FILE"}},
		{"DashboardThatIsNoneStays", []string{"run", "--ui-stay"},
			[]string{"--ui-stay has no effect without --ui", "hint: add --ui"}},
		{"LineFromBeyondItsMost", []string{"line", "--from", "1000", "--most", "10"},
			[]string{"--from 1000 exceeds --most 10", "hint: lower --from or raise --most"}},
		{"ConnectionStringThatIsNone", []string{"run", "--dsn", "garbage"},
			[]string{"read connection string", "hint: for example postgres://"}},
		{"LineWithoutATarget", []string{"line", "--target", "0"}, []string{"--target: must be above 0"}},
		{"LineWithoutAWidth", []string{"line", "--resolution", "0"}, []string{"--resolution: must be above 0"}},
		{"LineWithAWrongReset", []string{"line", "--reset", "templat"},
			[]string{"--reset: must be one of", "did you mean template?"}},
		{"OneConfigurationAlone", []string{"line", "--configurations", "plimsoll+lean"},
			[]string{"plimsoll+lean alone has nothing to be compared with",
				"such as --configurations vanilla+classic,plimsoll+lean"}},
		{"ConfigurationTwice", []string{"line", "--configurations", "vanilla+lean,vanilla+lean"},
			[]string{"vanilla+lean is named twice"}},
		{"ConfigurationOfNoShape", []string{"line", "--configurations", "vanilla+claasic,plimsoll+lean"},
			[]string{`"claasic" is not a shape of the ERP`, "did you mean classic?"}},
		{"ConfigurationOfNoCluster", []string{"line", "--configurations", "+lean,plimsoll"},
			[]string{`"+lean" has no cluster`}},
		{"ConfigurationsAndACluster", []string{"line", "--configurations", "a,b", "--cluster", "c"},
			[]string{"--cluster and --configurations exclude each other"}},
		{"ConfigurationOfAnUnknownCluster", []string{"line", "--configurations", "nosuch+lean,nosuch+tuned"},
			[]string{`no cluster "nosuch"`}},
		{"ParquetToTheTerminal", []string{"export", "--as", "parquet"},
			[]string{"cannot go to a terminal", "hint: name a file with --out"}},
		{"SeveralRunsAsOnePage", []string{"report", "a", "b", "--html", "x"}, []string{"--html writes one run"}},
		{"ScenarioMissing", []string{"run", "--scenario", "/no/such.toml"},
			[]string{"read scenario", "hint: 'plimsoll scenario' prints one"}},
		{"AgentsNoNumber", []string{"run", "--agents", "many"},
			[]string{`--agents: takes a number of agents, or local: and a number, not "many"`,
				"hint: such as --agents 3"}},
		{"AgentsTooMany", []string{"run", "--agents", "local:5000"}, []string{"at most 256"}},
		{"AgentsOfOthersWithoutAToken", []string{"run", "--agents", "2", "--agents-listen", "0.0.0.0:4222"},
			[]string{"no token is set", "PLIMSOLL_TOKEN"}},
		{"WorkerForOthersWithoutPasswords", []string{"serve", "--listen", "0.0.0.0:8080"},
			[]string{"anybody who can reach this address could log in", "--passwords", "--insecure"}},
		{"WorkerForAllWithoutPasswords", []string{"serve", "--listen", ":8080"}, []string{"--insecure"}},
		{"PasswordsInClear", []string{"serve", "--listen", "10.0.0.1:8080", "--passwords"},
			[]string{"passwords would be sent unencrypted", "--tls-cert"}},
		{"CertificateWithoutItsKey", []string{"serve", "--tls-cert", "a"}, []string{"needs its key", "--tls-key"}},
		{"FiguresForOthersWithoutAToken", []string{"run", "--metrics", "0.0.0.0:9187"},
			[]string{"no token is set", "--metrics-token-file"}},
		{"FiguresInClear", []string{"run", "--metrics", "0.0.0.0:9187", "--metrics-token-file", secretFile(t)},
			[]string{"the token would be sent unencrypted", "--metrics-cert", "--insecure"}},
		{"PasswordInClear", []string{"run", "--url", "http://10.0.0.5:1", "--password-file", secretFile(t)},
			[]string{"would be sent unencrypted", "https", "--insecure"}},
		{"PasswordFileMissing", []string{"run", "--url", "http://127.0.0.1:1", "--password-file", "/no/such"},
			[]string{"/no/such"}},
		{"PasswordForOwnWorkers", []string{"run", "--password-file", "/dev/null"}, []string{"applies only to"}},
		{"PasswordOfNobody", []string{"passwd"}, []string{"no users are named"}},
		{"PasswordOfAllAndOne", []string{"passwd", "--all", "u00001"}, []string{"no users are named"}},
		{"AgentOfNobody", []string{"agent"}, []string{"--join: the URL of a coordinator is missing"}},
		{"CloseThroughAndReopen", []string{"close", "2025-05", "--through", "--reopen"},
			[]string{"--reopen and --through exclude each other"}},
		{"SelfAndAClaim", []string{"prove", "--self", "C01"}, []string{"--self and claims exclude each other"}},
		{"NoSuchLine", []string{"prove", "--self", "--only", "delai"}, []string{`unknown line "delai"`, "delay"}},
		{"RepeatOfClaims", []string{"prove", "C01", "--repeat", "2"}, []string{"--repeat applies only to --self"}},
		{"SeedOfClaims", []string{"prove", "C01", "--seed", "2"}, []string{"apply only to --confusion"}},
		{"CureOfClaims", []string{"prove", "--cure", "deep-offset"}, []string{"apply only to --confusion"}},
		{"CureOfNothing", []string{"prove", "--confusion", "--cure", "nothing"},
			[]string{"is no incident that says how it is cured", "hint: one of "}},
		{"AllAndOne", []string{"prove", "--all", "C01"}, []string{"exclude each other"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := plimsoll(t, c.args...)
			o.want(t, ExitUsage, c.stderr...)
			if o.stdout != "" {
				t.Errorf("stdout: %s", o.stdout)
			}
			if !strings.HasPrefix(o.stderr, "plimsoll: ") || strings.Count(o.stderr, "\n") > 2 {
				t.Errorf("stderr: %s", o.stderr)
			}
		})
	}
}

func TestMistakes_AsJSONAreOneObjectOnStderr(t *testing.T) {
	freshState(t)
	for _, c := range []struct {
		args  []string
		class string
		code  int
		hint  string
	}{
		{[]string{"run", "--usres", "5", "--json"}, "usage", 2, "did you mean --users?"},
		{[]string{"audit", "--json"}, "environment", 4, "create and start one: plimsoll up"},
	} {
		o := plimsoll(t, c.args...)
		o.want(t, c.code)
		var got struct {
			Error struct {
				Message, Hint, Class string
				ExitCode             int `json:"exit_code"`
			}
		}
		lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
			t.Fatalf("last line of stderr: %v: %s", err, o.stderr)
		}
		if e := got.Error; e.Message == "" || e.Class != c.class || e.ExitCode != c.code || e.Hint != c.hint {
			t.Errorf("want message, class, exit code and hint, got %+v", e)
		}
		if o.stdout != "" {
			t.Errorf("stdout: %s", o.stdout)
		}
	}
}

func TestEnvironmentProblems_ExitWithFour(t *testing.T) {
	state := freshState(t)
	for _, args := range [][]string{{"audit"}, {"fill"}, {"psql"}, {"serve"}} {
		t.Run(args[0], func(t *testing.T) {
			plimsoll(t, args...).want(t, ExitEnvironment, "there is no local cluster",
				"hint: create and start one: plimsoll up")
		})
	}
	t.Run("StateDirectoryIsAFile", func(t *testing.T) {
		file := filepath.Join(state, "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PLIMSOLL_STATE", file)
		plimsoll(t, "up", "--engine", "system", "--quiet").want(t, ExitEnvironment, "plimsoll: ", "hint: ")
	})
	t.Run("NameOfAFlavourThatIsNotBuilt", func(t *testing.T) {
		t.Setenv("PLIMSOLL_CACHE", t.TempDir())
		t.Setenv("PLIMSOLL_ENGINE", "")
		plimsoll(t, "up", "vanilla", "--quiet").want(t, ExitEnvironment, "the engine vanilla is not built",
			"hint: build it with `make engine")
	})
	for _, command := range []string{"audit", "run", "line", "serve", "fill"} {
		t.Run("NothingListens/"+command, func(t *testing.T) {
			o := plimsoll(t, command, "--quiet", "--dsn", "postgres://ann:S3cret@127.0.0.1:1/erp")
			o.want(t, ExitEnvironment, "127.0.0.1:1 (127.0.0.1): connection refused\n",
				"hint: check host, port")
			if strings.Count(o.stderr, "\n") != 2 {
				t.Errorf("more than a line and its hint:\n%s", o.stderr)
			}
		})
	}
	t.Run("ReportCannotBeWritten", func(t *testing.T) {
		for _, command := range []string{"run", "line"} {
			o := plimsoll(t, command, "--html", filepath.Join(state, "none", "x.html"))
			o.want(t, ExitEnvironment, "write report", "no such file or directory",
				"hint: name a file in a folder that exists")
			if strings.Contains(o.stderr, "creating cluster") {
				t.Error("that was known beforehand")
			}
		}
	})
}

func TestSecrets_NeverShow(t *testing.T) {
	state := freshState(t)
	const secret = "Zx9QqSecret"
	file := files.Write(t, state, "p.toml", `dsn = "postgres://ann:`+secret+`@127.0.0.1:1/erp"`)
	dsn := "postgres://ann:" + secret + "@127.0.0.1:1/erp"
	for _, c := range []struct {
		name string
		env  string
		args []string
	}{
		{"ConfigOfFlag", "", []string{"config", "fill", "--dsn", dsn}},
		{"ConfigOfVariable", dsn, []string{"config"}},
		{"ConfigOfVariableJSON", "host=db password=" + secret, []string{"config", "--json"}},
		{"ConfigOfFile", "", []string{"config", "--config", file}},
		{"ErrorOfDriver", dsn, []string{"audit"}},
		{"ErrorOfDriverJSON", dsn, []string{"fill", "--json"}},
		{"ErrorOfServe", dsn, []string{"serve", "--listen", "127.0.0.1:0"}},
		{"ErrorOfRun", dsn, []string{"run", "--users", "1", "--duration", "1s"}},
		{"ConfigOfToken", "", []string{"config", "agent", "--token", secret}},
		{"MalformedDSN", "postgres://ann:" + secret + "@127.0.0.1:notaport/erp", []string{"audit"}},
		{"MalformedKeywords", "host=127.0.0.1 port=x password='" + secret, []string{"audit"}},
		{"MistypedFlag", "", []string{"audit", "--dsn=" + dsn, "--dns"}},
		{"SecretAsCommand", "", []string{dsn}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PLIMSOLL_DSN", c.env)
			o := plimsoll(t, c.args...)
			if strings.Contains(o.stdout+o.stderr, secret) {
				t.Errorf("the password shows:\n%s%s", o.stdout, o.stderr)
			}
			if strings.HasPrefix(c.name, "ConfigOf") {
				o.want(t, ExitOK)
				if !strings.Contains(o.stdout, "***") {
					t.Errorf("the setting is missing:\n%s", o.stdout)
				}
			} else if o.code == ExitOK {
				t.Error("succeeded")
			}
		})
	}
}

func TestInterrupted_BeforeItBeganExitsWith130(t *testing.T) {
	freshState(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := plimsollWith(t, ctx, "", nil, "up", "--engine", "system")
	o.want(t, ExitInterrupted, "plimsoll: ")
}

// secretFile has what may be a password or a token.
func secretFile(t *testing.T) string {
	t.Helper()
	return files.Write(t, t.TempDir(), "secret", "correct horse battery\n")
}

func TestInterrupted_SaysWhat(t *testing.T) {
	for text, want := range map[string]string{
		"context canceled":                                           "interrupted",
		"back up main: context canceled":                             "interrupted: back up main",
		"interrupted after 3 ends: context canceled":                 "interrupted after 3 ends",
		"fill was stopped; parts are kept: context canceled":         "fill was stopped; parts are kept",
		"stopped after 3 turns":                                      "stopped after 3 turns",
		"prove C01: timeout: context already done: context canceled": "interrupted: prove C01",
		"connect: connection reset":                                  "interrupted: connect: connection reset",
	} {
		if got := interruptedText(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// Where log is archived, a restore goes on to its end, behind the repair that the backup was taken for.
func TestGoBack_EndsWithTheBackup(t *testing.T) {
	r := backup.Record{ID: "main-1", EndLSN: "0/5000120"}
	if got := goBack(r); got != "plimsoll backup restore main-1" {
		t.Error(got)
	}
	if r.Archive = "main-a"; goBack(r) != "plimsoll backup restore main-1 --point 0/5000120" {
		t.Error(goBack(r))
	}
}
