package erp

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// UserCode is the login of the n-th user, counted from 1.
func UserCode(n int) string { return fmt.Sprintf("u%05d", n) }

func login(ctx context.Context, db *database.Database, code string) (user session.User, err error) {
	err = db.Read(ctx, func(w *database.Work) error {
		w.Queue("find user", "SELECT id, organisation, code, name FROM cat_users WHERE code = $1", code).
			Rows(func(r pgx.Rows) error { return r.Scan(&user.ID, &user.Organisation, &user.Code, &user.Name) })
		return nil
	})
	if err == nil && user.ID.IsZero() {
		err = server.ErrUnknownUser
	}
	return user, err
}

// Users counts the users of the database.
func Users(ctx context.Context, db *database.Database) (count int64, err error) {
	err = db.Read(ctx, func(w *database.Work) error {
		w.Queue("count users", "SELECT count(*) FROM cat_users").Rows(func(r pgx.Rows) error { return r.Scan(&count) })
		return nil
	})
	return count, err
}

// UserIDs are those of the users with these codes, each of which there must be; without codes, of all.
func UserIDs(ctx context.Context, db *database.Database, codes []string) (ids []id.ID, err error) {
	missing := map[string]bool{}
	for _, code := range codes {
		missing[code] = true
	}
	err = db.Read(ctx, func(w *database.Work) error {
		ids = nil // a unit of work may be done again
		w.Queue("find users", "SELECT id, code FROM cat_users WHERE code = ANY ($1) OR $2 ORDER BY code", codes,
			len(codes) == 0).Rows(func(r pgx.Rows) error {
			var user id.ID
			var code string
			err := r.Scan(&user, &code)
			ids = append(ids, user)
			delete(missing, code)
			return err
		})
		return nil
	})
	for _, code := range codes {
		if err == nil && missing[code] {
			err = fmt.Errorf("there is no user %q; nothing was changed", code)
		}
	}
	return ids, err
}
