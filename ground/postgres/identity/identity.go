// Package identity tells one database server from another, so that runs of different ones are never mixed. Only what
// stays the same while a measurement is stopped is part of an identity: not the server's start, and not a database's
// oid, which changes when the base is reset.
package identity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
)

// Unknown stands for a system identifier that the role may not read.
const Unknown = "unknown"

// Identity of a database on a server, and what of the server its figures depend on. It holds no secret.
type Identity struct {
	// System is the identifier that initdb gave the server, or Unknown. Physical copies of a server share it.
	System string `json:"system_identifier"`
	// Address is host:port as the connection string names it, or a folder of sockets and a port.
	Address string `json:"address"`
	// Folder is the data folder of a server whose process runs on this machine; its port may change. Empty: it runs
	// elsewhere, in a container, or nobody may know.
	Folder   string `json:"data_folder,omitempty"`
	Database string `json:"database"`
	Version  string `json:"version"`  // of PostgreSQL
	Engine   string `json:"engine"`   // plimsoll when the server reports a patchset, else vanilla
	Patchset int    `json:"patchset"` // 0 on a stock server
	// Settings on which speed and durability depend, as sessions of this role in this database have them.
	Settings map[string]string `json:"settings"`
}

// Read the identity of the database that conn is connected to.
func Read(ctx context.Context, conn *pgx.Conn) (Identity, error) {
	server, err := postgres.Look(ctx, conn)
	if err != nil {
		return Identity{}, err
	}
	i := Identity{System: Unknown, Address: reached(conn), Version: server.Version, Engine: server.Flavour,
		Settings: server.Settings}
	if server.Patchset != nil {
		i.Patchset = *server.Patchset
	}
	// each alone: a privilege missing for one does not concern the others
	if err := conn.QueryRow(ctx, "SELECT current_database()").Scan(&i.Database); err != nil {
		return Identity{}, fmt.Errorf("read the name of the database: %w", err)
	}
	system := ""
	if conn.QueryRow(ctx, "SELECT system_identifier::text FROM pg_control_system()").Scan(&system) == nil {
		i.System = system
	}
	if server.Postmaster != 0 {
		i.Folder = folder(ctx, conn, server.Postmaster)
	}
	return i, ctx.Err()
}

// Of the database of a connection string.
func Of(ctx context.Context, dsn string) (i Identity, err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return i, fmt.Errorf("connect to database: %w", err)
	}
	conn, err := postgres.Open(ctx, config)
	if err != nil {
		return i, fmt.Errorf("connect to database: %w", err)
	}
	i, err = Read(ctx, conn)
	return i, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// folder of a server on this machine: pg_settings shows it to some roles, the kernel to its user.
func folder(ctx context.Context, conn *pgx.Conn, postmaster int) (path string) {
	const sql = "SELECT setting FROM pg_settings WHERE name = 'data_directory'"
	if conn.QueryRow(ctx, sql).Scan(&path) == nil {
		return path
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", postmaster))
	if err != nil {
		return ""
	}
	return path
}

// reached is the address as it was named, or where several were, that of the server that answered.
func reached(conn *pgx.Conn) string {
	config := conn.Config()
	for _, other := range config.Fallbacks {
		if other.Host != config.Host || other.Port != config.Port {
			return conn.PgConn().Conn().RemoteAddr().String()
		}
	}
	return address(config)
}

func address(config *pgx.ConnConfig) string {
	if config.Host != "" && config.Host[0] == '/' {
		return fmt.Sprintf("%s:%d", config.Host, config.Port)
	}
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
}

// NameOf is host:port/database of a connection string, without asking the server and without secrets.
func NameOf(dsn string) (string, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "", fmt.Errorf("read connection string: %w", err)
	}
	database := config.Database
	if database == "" {
		database = config.User // as the server does
	}
	return address(config) + "/" + database, nil
}

// Name is host:port/database.
func (i Identity) Name() string { return i.Address + "/" + i.Database }

func (i Identity) String() string {
	engine := i.Engine
	if i.Patchset > 0 {
		engine += fmt.Sprintf(" patchset %d", i.Patchset)
	}
	return fmt.Sprintf("%s, PostgreSQL %s (%s), system identifier %s", i.Name(), i.Version, engine, i.System)
}

// Equal says whether figures of both may be put together.
func (i Identity) Equal(before Identity) bool { return i.Difference(before) == "" }

// Difference names the first way in which this identity is not the one before: "system identifier 2, before 1". It is
// empty if there is none.
func (i Identity) Difference(before Identity) string {
	type property struct{ name, now, before string }
	place := property{"address", i.Address, before.Address}
	if i.Folder != "" && before.Folder != "" {
		place = property{"data folder", i.Folder, before.Folder}
	}
	all := []property{place, {"database", i.Database, before.Database}, {"PostgreSQL", i.Version, before.Version},
		{"engine", i.Engine, before.Engine}, {"patchset", strconv.Itoa(i.Patchset), strconv.Itoa(before.Patchset)}}
	if i.System != Unknown && before.System != Unknown {
		all = append([]property{{"system identifier", i.System, before.System}}, all...)
	}
	names := maps.Clone(i.Settings)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, before.Settings)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, property{"setting " + name, shown(i.Settings, name), shown(before.Settings, name)})
	}
	for _, p := range all {
		if p.now != p.before {
			return fmt.Sprintf("%s %s, before %s", p.name, p.now, p.before)
		}
	}
	return ""
}

// shown tells a setting that the server lacks from one that is empty.
func shown(settings map[string]string, name string) string {
	value, known := settings[name]
	switch {
	case !known:
		return "none"
	case value == "":
		return "empty"
	}
	return value
}
