package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// library whose settings take effect only while it is loaded, and that is not loaded on first use. Others come at
// their first use, as postgres_fdw does, and a prefix that nobody knows is an application's own, as app.tenant.
type library struct {
	name string
	// sample are settings that show where the files are not shown.
	sample []string
	// extension: it comes with one of its name, so that the catalogs say whether it is installed.
	extension bool
	// sessions may load it too, by session_preload_libraries.
	sessions bool
}

// mustLoad are the well-known libraries, by the prefix of their settings.
var mustLoad = map[string]library{
	"auto_explain": {name: "auto_explain", sample: []string{"auto_explain.log_min_duration"}, sessions: true},
	"online_analyze": {name: "online_analyze", sample: []string{"online_analyze.enable", "online_analyze.table_type"},
		sessions: true},
	"plantuner": {name: "plantuner", sample: []string{"plantuner.fix_empty_table", "plantuner.disable_index"},
		sessions: true},
	"pg_hint_plan": {name: "pg_hint_plan", sample: []string{"pg_hint_plan.enable_hint"}, sessions: true},
	"pg_stat_statements": {name: "pg_stat_statements", extension: true,
		sample: []string{"pg_stat_statements.max", "pg_stat_statements.track"}},
	"pg_wait_sampling": {name: "pg_wait_sampling", sample: []string{"pg_wait_sampling.profile_period"},
		extension: true},
	"pg_qualstats":   {name: "pg_qualstats", sample: []string{"pg_qualstats.enabled"}, extension: true},
	"pg_store_plans": {name: "pg_store_plans", sample: []string{"pg_store_plans.max"}, extension: true},
	"pgaudit":        {name: "pgaudit", sample: []string{"pgaudit.log"}, extension: true},
	"cron":           {name: "pg_cron", sample: []string{"cron.database_name"}, extension: true},
	"pg_prewarm":     {name: "pg_prewarm", sample: []string{"pg_prewarm.autoprewarm"}, extension: true},
}

// Settings that the server took for text, and those of roles and databases that concern this one.
const placeholdersSQL = `SELECT name, current_setting(name, true) AS setting, 'this session' AS file, 0 AS line
	FROM unnest($1::text[]) AS name
	WHERE current_setting(name, true) <> '' AND name NOT IN (SELECT name FROM pg_settings)
	UNION ALL
	SELECT split_part(c, '=', 1), substr(c, strpos(c, '=') + 1), 'ALTER ROLE or ALTER DATABASE', 0
	FROM pg_db_role_setting, unnest(setconfig) AS c
	WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))`

const installedSQL = `SELECT name FROM pg_available_extensions`

const preloaded = "shared_preload_libraries"

// libraries that are configured but not loaded: the server treats their settings as text and ignores them.
var libraries = class{
	name: "libraries", healthy: "each setting of a well-known library belongs to one that is loaded",
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		var names []string
		for _, l := range mustLoad {
			names = append(names, l.sample...)
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
		extensions, err := ask[table](ctx, s, installedSQL)
		if err != nil {
			return nil, err
		}
		installed := map[string]bool{}
		for _, e := range extensions {
			installed[e.Name] = true
		}
		return s.notLoaded(append(lines, seen...), installed), nil
	},
}

// loads says whether a list of libraries names one; it may do so with a folder before it.
func loads(list, library string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(item string) bool {
		item = strings.Trim(strings.TrimSpace(item), `"`)
		return strings.TrimSuffix(item[strings.LastIndex(item, "/")+1:], ".so") == library
	})
}

func (s *server) notLoaded(lines []fileSetting, installed map[string]bool) (all []Advice) {
	loaded := map[string]bool{}
	for name := range s.settings {
		if prefix, _, is := strings.Cut(name, "."); is {
			loaded[prefix] = true
		}
	}
	now := s.value(preloaded)
	for _, l := range lines {
		switch l.Name {
		case preloaded:
			now = l.Setting // the last line counts, though perhaps only from the next restart on
		case "session_preload_libraries", "local_preload_libraries": // of a role: its sessions have what ours lacks
			for prefix, known := range mustLoad {
				loaded[prefix] = loaded[prefix] || loads(l.Setting, known.name)
			}
		}
	}
	found := map[string][]fileSetting{}
	for _, l := range lines {
		prefix, _, is := strings.Cut(l.Name, ".")
		if _, known := mustLoad[prefix]; is && known && !loaded[prefix] {
			found[prefix] = append(found[prefix], l)
		}
	}
	for prefix, set := range found {
		l := mustLoad[prefix]
		if !loads(now, l.name) && !loads(s.value(preloaded), l.name) { // else it is there, or waits for a restart
			all = append(all, s.missingLibrary(l, set, now, !l.extension || installed[l.name]))
		}
	}
	slices.SortFunc(all, func(a, b Advice) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// missingLibrary is loaded for the whole server only where its settings are those of the whole server.
func (s *server) missingLibrary(l library, set []fileSetting, now string, installed bool) Advice {
	a := Advice{ID: "library:" + l.name, Level: Problem,
		Title:     "Settings of " + l.name + " are set, but the library is not loaded",
		Mechanism: "Settings of a library that is not loaded have no effect, and the server shows no error.",
		Memory:    "what the library takes in shared memory", Revert: "remove it from the list"}
	everywhere := false
	for _, one := range set {
		where := one.File
		if one.Line > 0 {
			where, everywhere = fmt.Sprintf("%s, line %d", one.File, one.Line), true
		}
		a.Evidence = append(a.Evidence, fmt.Sprintf("%s (%s)", one.Name, where))
	}
	slices.Sort(a.Evidence)
	a.Evidence = append(slices.Compact(a.Evidence), fmt.Sprintf("%d of them; %s = '%s'", len(set), preloaded,
		s.value(preloaded)))
	a.Prove = "psql -c 'SHOW " + preloaded + "' names it afterwards"
	switch {
	case !installed:
		a.Level, a.Memory = Note, ""
		a.Do = []string{"install " + l.name + " first: a server whose " + preloaded + " names a missing " +
			"library does not start", "or remove its settings"}
	case everywhere:
		c := s.set(preloaded, withLibrary(now, l.name))
		c.Library = l.name
		a.Changes, a.Revert, a.Prove = []Change{c}, "", ""
	case l.sessions:
		a.Level, a.Memory = Note, ""
		a.Do = []string{"ALTER ROLE … or ALTER DATABASE … SET session_preload_libraries = " + l.name + ", where its " +
			"settings are set"}
	default:
		a.Level = Note
		a.Do = []string{"add " + l.name + " to " + preloaded + " and restart, if all databases need it"}
	}
	return a
}
