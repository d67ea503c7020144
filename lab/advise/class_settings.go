package advise

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// dangers are settings that nothing they gain can justify.
var dangers = []struct {
	name, bad, good, mechanism string
}{
	{"fsync", "off", "on", "Nothing is forced to the disk: after a power cut or a crash of the machine the whole " +
		"server may be unreadable, not only its last transactions. A test that kills the server does not show it."},
	{"full_page_writes", "off", "on", "A page that a power cut tears in two cannot be repaired from the log: rows " +
		"vanish or lose their index entries, silently."},
	{"autovacuum", "off", "on", "Dead rows and old statistics pile up until plans are wrong and tables are mostly " +
		"empty space; in the end the server refuses writes, to prevent transaction ID wraparound."},
	{"track_counts", "off", "on", "Autovacuum needs these counts: without them it runs only against wraparound."},
	{"zero_damaged_pages", "on", "off", "A damaged page is overwritten with zeros: its rows are gone for good."},
	{"ignore_checksum_failure", "on", "off", "Damaged pages are read as if they were valid, and the damage spreads."},
}

// harmful settings are named so, whatever they gain, and are never applied or reverted by this program.
var harmful = class{
	name: "harmful settings", healthy: "no setting endangers the data",
	find: func(_ context.Context, s *server) (all []Advice, _ error) {
		for _, d := range dangers {
			if s.value(d.name) != d.bad {
				continue
			}
			all = append(all, Advice{ID: "harmful:" + d.name, Level: Harmful,
				Title:     fmt.Sprintf("%s = %s is harmful, whatever it gains", d.name, d.bad),
				Mechanism: d.mechanism,
				Evidence:  []string{fmt.Sprintf("%s is %s, set by: %s", d.name, d.bad, s.where(d.name))},
				Do:        []string{fmt.Sprintf("ALTER SYSTEM SET %s = %s; SELECT pg_reload_conf()", d.name, d.good)},
				Prove: s.compare([]string{"--set-b " + d.name + "=" + d.good}, true, false) + " (what safety " +
					"costs)",
				Revert: "none: do not go back to it"})
		}
		return all, nil
	},
}

const fileSettingsSQL = `SELECT name, coalesce(setting, '') AS setting, sourcefile AS file, sourceline AS line, applied,
	coalesce(error, '') AS error FROM pg_file_settings WHERE name IS NOT NULL ORDER BY seqno`

type fileSetting struct {
	Name, Setting, File, Error string
	Line                       int
	Applied                    bool
}

func (f fileSetting) at() string { return fmt.Sprintf("%s, line %d: %s", f.File, f.Line, f.Setting) }

// ownConf is written anew at each start of a local cluster: its later lines go before the profile's on purpose.
const ownConf = "plimsoll.conf"

// setTwice finds settings with several lines in a file: an edit of any but the last has no effect.
var setTwice = class{
	name: "settings in files", healthy: "no setting is set twice in a file, and each line is valid",
	right: "GRANT SELECT ON pg_file_settings and EXECUTE ON FUNCTION pg_show_all_file_settings() TO the user",
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		for name, current := range s.settings {
			if current.Pending {
				all = append(all, Advice{ID: "restart:" + name, Level: Note,
					Title:     name + " was changed in a file and waits for a restart",
					Mechanism: "The server works with the old value until it is restarted, perhaps months later.",
					Evidence:  []string{fmt.Sprintf("%s is %s; %s", name, current.Setting, s.where(name))},
					Do:        []string{"restart the server, or take the line back"},
					Prove:     "psql -c 'SELECT name FROM pg_settings WHERE pending_restart' shows none afterwards",
					Revert:    "put the old value back into the file"})
			}
		}
		slices.SortFunc(all, func(a, b Advice) int { return strings.Compare(a.ID, b.ID) })
		lines, err := ask[fileSetting](ctx, s, fileSettingsSQL)
		if err != nil {
			return all, s.keep("settings in files", err, "GRANT SELECT ON pg_file_settings and EXECUTE ON FUNCTION "+
				"pg_show_all_file_settings() TO "+s.User)
		}
		return append(all, s.inFiles(lines)...), nil
	},
}

func (s *server) inFiles(lines []fileSetting) (all []Advice) {
	type place struct{ name, file string }
	linesAt := map[place][]fileSetting{}
	for _, l := range lines {
		at := place{l.Name, l.File}
		linesAt[at] = append(linesAt[at], l)
		if l.Error != "" && !s.settings[l.Name].Pending {
			all = append(all, Advice{ID: "line:" + l.Name, Level: Problem, Title: "The server does not accept " +
				l.Name,
				Mechanism: "An invalid line is ignored, and a reload then ignores all other changes too.",
				Evidence:  []string{l.at() + ": " + l.Error}, Do: []string{"correct the line, SELECT pg_reload_conf()"},
				Prove:  "psql -c 'SELECT * FROM pg_file_settings WHERE error IS NOT NULL' shows none afterwards",
				Revert: "put the line back"})
		}
	}
	for at, same := range linesAt {
		if len(same) < 2 || filepath.Base(at.file) == ownConf {
			continue
		}
		level, evidence := Note, []string{}
		for _, l := range same {
			if l.Setting != same[0].Setting {
				level = Problem
			}
			evidence = append(evidence, l.at())
		}
		last := same[len(same)-1]
		evidence = append(evidence, "the last line counts; the server works with "+s.value(at.name))
		all = append(all, Advice{ID: "twice:" + at.name, Level: level,
			Title:     fmt.Sprintf("%s is set %d times in one file", at.name, len(same)),
			Mechanism: "Only the last line counts: reading or editing another one misleads.",
			Evidence:  evidence, Do: []string{fmt.Sprintf("keep one line of %s in %s", at.name, at.file)},
			Prove: s.compare([]string{"--set-a " + shell(at.name+"="+same[0].Setting), "--set-b " +
				shell(at.name+"="+last.Setting)}, true, false),
			Revert: "put the line back; it changes nothing"})
	}
	slices.SortFunc(all, func(a, b Advice) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// knownLibraries have settings that the server accepts as text while the library is not loaded.
var knownLibraries = map[string]string{
	"online_analyze.enable": "online_analyze", "online_analyze.table_type": "online_analyze",
	"plantuner.fix_empty_table": "plantuner", "plantuner.disable_index": "plantuner",
	"pg_stat_statements.max": "pg_stat_statements", "pg_stat_statements.track": "pg_stat_statements",
	"auto_explain.log_min_duration": "auto_explain", "pg_wait_sampling.profile_period": "pg_wait_sampling",
	"pg_prewarm.autoprewarm": "pg_prewarm", "pg_hint_plan.enable_hint": "pg_hint_plan", "pgaudit.log": "pgaudit",
	"cron.database_name": "pg_cron", "pg_qualstats.enabled": "pg_qualstats", "pg_store_plans.max": "pg_store_plans",
}

const placeholdersSQL = `SELECT name, current_setting(name, true) AS setting, 'this session' AS file, 0 AS line
	FROM unnest($1::text[]) AS name
	WHERE current_setting(name, true) IS NOT NULL AND name NOT IN (SELECT name FROM pg_settings)
	UNION ALL
	SELECT split_part(c, '=', 1), substr(c, strpos(c, '=') + 1), 'ALTER ROLE or ALTER DATABASE', 0
	FROM pg_db_role_setting, unnest(setconfig) AS c`

// loadedLater have settings before their library comes, which is at its first use.
var loadedLater = []string{"plpgsql", "plperl", "plperlu", "pltcl", "plpython3", "plpython3u", "storage", "plimsoll"}

const preloaded = "shared_preload_libraries"

// libraries that are set and not loaded: the server takes their settings for text and ignores them.
var libraries = class{
	name: "libraries", healthy: "each setting belongs to the server or to a library that is loaded",
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		var names []string
		for name := range knownLibraries {
			names = append(names, name)
		}
		slices.Sort(names)
		seen, err := ask[fileSetting](ctx, s, placeholdersSQL, names)
		if err != nil {
			return nil, err
		}
		lines, err := ask[fileSetting](ctx, s, fileSettingsSQL)
		if err := s.keep("libraries: settings in files", err, "as for settings in files; only the settings of "+
			"well-known libraries were looked at"); err != nil {
			return nil, err
		}
		return s.notLoaded(append(lines, seen...)), nil
	},
}

func (s *server) notLoaded(lines []fileSetting) (all []Advice) {
	loaded := map[string]bool{}
	for name := range s.settings {
		if prefix, _, is := strings.Cut(name, "."); is {
			loaded[prefix] = true
		}
	}
	linesByPrefix := map[string][]string{}
	now := s.value(preloaded)
	for _, l := range lines {
		if l.Name == preloaded {
			now = l.Setting // the last line counts, though perhaps only from the next restart on
		}
		prefix, _, is := strings.Cut(l.Name, ".")
		if !is || loaded[prefix] || slices.Contains(loadedLater, prefix) {
			continue
		}
		where := l.File
		if l.Line > 0 {
			where = fmt.Sprintf("%s, line %d", l.File, l.Line)
		}
		linesByPrefix[prefix] = append(linesByPrefix[prefix], fmt.Sprintf("%s = %s (%s)", l.Name, l.Setting, where))
	}
	for prefix, evidence := range linesByPrefix {
		library := prefix
		for name, needed := range knownLibraries {
			if strings.HasPrefix(name, prefix+".") {
				library = needed
			}
		}
		c := s.set(preloaded, withLibrary(now, library))
		c.Library = library
		slices.Sort(evidence)
		all = append(all, Advice{ID: "library:" + library, Level: Problem,
			Title:     "Settings of " + library + " are set, but the library is not loaded",
			Mechanism: "Settings with an unknown prefix have no effect, and the server shows no error.",
			Evidence: append(slices.Compact(evidence),
				preloaded+" = '"+s.value(preloaded)+"'"),
			Memory: "what the library takes in shared memory", Changes: []Change{c}})
	}
	slices.SortFunc(all, func(a, b Advice) int { return strings.Compare(a.ID, b.ID) })
	return all
}

const databaseSQL = `SELECT blks_hit::float8 AS hit, blks_read::float8 AS read, temp_files::float8 AS spills,
	temp_bytes::float8 AS spilled, sessions::float8 AS sessions, session_time::float8 / 1000 AS life,
	pg_database_size(datid)::float8 AS size, numbackends::float8 AS backends,
	extract(epoch FROM clock_timestamp() - stats_reset)::float8 AS since
	FROM pg_stat_database WHERE datname = current_database()`

type databaseFigures struct {
	Hit, Read, Spills, Spilled, Sessions, Life, Size, Backends float64
	Since                                                      *float64 // seconds; nil: never reset, nobody knows
}

// perSecond of a count; nil if the time it took is not known.
func (d *databaseFigures) perSecond(n float64) *float64 {
	if d.Since == nil || *d.Since <= 0 {
		return nil
	}
	x := n / *d.Since
	return &x
}

func rateText(perS *float64, format string) string {
	if perS == nil {
		return "; the start of this count is not known"
	}
	return fmt.Sprintf(format, *perS)
}

// memory settings that the load has outgrown, with what more of it costs.
var memory = class{
	name: "memory", healthy: "shared_buffers and work_mem fit what was read and sorted",
	causes: []string{"data-transfers", "temporary-files"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		d, err := one[databaseFigures](ctx, s, databaseSQL)
		if err != nil || d == nil {
			return nil, err
		}
		if a := s.sharedBuffers(d); a != nil {
			all = append(all, *a)
		}
		if a := s.workMem(d); a != nil {
			all = append(all, *a)
		}
		return all, nil
	},
}

func (s *server) sharedBuffers(d *databaseFigures) *Advice {
	now, asked := s.bytes("shared_buffers"), d.Hit+d.Read
	misses := d.Read / max(1, asked)
	if asked < accessesLeast.Value || misses < missesMost.Value || d.Size < now {
		return nil
	}
	if s.host == nil {
		s.miss("memory: shared_buffers", fmt.Sprintf("%s of the blocks were not in shared_buffers, and the machine's "+
			"memory is not known: a quarter of it is usual", percent(misses)))
		return nil
	}
	const part = 4 // of the machine's memory: the rest is the operating system's cache, and the sessions'
	to := min(float64(s.host.MemoryBytes)/part, 1.25*d.Size)
	if to < 1.25*now {
		return nil
	}
	level := Note
	if misses >= missesMany.Value {
		level = Problem
	}
	cost := fmt.Sprintf("%s more, once for the whole server", size(to-now))
	if s.value("huge_pages") == "on" {
		level = Note // not by --all
		cost += "; huge_pages is on: without as many reserved before (vm.nr_hugepages) the server does not start"
	}
	return &Advice{ID: "setting:shared_buffers", Level: level, Title: "shared_buffers is small for what is read",
		Mechanism: "A block that is not in shared_buffers is read from the operating system: at best a copy, at " +
			"worst a wait for the disk.",
		Evidence: []string{fmt.Sprintf("%s of %.0f blocks were not in shared_buffers (%s); the database has %s, the "+
			"machine %s", percent(misses), asked, size(now), size(d.Size), size(float64(s.host.MemoryBytes)))},
		Memory:  cost,
		Changes: []Change{s.set("shared_buffers", settingSize(to))}}
}

func (s *server) workMem(d *databaseFigures) *Advice {
	if d.Spills < spillsLeast.Value {
		return nil
	}
	now, mean, sessions := s.bytes("work_mem"), d.Spilled/d.Spills, s.figure("max_connections")
	to := math.Pow(2, math.Ceil(math.Log2(max(2*mean, 2*now))))
	most := 8 * now
	if s.host != nil {
		// A quarter of the memory for one sort of each connection. Those of the moment of the look say nothing about
		// the busiest hour, and the server that runs out of memory loses all its sessions.
		const part = 4
		most = float64(s.host.MemoryBytes) / part / max(sessions, 10)
	}
	to = min(to, most)
	level, perS := Note, d.perSecond(d.Spilled)
	if perS != nil && *perS >= spillsPerS.Value {
		level = Problem
	}
	if to < 1.25*now {
		return &Advice{ID: "setting:work_mem", Level: Note, Title: "Sorts and joins spill into temporary files",
			Mechanism: "What does not fit into work_mem is written to disk and read again.",
			Evidence: []string{fmt.Sprintf("%.0f temporary files of %s on average%s; work_mem is %s, and more for all "+
				"%.0f connections could take the machine's memory (%s)", d.Spills, size(mean),
				rateText(perS, ", %.0f bytes a second"), size(now), sessions, size(float64(s.host.MemoryBytes)))},
			Do: []string{"find the statements that spill (log_temp_files), and SET LOCAL work_mem in them alone, or " +
				"ALTER ROLE … SET work_mem for the role of the reports"},
			Prove:  s.compare([]string{"--set-b " + shell("work_mem="+settingSize(2*now))}, false, false),
			Revert: "ALTER ROLE … RESET work_mem"}
	}
	factor := max(1, s.figure("hash_mem_multiplier"))
	return &Advice{ID: "setting:work_mem", Level: level, Title: "Sorts and joins spill into temporary files",
		Mechanism: "What does not fit into work_mem is written to disk and read again.",
		Evidence: []string{fmt.Sprintf("%.0f temporary files of %s on average%s; work_mem is %s", d.Spills, size(mean),
			rateText(perS, ", %.0f bytes a second"), size(now))},
		Memory: fmt.Sprintf("%s more for each sort, %s for each hash, in each session: if all %.0f connections did "+
			"one hash at once, %s", size(to-now), size(factor*(to-now)), sessions, size(sessions*factor*(to-now))),
		Changes: []Change{s.set("work_mem", settingSize(to))}}
}

// planner settings that make plans slow to find, or wrong.
var planner = class{
	name: "planner", healthy: "the planner's settings fit the disk, and planning is cheap",
	find: func(_ context.Context, s *server) (all []Advice, _ error) {
		if target := s.figure("default_statistics_target"); target >= targetMost.Value {
			all = append(all, Advice{ID: "setting:default_statistics_target", Level: Problem,
				Title: "default_statistics_target makes planning slow",
				Mechanism: "The planner reads up to that many values and ranges of each column for each query, and " +
					"ANALYZE samples 300 times as many rows.",
				Evidence: []string{fmt.Sprintf("it is %.0f, set by: %s", target, s.where("default_statistics_target"))},
				Changes:  []Change{s.set("default_statistics_target", "100")},
				Do:       []string{"ALTER TABLE … ALTER COLUMN … SET STATISTICS for the few columns that need more"}})
		}
		cost := s.figure("random_page_cost")
		if s.host != nil && s.host.Disk == "ssd" && cost > diskCosts.Value {
			all = append(all, Advice{ID: "setting:random_page_cost", Level: Note,
				Title:     "random_page_cost is that of a rotating disk",
				Mechanism: "The planner reads whole tables where an index would be quicker on a solid-state disk.",
				Evidence: []string{fmt.Sprintf("it is %g, and disk %s under %s is solid-state", cost, s.host.DiskName,
					s.value("data_directory"))},
				Changes: []Change{s.set("random_page_cost", "1.1")}})
		}
		return all, nil
	},
}

type checkpoints struct {
	Timed, Requested, Since, Full, LogBytes float64
}

// logSize: checkpoints before their time write pages twice, full log buffers make sessions write for others.
var logSize = class{
	name: "log", healthy: "checkpoints come on schedule, and the log's buffers suffice",
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		sql := `SELECT c.checkpoints_timed::float8 AS timed, c.checkpoints_req::float8 AS requested,
			extract(epoch FROM clock_timestamp() - coalesce(c.stats_reset, pg_postmaster_start_time()))::float8 AS
				since,
			w.wal_buffers_full::float8 AS "full", w.wal_bytes::float8 AS log_bytes FROM pg_stat_bgwriter c,
				pg_stat_wal w`
		if s.number >= 170000 {
			sql = strings.NewReplacer("checkpoints_timed", "num_timed", "checkpoints_req", "num_requested",
				"pg_stat_bgwriter", "pg_stat_checkpointer").Replace(sql)
		}
		c, err := one[checkpoints](ctx, s, sql)
		if err != nil || c == nil {
			return nil, err
		}
		now, timeout := s.bytes("max_wal_size"), s.figure("checkpoint_timeout")
		// Others ask for checkpoints, too: backups, dropped databases. Those that the log asks for come at half its
		// size.
		const half = 2
		if c.Requested >= requestsLeast.Value && c.Requested > c.Timed && c.LogBytes/c.Requested > now/half/half &&
			c.Since/(c.Requested+c.Timed) < timeout/half {
			to := min(8*now, max(2*now, 2*timeout*c.LogBytes/max(1, c.Since)))
			level, room := Note, "the free room of its disk is not known"
			if s.host != nil { // a full disk stops the server
				const part = 2
				free := float64(s.host.DiskFreeBytes)
				to = min(to, now+free/part)
				level, room = Problem, size(free)+" are free on its disk"
			}
			a := Advice{ID: "setting:max_wal_size", Level: level, Title: "Checkpoints come before their time",
				Mechanism: "After each checkpoint the first change of a page writes the whole page into the log: the " +
					"more checkpoints, the more log, and the more pages are written.",
				Evidence: []string{fmt.Sprintf("%.0f checkpoints were requested and %.0f came on schedule, one in "+
					"%.0f s; checkpoint_timeout is %.0f s, max_wal_size %s", c.Requested, c.Timed,
					c.Since/(c.Requested+c.Timed), timeout, size(now))},
				Memory: fmt.Sprintf("none; %s more of disk (%s), and recovery after a crash may take longer",
					size(to-now), room),
				Changes: []Change{s.set("max_wal_size", settingSize(to))}}
			if to >= 1.25*now {
				all = append(all, a)
			} else {
				s.miss("log: max_wal_size", a.Title+", and there is too little room for more log: "+room)
			}
		}
		const page = 8192
		const mostBuffers = 128 << 20
		if full := c.Full * page / max(1, c.LogBytes); c.Full > 1000 && full >= fullLogBuffers.Value &&
			s.bytes("wal_buffers") < mostBuffers {
			level := Note
			if full >= 10*fullLogBuffers.Value {
				level = Problem
			}
			to := min(mostBuffers, 4*s.bytes("wal_buffers"))
			all = append(all, Advice{ID: "setting:wal_buffers", Level: level, Title: "The log's buffers are full",
				Mechanism: "A session that finds no free log buffer must write others' log before it goes on.",
				Evidence: []string{fmt.Sprintf("%.0f times, %s of the log's pages; wal_buffers is %s", c.Full,
					percent(full), size(s.bytes("wal_buffers")))},
				Memory:  fmt.Sprintf("%s more, once for the whole server", size(to-s.bytes("wal_buffers"))),
				Changes: []Change{s.set("wal_buffers", settingSize(to))}})
		}
		return all, nil
	},
}

// commits that wait for the disk: only a diagnosis shows them.
var commits = class{
	name: "commits", healthy: "no diagnosis says that commits wait for the log", causes: []string{"log-flush"},
	find: func(_ context.Context, s *server) ([]Advice, error) {
		if s.options.Causes == nil {
			s.miss("commits", "only a diagnosis shows whether commits wait")
		}
		for _, c := range s.options.Causes {
			if c.Name != "log-flush" || s.value("synchronous_commit") == "off" {
				continue
			}
			return []Advice{{ID: "commit", Level: Note, Title: "Commits wait for the log to reach the disk",
				Mechanism: "Each commit waits for a flush, and holds the locks of its transaction until then.",
				Evidence: []string{"synchronous_commit is " + s.value("synchronous_commit"),
					"fsync = off is no alternative: it gains the same and can lose all data"},
				Do: []string{"let the application acknowledge once the log is on disk, and free the locks before: " +
					"durable acknowledgement of the application server (plimsoll help commits)",
					"synchronous_commit = off where the last transactions before a crash may be lost"},
				Prove:  s.compare([]string{"--set-b synchronous_commit=off"}, false, false),
				Revert: "ALTER SYSTEM RESET synchronous_commit; SELECT pg_reload_conf()"}}, nil
		}
		return nil, nil
	},
}
