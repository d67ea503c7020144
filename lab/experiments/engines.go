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

	"plimsoll/lab/claims"
	"plimsoll/lab/cluster"
	"plimsoll/lab/cluster/profile"
	"plimsoll/lab/lock"
	"plimsoll/lab/machine"
	"plimsoll/lab/postgres"
	"plimsoll/lab/server"
	"plimsoll/platform/problem"
)

// The engine's settings for temporary tables; each is fixed at the start of a session, so sides differ by their connections.
const (
	memoryCatalog     = "enable_temp_memory_catalog"
	localInvalidation = "temp_local_invalidation"
	skipLocks         = "temp_skip_locks"
	asyncCommit       = "temp_async_commit"
	buffersByRelation = "temp_buffers_by_relation"
	lazyFiles         = "temp_lazy_files"
	lazyToast         = "temp_lazy_toast"
)

var tempSettings = []string{memoryCatalog, localInvalidation, skipLocks, asyncCommit, buffersByRelation, lazyFiles, lazyToast}

// variant is a server and what a session asks of it.
type variant struct {
	name   string
	engine string
	on     []string // of tempSettings
}

// The sides that most experiments have.
var (
	stock = variant{name: "stock", engine: server.Vanilla}
	ours  = variant{name: "ours", engine: server.Plimsoll, on: tempSettings}
)

// without is ours but for some settings, only ours with these alone.
func without(settings ...string) variant {
	on := slices.DeleteFunc(slices.Clone(tempSettings), func(s string) bool { return slices.Contains(settings, s) })
	return variant{name: "ours without " + strings.Join(settings, ", "), engine: server.Plimsoll, on: on}
}

func only(settings ...string) variant {
	return variant{name: "ours with " + strings.Join(settings, ", ") + " alone", engine: server.Plimsoll, on: settings}
}

// options of a session, as PGOPTIONS has them.
func (v variant) options() string {
	if v.engine == server.Vanilla {
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

// engines are both flavours, each a server of its own that is gone at the end.
type engines struct {
	running    map[string]*cluster.Postmaster
	conditions []claims.Condition
}

// enginesStop bounds the stop at the end, which must also happen after Ctrl-C.
const enginesStop = time.Minute

// withEngines brings both flavours up for the time of do, made alike; what an experiment needs beyond the profile says more.
func (b Bench) withEngines(ctx context.Context, more []profile.Setting, do func(engines) (claims.Finding, error)) (f claims.Finding, err error) {
	e := engines{running: map[string]*cluster.Postmaster{}}
	for _, flavour := range []string{server.Vanilla, server.Plimsoll} {
		end, upErr := e.up(ctx, b, flavour, more)
		defer func() { err = errors.Join(err, end()) }()
		if upErr != nil {
			return f, fmt.Errorf("bring up %s: %w", flavour, upErr)
		}
	}
	if err := e.describe(ctx, more); err != nil {
		return f, err
	}
	return do(e)
}

// up makes and starts a flavour's cluster; end takes back what was done, also when up failed half-way.
func (e engines) up(ctx context.Context, b Bench, flavour string, more []profile.Setting) (end func() error, err error) {
	name := "prove-" + flavour
	end = func() error { return nil }
	c, err := b.Clusters.Find(name)
	if errors.Is(err, fs.ErrNotExist) {
		b.say("making a cluster of flavour %s for the time of the experiment", flavour)
		c, err = b.Clusters.Create(ctx, name, cluster.Spec{Engine: flavour, Memory: "25%", SocketOnly: true})
	}
	if err != nil {
		return end, err
	}
	load, err := c.TakeForLoad(ctx)
	if err != nil {
		return end, err
	}
	end = func() error { return e.down(b, name, load) }
	p, err := c.Start(ctx, cluster.StartOptions{Settings: more})
	if err == nil {
		e.running[flavour] = p
		err = e.check(ctx, flavour)
	}
	return end, err
}

func (e engines) down(b Bench, name string, load *lock.Lock) error {
	ctx, cancel := context.WithTimeout(context.Background(), enginesStop)
	defer cancel()
	var err error
	if p := e.running[strings.TrimPrefix(name, "prove-")]; p != nil {
		err = p.Stop(ctx, cluster.Immediate)
	}
	return errors.Join(err, load.Remove(), b.Clusters.Destroy(ctx, name))
}

// check refuses a server that lacks what the sides ask of it: an engine built before the setting was.
func (e engines) check(ctx context.Context, flavour string) error {
	if flavour == server.Vanilla {
		return nil
	}
	conn, err := e.connect(ctx, ours)
	if err != nil {
		return problem.WithHint(err, "does the engine have all settings for temporary tables? engine/build makes it anew")
	}
	return conn.Close(ctx)
}

func (e *engines) describe(ctx context.Context, more []profile.Setting) error {
	here, _ := machine.Describe("/")
	var names []string
	var looks []*postgres.Server
	for _, v := range []variant{stock, ours} {
		look, err := postgres.Look(ctx, e.dsn(v))
		if err != nil {
			return err
		}
		names, looks = append(names, v.name+": "+lookText(look)), append(looks, look)
	}
	for _, s := range more {
		names = append(names, s.Name+" = "+s.Value)
	}
	e.conditions = append(e.conditions,
		claims.Condition{Name: "engines", Text: strings.Join(names, "; ")},
		claims.Condition{Name: "machine", Text: fmt.Sprintf("%d cores of %s, for both databases and the clients together", here.Cores, here.CPU)},
		claims.Condition{Name: "durability", Text: settingsText(looks[0].Settings, "fsync", "synchronous_commit") + ", on both"})
	return nil
}

func (e engines) dsn(v variant) string {
	dsn := e.running[v.engine].Cluster().DSN("").Secret()
	if options := v.options(); options != "" {
		dsn += "&options=" + strings.ReplaceAll(options, " ", "%20")
	}
	return dsn
}

func (e engines) connect(ctx context.Context, v variant) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, e.dsn(v))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", v.name, err)
	}
	return conn, nil
}

// on runs statements on a connection of its own.
func (e engines) on(ctx context.Context, v variant, do func(*pgx.Conn) error) error {
	conn, err := e.connect(ctx, v)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(context.WithoutCancel(ctx)))
}

// onBoth carries out statements on both servers.
func (e engines) onBoth(ctx context.Context, sql string) error {
	for _, v := range []variant{stock, ours} {
		if err := e.on(ctx, v, func(conn *pgx.Conn) error { _, err := conn.Exec(ctx, sql); return err }); err != nil {
			return fmt.Errorf("prepare %s: %w", v.name, err)
		}
	}
	return nil
}

// variantNames are the names of sides.
func variantNames(all []variant) (names []string) {
	for _, v := range all {
		names = append(names, v.name)
	}
	return names
}
