package scenario

import (
	"fmt"
	"maps"

	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/script"
)

// The keys of operations of one's own, and of what all of them share.
func init() {
	maps.Copy(reference, map[string]about{
		"sql": {"The database, for operations with `sql` or `script`. Its address does not stand in the file: " +
			"`--dsn`, or the variable `PLIMSOLL_DSN`.", "", "", ""},
		"sql.connections": {"Connections that all users share. Waiting for a free one is part of the latency. With " +
			"`application = \"1c\"` 0 gives each user a session.", "whole number from 0 to 10000",
			fmt.Sprint(custom.ConnectionsDefault), "connections = 50"},
		"sql.mode": {"How statements are sent, as with `pgbench --protocol`: values written into the text, bound, or " +
			"bound to a statement that is parsed once.", alternatives(script.Modes),
			`"` + string(custom.ModeDefault) + `"`, `mode = "extended"`},
		"sql.reset": {"Script that makes the database what it was, before each trial of `plimsoll line`.", "script",
			"the trials find what the one before left", `reset = "TRUNCATE pgbench_history"`},

		"http": {"The web application, for operations with `url`.", "", "", ""},
		"http.base": {"Address that a `url` beginning with `/` is appended to. `--url` overrides it.", "text",
			"needed for such a `url`, here or as `--url`", `base = "http://127.0.0.1:8000"`},

		"variables": {"Values that every user starts with. SQL has them as `:NAME`, requests as `{{NAME}}`. Each " +
			"user also has `client_id`, counted from 0.", "", "", ""},
		"variables.*": {"Value of the variable NAME, which has letters, digits and `_`.",
			"text or number or true or false", "none", "scale = 10"},

		"login": {"What each user does once, before the load. A user whose log-in failed tries it again before the " +
			"next operation.", "", "", ""},

		"operations.*.sql": {`Script in the dialect of pgbench: SQL, and \set, \if, \sleep, \gset, \startpipeline on ` +
			`lines of their own.`, "script", "give `script` or `url`",
			"sql = '''\n\\set aid random(1, 100000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n'''"},
		"operations.*.script": {"File with such a script; its path is taken from the folder of the scenario file.",
			"path", "give `sql` or `url`", `script = "order.sql"`},
		"operations.*.url": {"Where the request goes: a path under `http.base`, a whole address, or a variable with " +
			"either; without a `/` before it a link of the page before. Variables are escaped.", "text",
			"give `sql` or `script`", `url = "/items/{{client_id}}"`},
		"operations.*.method": {"Method of the request.", "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS",
			`"GET"; "POST" with a form or files`, `method = "POST"`},
		"operations.*.headers": {"Headers of the request.", "", "", ""},
		"operations.*.headers.*": {"The header NAME; its text may have variables.", "text", "none",
			`headers = { Accept-Language = "en" }`},
		"operations.*.body": {"Body of the request. Variables are escaped for JSON; without a Content-Type among the " +
			"headers it is sent as JSON.", "text", "none", `body = '{"user":"user{{client_id}}"}'`},
		"operations.*.expect": {"Statuses of a good answer. Every other one that is not `refused` is a failure; 429 " +
			"and 503 say that the server is overloaded.", "status or list of statuses", "200 to 299",
			"expect = [200, 201]"},
		"operations.*.refused": {"Statuses, or SQLSTATEs, of a refusal by a control of the application, which is a " +
			"valid answer.", "status or list of statuses or SQLSTATE or list of SQLSTATEs", "none", "refused = 409"},
		"operations.*.contains": {"Text that must stand in the body of a good answer.", "text", "none",
			`contains = "Thank you"`},
		"operations.*.count": {"Query for one number that each success raises by one. A run asks it before and after " +
			"the load; where its growth differs from what was acknowledged, the run is not valid.", "SQL",
			"nothing is compared", `count = "SELECT count(*) FROM orders"`},
	})
}
