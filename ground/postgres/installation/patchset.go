package installation

import (
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// PatchsetParameter is reported by our server when a connection starts, so that a client needs no query. A stock server
// does not report it.
const PatchsetParameter = "plimsoll_patchset"

// Patchset is what a connected server reported.
type Patchset struct {
	Number  int    // 0 is a stock server
	Version string // server_version as reported: "18.6", "15.14 (Debian 15.14-0+deb12u1)"
}

// PatchsetOf reads the parameters that the server reported on this connection, without a query. A *pgx.Conn gives its
// *pgconn.PgConn by PgConn().
func PatchsetOf(conn *pgconn.PgConn) Patchset {
	number, err := strconv.Atoi(conn.ParameterStatus(PatchsetParameter))
	if err != nil {
		number = 0
	}
	return Patchset{Number: number, Version: conn.ParameterStatus("server_version")}
}

// Stock says that the server has no patch of ours.
func (p Patchset) Stock() bool { return p.Number == 0 }

func (p Patchset) String() string {
	if p.Stock() {
		return fmt.Sprintf("stock server, PostgreSQL %s", p.Version)
	}
	return fmt.Sprintf("Plimsoll patchset %d, PostgreSQL %s", p.Number, p.Version)
}
