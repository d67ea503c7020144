package experiments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/host/lock"
	"plimsoll/lab/host/machine"
	"plimsoll/lab/postgres"
	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/cluster/profile"
	"plimsoll/lab/postgres/installation"
	"plimsoll/lab/prove/claims"
	"plimsoll/platform/problem"
)

// The engine's settings for temporary tables. Each is fixed when a session starts, so sides differ by their
// connections.
const (
	memoryCatalog     = "enable_temp_memory_catalog"
	localInvalidation = "temp_local_invalidation"
	skipLocks         = "temp_skip_locks"
	asyncCommit       = "temp_async_commit"
	buffersByRelation = "temp_buffers_by_relation"
	lazyFiles         = "temp_lazy_files"
	lazyToast         = "temp_lazy_toast"
)

var tempSettings = []string{memoryCatalog, localInvalidation, skipLocks, asyncCommit, buffersByRelation, lazyFiles,
	lazyToast}

// variant is a server and the settings of its sessions.
type variant struct {
	name   string
	engine string
	on     []string // subset of tempSettings
}

// The sides that most experiments have.
var (
	stock = variant{name: "stock", engine: installation.Vanilla}
	ours  = variant{name: "ours", engine: installation.Plimsoll, on: tempSettings}
)

// flavour is the variant of a verdict's engine.
func flavour(name string) variant {
	if name == stock.name {
		return stock
	}
	return ours
}

// without is our build without some settings; only is our build with these alone.
func without(settings ...string) variant {
	on := slices.DeleteFunc(slices.Clone(tempSettings), func(s string) bool { return slices.Contains(settings, s) })
	return variant{name: "ours without " + strings.Join(settings, ", "), engine: installation.Plimsoll, on: on}
}

func only(settings ...string) variant {
	return variant{name: "ours with " + strings.Join(settings, ", ") + " alone", engine: installation.Plimsoll,
		on: settings}
}

// options of a session, in the form of PGOPTIONS.
func (v variant) options() string {
	if v.engine == installation.Vanilla {
		return ""
	}
	var all []string
	for _, name := range tempSettings {
		value := "off"
		if slices.Contains(v.on, name) {
			value = "on"
		}
		all = append(all, fmt.Sprintf("-c %s=%s", name, value))
	}
	return strings.Join(all, " ")
}

// engines are both flavours, each on its own server, removed at the end.
type engines struct {
	running map[string]*cluster.Postmaster
}

// enginesStop bounds the stop at the end, also after Ctrl-C.
const enginesStop = time.Minute

// bringUp starts both servers with equal settings, some beyond the profile.
func (e *engines) bringUp(ctx context.Context, b Bench, settings []profile.Setting, atEnd func(func() error)) error {
	for _, flavour := range []string{installation.Vanilla, installation.Plimsoll} {
		if err := e.up(ctx, b, flavour, settings, atEnd); err != nil {
			return fmt.Errorf("bring up %s: %w", flavour, err)
		}
	}
	return nil
}

// up makes and starts a flavour's cluster.
func (e *engines) up(ctx context.Context, b Bench, flavour string, settings []profile.Setting,
	atEnd func(func() error)) error {
	name := "prove-" + flavour
	c, err := b.Clusters.Find(name)
	if errors.Is(err, fs.ErrNotExist) {
		b.say("making a cluster of flavour %s for the time of the experiment", flavour)
		c, err = b.Clusters.Create(ctx, name, cluster.Spec{Engine: flavour, Memory: "25%", SocketOnly: true})
	}
	if err != nil {
		return err
	}
	load, err := c.TakeForLoad(ctx)
	if err != nil {
		return err
	}
	atEnd(func() error { return e.down(b, name, load) })
	p, err := c.Start(ctx, cluster.StartOptions{Settings: settings})
	if err != nil {
		return err
	}
	e.running[flavour] = p
	return e.check(ctx, flavour)
}

func (e *engines) down(b Bench, name string, load *lock.Lock) error {
	ctx, cancel := context.WithTimeout(context.Background(), enginesStop)
	defer cancel()
	var err error
	if p := e.running[strings.TrimPrefix(name, "prove-")]; p != nil {
		err = p.Stop(ctx, cluster.Immediate)
	}
	return errors.Join(err, load.Remove(), b.Clusters.Destroy(ctx, name))
}

// check rejects a server that lacks settings which the sides need: an engine built before they existed.
func (e *engines) check(ctx context.Context, flavour string) error {
	if flavour == installation.Vanilla {
		return nil
	}
	conn, err := e.connect(ctx, ours)
	if err != nil {
		return problem.WithHint(err, "does the engine have all settings for temporary tables? engine/build makes "+
			"it anew")
	}
	return conn.Close(ctx)
}

// describe lists the conditions of these servers.
func (e *engines) describe(ctx context.Context, settings []profile.Setting) ([]claims.Condition, error) {
	here, _ := machine.Describe("/")
	var names []string
	var looks []*postgres.Server
	for _, v := range []variant{stock, ours} {
		look, err := postgres.Look(ctx, e.dsn(v))
		if err != nil {
			return nil, err
		}
		names, looks = append(names, v.name+": "+lookText(look)), append(looks, look)
	}
	for _, s := range settings {
		names = append(names, s.Name+" = "+s.Value)
	}
	return []claims.Condition{
		{Name: "engines", Text: strings.Join(names, "; ")},
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s, for both databases and the clients together", here.Cores,
			here.CPU)},
		{Name: "durability", Text: settingsText(looks[0].Settings, "fsync", "synchronous_commit") + ", on both"},
	}, nil
}

func (e *engines) dsn(v variant) string {
	dsn := e.running[v.engine].Cluster().DSN("").Secret()
	if options := v.options(); options != "" {
		dsn += "&options=" + strings.ReplaceAll(options, " ", "%20")
	}
	return dsn
}

func (e *engines) connect(ctx context.Context, v variant) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, e.dsn(v))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", v.name, err)
	}
	return conn, nil
}

// on executes statements on a new connection.
func (e *engines) on(ctx context.Context, v variant, do func(*pgx.Conn) error) error {
	conn, err := e.connect(ctx, v)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(context.WithoutCancel(ctx)))
}

// onBoth executes statements on both servers.
func (e *engines) onBoth(ctx context.Context, sql string) error {
	for _, v := range []variant{stock, ours} {
		if err := e.on(ctx, v, func(conn *pgx.Conn) error { _, err := conn.Exec(ctx, sql); return err }); err != nil {
			return fmt.Errorf("prepare %s: %w", v.name, err)
		}
	}
	return nil
}
