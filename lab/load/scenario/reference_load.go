package scenario

import (
	"fmt"
	"maps"
	"strings"

	"plimsoll/erp/client"
	"plimsoll/ground/human"
	"plimsoll/lab/load/users"
)

// The keys of the load: who does what, how often, how fast.
func init() {
	maps.Copy(reference, map[string]about{
		"title": {"Title of the scenario, for people.", "text", "none", `title = "A day in our shop"`},
		"application": {"What stands between the users and the database. `none`: your own application or database; " +
			"Plimsoll starts nothing. `erp`: the ERP that comes with Plimsoll, which is started, and audited " +
			"afterwards. `1c`: SQL as a 1C server writes it, on a base made for it.",
			alternatives(Applications), `"` + string(ERP) + `"`, `application = "none"`},
		"users": {"How many users there are, unless there are roles. `--users` overrides it.",
			fmt.Sprintf("whole number from 1 to %d", usersMax), fmt.Sprint(UsersDefault), "users = 200"},
		"refused": {"With the ERP: this share of the sales asks for more than is in stock, and must be refused.",
			"share", fmt.Sprintf("%v with the ERP, else 0", client.RefusedShareDefault), "refused = 0.03"},
		"backdated": {"With the ERP: this share of the documents carries a date in the past.", "share", "0",
			"backdated = 0.1"},
		"backdated_days": {"With the ERP: how many days in the past that is, at most.", "whole number from 1 to 3650",
			fmt.Sprint(BackdatedDaysDefault), "backdated_days = 30"},

		"think": {"How long users think between an answer and their next operation.", "", "", ""},
		"think.mean": {"Mean think time; `0s`: users do not think.", "duration", human.Duration(ThinkMeanDefault),
			`mean = "5s"`},
		"think.distribution": {"How think times vary.", alternatives(users.Distributions), `"` +
			string(users.Lognormal) + `"`, `distribution = "exponential"`},
		"think.cap": {"Longest think time. The mean holds in spite of it.", "duration",
			fmt.Sprintf("%d times the mean", users.ThinkCapFactor), `cap = "1m"`},

		"operations": {"The key operations: what users do. Each has a table.", "", "", ""},
		"operations.*": {"A key operation. NAME is its name in all results. It does `sql` or `script`, or sends a " +
			"request to `url`, or both: first the script, then the request. With `application = \"erp\"` or `\"1c\"` " +
			"a table named like an operation of that application changes that operation's target or weight.",
			"", "", ""},
		"operations.*.title": {"Title in reports.", "text", "NAME", `title = "Order an item"`},
		"operations.*.target": {"T of Apdex: an answer within T satisfies, one within 4 T is tolerated.", "duration",
			"required for an operation of your own", `target = "500ms"`},
		"operations.*.priority": {"How much it counts in the overall Apdex: each of its samples weighs 1/priority.",
			"whole number from 1 to 100", fmt.Sprint(PriorityDefault), "priority = 2"},
		"operations.*.weight": {"How often it is done, relative to the weights of the others.",
			"number from 0 to 1000000000", fmt.Sprint(WeightDefault), "weight = 9"},
		"operations.*.least": {"A run with fewer valid answers of this operation is not valid.",
			"whole number from 0 to 1000000000", "0", "least = 50"},
		"operations.*.refused_share": {"The share of its answers that you expect to be refusals. A run with many " +
			"more is not valid.", "share", "0; `refused` for an operation of the ERP", "refused_share = 0.05"},

		"roles":   {"Groups of users who work alike. Each has a table.", "", "", ""},
		"roles.*": {"A group of users. `--users` puts another number of users in the same proportion.", "", "", ""},
		"roles.*.users": {"How many users it has.", fmt.Sprintf("whole number from 0 to %d", usersMax), "0",
			"users = 30"},
		"roles.*.weights": {"How often this role does each operation. It does none that are not named.", "", "", ""},
		"roles.*.weights.*": {"Weight of the operation NAME. With a weight for one, the role does only what is named.",
			"number from 0 to 1000000000", "the weights of the operations", "weights = { order = 1, look = 9 }"},
		"roles.*.think": {"How long users of this role think; what it leaves out is that of [think].", "", "", ""},

		"day": {"How fast people work over the day, stretched over the steady state of a run. Between two times the " +
			"pace changes evenly.", "", "", ""},
		"day.*": {"Pace at a time of the day, which is the key: at 2 people think half as long, at 0 nobody begins " +
			"anything.", "number from 0 to 1000000000", "1", `"09:30" = 0.8`},
	})
}

// alternatives are the values of which a key takes one.
func alternatives[T ~string](all []T) string {
	var words []string
	for _, one := range all {
		words = append(words, string(one))
	}
	return strings.Join(words, "|")
}
