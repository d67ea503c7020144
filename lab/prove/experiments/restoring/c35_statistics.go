package restoring

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/temptable"
)

// c35Claimed is how much slower the report's restoration was without statistics of temp tables.
const c35Claimed = 17.0

// Manners of C35: those of C31 and C33, with the statistics of their temp tables gathered in three ways.
var (
	blindWarehouse = withStatistics(wholeWarehouse, temptable.NotGathered, nil)
	blindGoods     = withStatistics(documentsGoods, temptable.NotGathered, nil)
	onlineGoods    = withStatistics(documentsGoods, temptable.NotGathered, onlineAnalyze)
)

func withStatistics(m manner, statistics temptable.Statistics,
	options func(context.Context, string) (string, bool, error)) manner {
	m.statistics, m.options = statistics, options
	if options != nil {
		m.name += ", statistics by online_analyze"
	} else {
		m.name += ", no statistics of temp tables"
	}
	return m
}

// onlineAnalyze gives the options of sessions whose server gathers statistics after each statement that changes a temp
// table, if the library is installed.
func onlineAnalyze(ctx context.Context, dsn string) (options string, there bool, err error) {
	err = postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		_, missing := conn.Exec(ctx, "LOAD 'online_analyze'")
		there = missing == nil
		return ctx.Err()
	})
	return "-c session_preload_libraries=online_analyze -c online_analyze.enable=on " +
			"-c online_analyze.table_type=temporary -c online_analyze.threshold=0 -c online_analyze.min_interval=0 " +
			"-c online_analyze.verbose=off",
		there, err
}

// tempStatistics is the experiment behind C35.
func tempStatistics(b site.Bench, s *site.Site) trial.Trial {
	var sides []restoringSide
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		for _, m := range []manner{wholeWarehouse, blindWarehouse, documentsGoods, blindGoods, onlineGoods} {
			sides = append(sides, m.on(v))
		}
	}
	t := restoring(b, ownServers(s), fmt.Sprintf("restored with and without statistics of temp tables gathered right "+
		"after they are filled, %d threads, on both flavours", threadCount(b)), sides, benchThreads(b),
		claims.Condition{Name: "statistics", Text: "of every temp table: gathered by the code, with ANALYZE right " +
			"after filling it; not gathered; or gathered by the server's online_analyze extension, where it is " +
			"installed"})
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		t.Measured = append(t.Measured, trial.Say("%s: reading the whole warehouse %s lines/s with statistics, %s "+
			"the pace without; reading the document's goods %s lines/s with statistics, %s the pace without; "+
			"online_analyze: %s", v.Name,
			trial.Spread{Of: lines(wholeWarehouse.on(v)), Format: "%.0f"}, step(v, wholeWarehouse, blindWarehouse),
			trial.Spread{Of: lines(documentsGoods.on(v)), Format: "%.0f"}, step(v, documentsGoods, blindGoods),
			trial.Words(func(m *trial.Measurements) string {
				if len(m.Figures(lines(onlineGoods.on(v)))) == 0 {
					return "not installed"
				}
				return trial.Spread{Of: lines(onlineGoods.on(v)), Format: "%.0f"}.Text(m) + " lines/s"
			})))
	}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		gain := trial.Largest{As: "lines per second with statistics against without on " + v.Name + ", of the manner " +
			"that gains most", Of: []trial.Quantity{step(v, wholeWarehouse, blindWarehouse),
			step(v, documentsGoods, blindGoods)}}
		return restoringRules(b, trial.Claimed(gain, c35Claimed))
	}, site.Stock.Name, site.Ours.Name)
	return t
}
