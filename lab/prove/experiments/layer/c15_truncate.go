package layer

import (
	"context"
	"fmt"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
)

// Defaults of C15, and the band around the claimed gain of 5 to 10 %.
const (
	c15Turn   = 3 * time.Second
	c15Rounds = 6
	c15Low    = 1.03
	c15High   = 1.15
)

// pooled is the part with our own data layer.
const pooled = "pooled"

var c15Load = queryBatch{kinds: 4, tables: 15, empty: 0.4, rows: 10}

func clearingSide(v site.Variant, c temptable.Clearing) string { return v.Name + ", " + string(c) }

// skippedTruncates is the experiment behind C15: all else is as in the classic shape, one statement per round trip.
// What TRUNCATE costs is the engine's.
func skippedTruncates(b site.Bench, s *site.Site) trial.Trial {
	at := flavours{}
	part := trial.Part{Name: pooled, Title: pooled, Unjudged: true, Rounds: b.Rounds(c15Rounds), Turn: b.Turn(c15Turn),
		Series: []trial.Series{{Name: site.OperationRate, Unit: "1/s"}, {Name: emptyShare, Hidden: true}}}
	part.Open = func(context.Context, *trial.Record) error { return at.open(s) }
	against := func(v site.Variant, c temptable.Clearing) trial.Ratio {
		return trial.Ratio{Of: trial.At(clearingSide(v, c), site.OperationRate).In(pooled),
			To: trial.At(clearingSide(v, temptable.Always), site.OperationRate).In(pooled)}
	}
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		for _, c := range temptable.Clearings {
			part.Sides = append(part.Sides, c15Load.side(clearingSide(v, c), at.address(v),
				database.Options{Chain: 1, TempTables: temptable.Options{Clearing: c}}, part.Turn))
		}
		part.Measured = append(part.Measured, trial.Say(
			"%s, pooled by the application: operations/s %s with a query first, %s by the pool's counts, %s with "+
				"DELETE of few rows, against "+
				"%s/s with TRUNCATE always, %s %% of the tables being empty", v.Name, against(v, temptable.Ask),
			against(v, temptable.Known), against(v, temptable.Delete),
			trial.Spread{Of: trial.At(clearingSide(v, temptable.Always), site.OperationRate).In(pooled),
				Format: "%.1f"},
			trial.Last{Of: trial.At(clearingSide(v, temptable.Ask), emptyShare).In(pooled), Format: "%.0f",
				Map: percent}))
	}
	t := trial.Trial{
		Text: "temp tables are emptied by fasttruncate, always or only if a query finds a row, and by TRUNCATE; " +
			"those of a pool also by what it knows of them, on both flavours", Overhead: 15 * time.Second,
		Parts: []trial.Part{clearedByServer(b, s), part},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d clients, each on its own connection; %d pooled temp tables per "+
				"operation, of which %.0f %% stay empty and the others get %d rows; one statement per round trip, "+
				"over a socket", site.Clients, c15Load.tables, 100*c15Load.empty, c15Load.rows)},
			{Name: "judged", Text: "each client has its tables in one session, as a 1C server has, and the extension " +
				"fasttruncate, as the report's server has: SELECT 1 … LIMIT 1 before it, against fasttruncate alone, " +
				"which looks by itself"},
			{Name: pooled, Text: "by our data layer, not judged: TRUNCATE always; only after SELECT 1 … LIMIT 1 " +
				"finds " +
				"a row (ask); only tables that the pool knows to have rows (known); of these few rows by DELETE, " +
				"which keeps the server's plans, and statistics gathered again only where the rows differ much " +
				"(delete). The tuned shape does delete"},
		}}
	t.ByEngine(func(engine string) trial.Rules {
		return trial.Rules{Situation: []trial.Condition{
			{Of: trial.Known{As: "empty tables, %", Value: 100 * c15Load.empty}, Report: "30-50 %",
				Met: trial.Within(30, 50)},
			site.AtWork(site.Clients, "the sessions of a working server"),
			trial.Absent("a load of which temp tables are a part", "the ERP's", "nothing but temp tables")},
		}.Times(asked(site.Flavour(engine)), c15Low, c15High)
	}, site.Stock.Name, site.Ours.Name)
	return t
}

func percent(share float64) float64 { return 100 * share }
