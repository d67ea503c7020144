package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// planters are the roles that may have made, or may make now, what planning a statement runs with the rights of our
// session: functions that are immutable or stable, operators, index expressions, policies. SET ROLE is no protection: a
// function may RESET it. Trusted are superusers, whoever may become one, and those who have the rights of our own role.
const planters = `WITH makers AS (
		SELECT datdba AS role FROM pg_database WHERE datname = current_database()
		UNION SELECT nspowner FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
		UNION SELECT a.grantee FROM pg_namespace n, aclexplode(n.nspacl) a
			WHERE a.privilege_type = 'CREATE' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
		UNION SELECT a.grantee FROM pg_database d, aclexplode(d.datacl) a
			WHERE a.privilege_type = 'CREATE' AND d.datname = current_database()
		UNION SELECT relowner FROM pg_class UNION SELECT proowner FROM pg_proc UNION SELECT typowner FROM pg_type
		UNION SELECT oprowner FROM pg_operator UNION SELECT opcowner FROM pg_opclass
	), me AS (SELECT oid FROM pg_roles WHERE rolname = session_user)
	SELECT DISTINCT coalesce(r.rolname::text, 'PUBLIC') FROM makers m LEFT JOIN pg_roles r ON r.oid = m.role
		CROSS JOIN me
	WHERE r.oid IS NULL OR r.rolname <> 'pg_database_owner' AND NOT r.rolsuper AND r.oid <> me.oid
		AND NOT pg_has_role(r.oid, me.oid, 'MEMBER')
		AND NOT EXISTS (SELECT FROM pg_roles s WHERE s.rolsuper AND pg_has_role(r.oid, s.oid, 'MEMBER'))
	ORDER BY 1`

// untrusted roles of the database, without those that the user trusts; empty: none may plant what planning would run.
func untrusted(ctx context.Context, conn *pgx.Conn, trusted []string) (string, error) {
	rows, err := conn.Query(ctx, planters)
	if err != nil {
		return "", fmt.Errorf("read who owns what: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("read who owns what: %w", err)
	}
	all = slices.DeleteFunc(all, func(role string) bool { return slices.Contains(trusted, role) })
	const shown = 3
	if more := len(all) - shown; more > 0 {
		all = append(all[:shown], fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", "), nil
}
