package advise

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// dangers are settings that no gain can justify.
var dangers = []struct {
	name, bad, good, mechanism string
}{
	{"fsync", "off", "on", "Nothing is flushed to disk: after a power cut or a crash of the machine the whole server " +
		"may be unreadable, not only its last transactions. A test that kills only the server does not show it."},
	{"full_page_writes", "off", "on", "A page that a power cut tears in two cannot be repaired from the log: rows " +
		"vanish or lose their index entries, silently."},
	{"autovacuum", "off", "on", "Dead rows and old statistics pile up until plans are wrong and tables are mostly " +
		"empty space; in the end the server refuses writes, to prevent transaction ID wraparound."},
	{"track_counts", "off", "on", "Autovacuum needs these counts: without them it runs only to prevent wraparound."},
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
				Revert: "none: do not restore it"})
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

func (f fileSetting) at() string { return fmt.Sprintf("%s, line %d: %s", f.File, f.Line, f.shown()) }

// shown is the value, unless it may hold a secret: a password of primary_conninfo, a key of an application.
func (f fileSetting) shown() string {
	if f.secret() {
		return "(not shown)"
	}
	return f.Setting
}

func (f fileSetting) secret() bool {
	return strings.Contains(f.Name, ".") || strings.HasSuffix(f.Name, "conninfo") ||
		strings.HasSuffix(f.Name, "_command")
}

// ownConf is rewritten at each start of a local cluster: its later lines override the profile's on purpose.
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
					Mechanism: "The server uses the old value until it is restarted, perhaps months later.",
					Evidence:  []string{fmt.Sprintf("%s is %s; %s", name, current.Setting, s.where(name))},
					Do:        []string{"restart the server, or undo the change of the line"},
					Prove:     "psql -c 'SELECT name FROM pg_settings WHERE pending_restart' shows none afterwards",
					Revert:    "restore the old value in the file"})
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
				Revert: "restore the line"})
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
		evidence = append(evidence, "the last line takes effect")
		prove := "psql -c 'SELECT * FROM pg_file_settings' shows one line of it afterwards"
		if !last.secret() {
			evidence[len(evidence)-1] += "; the server uses " + s.value(at.name)
			prove = s.compare([]string{"--set-a " + shell(at.name+"="+same[0].Setting), "--set-b " +
				shell(at.name+"="+last.Setting)}, true, false)
		}
		all = append(all, Advice{ID: "twice:" + at.name, Level: level,
			Title:     fmt.Sprintf("%s is set %d times in one file", at.name, len(same)),
			Mechanism: "Only the last line takes effect: reading or editing another one misleads.",
			Evidence:  evidence, Do: []string{fmt.Sprintf("keep one line of %s in %s", at.name, at.file)},
			Prove:  prove,
			Revert: "restore the line; it changes nothing"})
	}
	slices.SortFunc(all, func(a, b Advice) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// planner settings that make plans slow to find, or wrong.
var planner = class{
	name: "planner", healthy: "the planner's settings fit the disk, and planning is cheap",
	find: func(_ context.Context, s *server) (all []Advice, _ error) {
		if target := s.figure("default_statistics_target"); target >= targetMost.Value {
			level := Note
			if target >= targetMany.Value {
				level = Problem
			}
			all = append(all, Advice{ID: "setting:default_statistics_target", Level: level,
				Title: "default_statistics_target makes planning slow",
				Mechanism: "For each query the planner reads up to that many values and ranges of each column, and " +
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
