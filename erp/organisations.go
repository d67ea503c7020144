package erp

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// OrganisationByCode finds an organisation as a person names it.
func OrganisationByCode(ctx context.Context, db *database.Database, code string) (found id.ID, err error) {
	var some string
	err = db.Read(ctx, func(w *database.Work) error {
		w.Queue("find organisation", "SELECT id FROM cat_organisations WHERE code = $1",
			code).Rows(func(r pgx.Rows) error {
			return r.Scan(&found)
		})
		w.Queue("name organisations", "SELECT coalesce(string_agg(code, ', ' ORDER BY code), 'none') FROM (SELECT "+
			"code FROM cat_organisations ORDER BY code LIMIT 10) o").
			Rows(func(r pgx.Rows) error { return r.Scan(&some) })
		return nil
	})
	if err == nil && found.IsZero() {
		err = problem.New(problem.Usage, fmt.Errorf("no organisation has the code %q", code), "there are "+some)
	}
	return found, err
}
