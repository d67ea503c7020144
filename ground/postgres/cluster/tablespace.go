package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// Tablespace of a cluster, other than PostgreSQL's own.
type Tablespace struct {
	Name string `json:"name"`
	// Dir is the user's folder on another disk, in which the cluster has one of its own; empty: it is in the cluster's
	// folder, as the copy of a tablespace that somebody made with SQL is.
	Dir string `json:"dir,omitempty"`
	// OID is its number, which copies have from the original.
	OID uint32 `json:"oid,omitempty"`
	// Bytes in a backup.
	Bytes int64 `json:"bytes,omitempty"`
}

const tablespaceNameMax = 63

var tablespaceName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// ParseTablespace reads NAME=DIR.
func ParseTablespace(text string) (t Tablespace, err error) {
	const usage = "--tablespace NAME=DIR, such as v81c_data=/srv/data"
	name, dir, found := strings.Cut(text, "=")
	switch {
	case !found || name == "" || dir == "":
		return t, problem.New(problem.Usage, fmt.Errorf("tablespace %q: no name and folder", text), usage)
	case !tablespaceName.MatchString(name) || len(name) > tablespaceNameMax || strings.HasPrefix(name, "pg_"):
		return t, problem.New(problem.Usage, fmt.Errorf("tablespace name %q: lower-case letters, digits and _, not "+
			"beginning with pg_", name), usage)
	case strings.ContainsAny(dir, "\n\r\x00"):
		return t, problem.New(problem.Usage, fmt.Errorf("tablespace %s: its folder has more than one line", name),
			usage)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return t, err
	}
	return Tablespace{Name: name, Dir: dir}, nil
}

// tempPrefix of the tablespaces that take temporary tables and the files of large sorts.
const tempPrefix = "temp"

// tempSettings send temporary files to the tablespaces that are named for them.
func (m marker) tempSettings() []profile.Setting {
	var names []string
	for _, t := range m.Tablespaces {
		if strings.HasPrefix(t.Name, tempPrefix) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []profile.Setting{{Name: "temp_tablespaces", Value: strings.Join(names, ", "),
		Reason: "--tablespace: temporary tables and the files of large sorts, in turns"}}
}

// with adds tablespaces and refuses to move those that are there.
func (m marker) with(more []Tablespace) (marker, error) {
	all := append([]Tablespace(nil), m.Tablespaces...)
	for _, t := range more {
		known := false
		for _, old := range all {
			if known = old.Name == t.Name; known && old.Dir != t.Dir {
				return m, problem.New(problem.Usage, fmt.Errorf("tablespace %s is in %s, not in %s", t.Name,
					cmp.Or(old.Dir, "the cluster's folder"), t.Dir),
					"leave it where it is, or destroy the cluster and create it again")
			} else if known {
				break
			}
		}
		if !known {
			all = append(all, t)
		}
	}
	if len(all) > 0 {
		m.Tablespaces = all
	}
	return m, nil
}

// location is the folder that PostgreSQL knows; dir is the cluster's folder, which while it grows has another name.
func (m marker) location(dir string, t Tablespace) string {
	if t.Dir != "" {
		return m.outsideOf(t).files()
	}
	return filepath.Join(dir, ownSpaces, strconv.FormatUint(uint64(t.OID), 10))
}

// ownSpaces are tablespaces in the folder of a cluster or of a backup.
const ownSpaces = "tablespaces"

// spacesSQL lists tablespaces outside of the data. One inside of them ("in place") is copied with them.
const spacesSQL = `SELECT oid, spcname, pg_tablespace_location(oid), pg_tablespace_size(oid) FROM pg_tablespace
	WHERE spcname NOT IN ('pg_default', 'pg_global') AND pg_tablespace_location(oid) LIKE '/%' ORDER BY oid`

// space is a tablespace of a running server and where it is.
type space struct {
	Tablespace
	location string
}

// spaces of the running cluster, each with the user's folder if the cluster made it.
func (c *Cluster) spaces(ctx context.Context) (all []space, err error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, problem.New(problem.Environment, c.wrap(fmt.Errorf("connect: %w", err)),
			"it must run: plimsoll up "+c.Name())
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, spacesSQL)
	if err != nil {
		return nil, c.wrap(err)
	}
	all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s space, err error) {
		return s, row.Scan(&s.OID, &s.Name, &s.location, &s.Bytes)
	})
	for i := range all {
		for _, t := range c.Tablespaces {
			if t.Name == all[i].Name {
				all[i].Dir = t.Dir
			}
		}
	}
	return all, c.wrap(err)
}

// mapped are pg_basebackup's arguments that send each tablespace to a folder of its own, which is made.
func mapped(all []space, account *process.Account, to func(Tablespace) string) (args []string, err error) {
	for _, s := range all {
		dir := to(s.Tablespace)
		if filepath.Base(filepath.Dir(dir)) == ownSpaces { // another disk's was made with the cluster
			if err := makeOwnSpace(dir, account); err != nil {
				return nil, err
			}
		}
		args = append(args, "--tablespace-mapping", escapeMapping(s.location)+"="+escapeMapping(dir))
	}
	return args, nil
}

func escapeMapping(dir string) string { return strings.ReplaceAll(dir, "=", `\=`) }

func makeOwnSpace(dir string, account *process.Account) error {
	if err := os.Mkdir(filepath.Dir(dir), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return environment(err)
	}
	return environment(errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Mkdir(dir, 0o700), account.Own(dir)))
}

// relink makes the data find a tablespace elsewhere.
func relink(data string, account *process.Account, oid uint32, to string) (err error) {
	link := filepath.Join(data, "pg_tblspc", strconv.FormatUint(uint64(oid), 10))
	account.WithPermissions(func() {
		if err = os.RemoveAll(link); err == nil { // a link, or an empty tablespace in place
			err = os.Symlink(to, link)
		}
	})
	return environment(err)
}

// fillSpaces copies the tablespaces of a backup.
func (m marker) fillSpaces(ctx context.Context, growing, final string, srv installation.Server,
	account *process.Account, from *Backup) error {
	data := filepath.Join(growing, "data")
	for _, t := range m.Tablespaces {
		if t.OID == 0 {
			continue
		}
		to := m.location(growing, t)
		if t.Dir == "" {
			if err := makeOwnSpace(to, account); err != nil {
				return err
			}
		}
		source := filepath.Join(filepath.Dir(from.Data), ownSpaces, strconv.FormatUint(uint64(t.OID), 10))
		if err := fillData(ctx, srv, account, to, exec.Command("cp", "-a", source+"/.", to)); err != nil {
			return err
		}
		if err := relink(data, account, t.OID, m.location(final, t)); err != nil {
			return err
		}
	}
	return nil
}

// roomFor says whether the disks have room for the parts of a backup.
func (m marker) roomFor(growing string, from *Backup) error {
	type disk struct {
		dir   string
		bytes int64
	}
	disks := map[uint64]disk{}
	add := func(dir string, bytes int64) error {
		info, err := os.Stat(dir)
		stat, ok := sys(info)
		if err != nil || !ok {
			return environment(fmt.Errorf("free space of %s: %w", dir, err))
		}
		d := disks[stat.Dev]
		disks[stat.Dev] = disk{dir, d.bytes + bytes}
		return nil
	}
	rest := from.Bytes
	for _, t := range m.Tablespaces {
		if t.Dir != "" {
			if err := add(t.Dir, t.Bytes); err != nil {
				return err
			}
			rest -= t.Bytes
		}
	}
	if err := add(growing, max(rest, 0)); err != nil {
		return err
	}
	for _, d := range disks {
		if err := Room(d.dir, d.bytes); err != nil {
			return err
		}
	}
	return nil
}

// ensureSpaces makes the tablespaces that a running cluster is to have and has not.
func (c *Cluster) ensureSpaces(ctx context.Context, conn *pgx.Conn) error {
	for _, t := range c.Tablespaces {
		if t.Dir == "" {
			continue
		}
		if err := c.ensureSpace(ctx, conn, t); err != nil {
			return fmt.Errorf("tablespace %s: %w", t.Name, err)
		}
	}
	return nil
}

// ensureSpace makes a tablespace in place, within the data, and then links it to its folder while it is empty. So the
// log names no folder: replayed by a standby, or by a restore of an older backup, it makes one of that cluster's own,
// where CREATE TABLESPACE … LOCATION would have it write to this cluster's files.
func (c *Cluster) ensureSpace(ctx context.Context, conn *pgx.Conn, t Tablespace) error {
	var oid uint32
	const look = "SELECT oid FROM pg_tablespace WHERE spcname = $1"
	err := conn.QueryRow(ctx, look, t.Name).Scan(&oid)
	if errors.Is(err, pgx.ErrNoRows) {
		for _, sql := range []string{"SET allow_in_place_tablespaces = on",
			"CREATE TABLESPACE " + pgx.Identifier{t.Name}.Sanitize() + " LOCATION ''"} {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return err
			}
		}
		err = conn.QueryRow(ctx, look, t.Name).Scan(&oid)
	}
	if err != nil {
		return err
	}
	var location string
	err = conn.QueryRow(ctx, "SELECT pg_tablespace_location($1)", oid).Scan(&location)
	const undefinedFile = "58P01" // killed between removing the folder and making the link
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == undefinedFile {
		err = nil
	}
	if err != nil || filepath.IsAbs(location) {
		return err
	}
	return c.moveOut(oid, c.location(c.dir, t))
}

// moveOut links an empty tablespace in place to its folder.
func (c *Cluster) moveOut(oid uint32, to string) error {
	account, err := c.account()
	if err != nil {
		return err
	}
	place := filepath.Join(c.DataDir(), "pg_tblspc", strconv.FormatUint(uint64(oid), 10))
	account.WithPermissions(func() { err = linkEmpty(place, to) })
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return problem.New(problem.Environment, errors.New("it is among the data and has tables already"),
			"move them: ALTER DATABASE … SET TABLESPACE pg_default, drop the tablespace, and start again")
	}
	return environment(err)
}

// linkEmpty replaces an empty tablespace with a link to a folder that gets its subfolder.
func linkEmpty(place, to string) error {
	versions, err := os.ReadDir(place)
	if errors.Is(err, os.ErrNotExist) {
		return os.Symlink(to, place)
	}
	if err != nil {
		return err
	}
	for _, v := range versions {
		if err := os.Mkdir(filepath.Join(to, v.Name()), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		if err := os.Remove(filepath.Join(place, v.Name())); err != nil {
			return err
		}
	}
	if err := os.Remove(place); err != nil {
		return err
	}
	return os.Symlink(to, place)
}
