package site

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/system"
)

// The engine's settings for temporary tables. Each is fixed when a session starts, so sides differ by their
// connections.
const (
	MemoryCatalog     = "enable_temp_memory_catalog"
	LocalInvalidation = "temp_local_invalidation"
	SkipLocks         = "temp_skip_locks"
	AsyncCommit       = "temp_async_commit"
)

// TempSettings of our engine keep temp tables out of the shared catalogs.
var TempSettings = profile.Patched()

// Variant is a server and the settings of its sessions.
type Variant struct {
	Name   string
	Engine string
	On     []string // subset of TempSettings
}

// The sides that most experiments have.
var (
	Stock = Variant{Name: "stock", Engine: installation.Vanilla}
	Ours  = Variant{Name: "ours", Engine: installation.Plimsoll, On: TempSettings}
)

// Flavour is the variant of a verdict's engine.
func Flavour(name string) Variant {
	if name == Stock.Name {
		return Stock
	}
	return Ours
}

// Without is our build without some settings; only is our build with these alone.
func Without(settings ...string) Variant {
	on := slices.DeleteFunc(slices.Clone(TempSettings), func(s string) bool { return slices.Contains(settings, s) })
	return Variant{Name: "ours without " + strings.Join(settings, ", "), Engine: installation.Plimsoll, On: on}
}

func Only(settings ...string) Variant {
	return Variant{Name: "ours with " + strings.Join(settings, ", ") + " alone", Engine: installation.Plimsoll,
		On: settings}
}

// Options of a session, in the form of PGOPTIONS.
func (v Variant) Options() string {
	if v.Engine == installation.Vanilla {
		return ""
	}
	var all []string
	for _, name := range TempSettings {
		value := "off"
		if slices.Contains(v.On, name) {
			value = "on"
		}
		all = append(all, fmt.Sprintf("-c %s=%s", name, value))
	}
	return strings.Join(all, " ")
}

// Engines are both flavours, each on its own server, removed at the end.
type Engines struct {
	Running map[string]*cluster.Postmaster
}

// enginesStop bounds the stop at the end, also after Ctrl-C.
const enginesStop = time.Minute

// bringUp starts both servers with equal settings, some beyond the profile.
func (e *Engines) bringUp(ctx context.Context, b Bench, settings []profile.Setting, atEnd func(func() error)) error {
	for _, flavour := range []string{installation.Vanilla, installation.Plimsoll} {
		if err := e.up(ctx, b, flavour, settings, atEnd); err != nil {
			return fmt.Errorf("bring up %s: %w", flavour, err)
		}
	}
	return nil
}

// up makes and starts a flavour's cluster.
func (e *Engines) up(ctx context.Context, b Bench, flavour string, settings []profile.Setting,
	atEnd func(func() error)) error {
	b.say("creating a temporary cluster of flavour %s for the experiment", flavour)
	c, remove, err := system.Temporary(ctx, b.Clusters, "prove-"+flavour,
		cluster.Spec{Engine: flavour, Memory: "25%", SocketOnly: true})
	if err != nil {
		return err
	}
	atEnd(func() error { return errors.Join(e.stop(flavour), remove()) })
	p, err := c.Start(ctx, cluster.StartOptions{Settings: settings})
	if err != nil {
		return err
	}
	e.Running[flavour] = p
	return e.check(ctx, flavour)
}

func (e *Engines) stop(flavour string) error {
	ctx, cancel := context.WithTimeout(context.Background(), enginesStop)
	defer cancel()
	if p := e.Running[flavour]; p != nil {
		return p.Stop(ctx, cluster.Immediate)
	}
	return nil
}

// check rejects a server that lacks settings which the sides need: an engine built before they existed.
func (e *Engines) check(ctx context.Context, flavour string) error {
	if flavour == installation.Vanilla {
		return nil
	}
	conn, err := e.Connect(ctx, Ours)
	if err != nil {
		return problem.WithHint(err, "does the engine have all settings for temporary tables? engine/build rebuilds it")
	}
	return conn.Close(ctx)
}

// describe lists the conditions of these servers.
func (e *Engines) describe(ctx context.Context, settings []profile.Setting) ([]claims.Condition, error) {
	here, _ := machine.Describe("/")
	var names []string
	var looks []*postgres.Server
	for _, v := range []Variant{Stock, Ours} {
		look, err := postgres.Inspect(ctx, e.DSN(v))
		if err != nil {
			return nil, err
		}
		names, looks = append(names, v.Name+": "+lookText(look)), append(looks, look)
	}
	for _, s := range settings {
		names = append(names, s.Name+" = "+s.Value)
	}
	return []claims.Condition{
		{Name: "engines", Text: strings.Join(names, "; ")},
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s, for both databases and the clients together", here.Cores,
			here.CPU)},
		{Name: "durability", Text: SettingsText(looks[0].Settings, "fsync", "synchronous_commit") + ", on both"},
	}, nil
}

func (e *Engines) DSN(v Variant) string {
	return postgres.WithOptions(e.Running[v.Engine].Cluster().DSN("").Secret(), v.Options())
}

func (e *Engines) Connect(ctx context.Context, v Variant) (*pgx.Conn, error) {
	conn, err := postgres.AsOwner(ctx, e.DSN(v))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", v.Name, err)
	}
	return conn, nil
}

// On executes statements on a new connection.
func (e *Engines) On(ctx context.Context, v Variant, do func(*pgx.Conn) error) error {
	return postgres.With(ctx, e.DSN(v), do)
}

// OnBoth executes statements on both servers.
func (e *Engines) OnBoth(ctx context.Context, sql string) error {
	for _, v := range []Variant{Stock, Ours} {
		if err := e.On(ctx, v, func(conn *pgx.Conn) error { _, err := conn.Exec(ctx, sql); return err }); err != nil {
			return fmt.Errorf("prepare %s: %w", v.Name, err)
		}
	}
	return nil
}
