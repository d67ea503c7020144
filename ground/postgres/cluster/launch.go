package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// launch runs the postmaster and returns when it accepts connections.
func (c *Cluster) launch(ctx context.Context, srv installation.Server, opts StartOptions, l *lock.Lock) (*Postmaster,
	error) {
	log, err := openServerLog(c.LogFile())
	if err != nil {
		return nil, err
	}
	defer log.Close() // the server has its own handle
	cmd, account, err := c.postgres(srv, opts)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log.File, log.File
	// If we die, the server shuts down in order: SIGINT is a fast shutdown.
	child, err := process.StartChild(cmd, syscall.SIGINT)
	if err != nil {
		return nil, startTrouble(err, srv, account)
	}
	p := &Postmaster{cluster: c, child: child, lock: l, exited: make(chan struct{})}
	if err := c.awaitReady(ctx, child); err != nil {
		p.stopCancelled()
		if ctx.Err() == nil {
			err = c.startFailure(err, log.since())
		}
		return nil, err
	}
	go p.watch()
	return p, nil
}

// postgres is the server's command line. It contains what connection strings depend on, because no configuration file
// overrides it.
func (c *Cluster) postgres(srv installation.Server, opts StartOptions) (*exec.Cmd, *process.Account, error) {
	program, err := srv.Program("postgres")
	if err != nil {
		return nil, nil, err
	}
	account, err := c.account()
	if err != nil {
		return nil, nil, err
	}
	listen := loopback
	if c.SocketOnly {
		listen = ""
	}
	settings := append([]profile.Setting{
		{Name: "port", Value: strconv.Itoa(c.socketPort())},
		{Name: "listen_addresses", Value: listen},
		{Name: "unix_socket_directories", Value: quoteListItem(c.SocketDir)},
		{Name: "unix_socket_permissions", Value: "0700"},
	}, opts.Settings...)
	args := []string{"-D", c.DataDir()}
	for _, s := range settings {
		args = append(args, "-c", s.Name+"="+s.Value)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(serverEnv(), opts.Env...)
	cmd.Dir = "/"
	account.Run(cmd)
	return cmd, account, nil
}

// quoteListItem keeps commas and spaces of a path inside one item of a list setting.
func quoteListItem(path string) string {
	return `"` + strings.ReplaceAll(path, `"`, `""`) + `"`
}

const (
	readyLookEvery = 10 * time.Millisecond
	readySayEvery  = 10 * time.Second
)

// errEnded: the postmaster ended before it was ready.
//
// errAttached: a session of a killed server has not yet let go of the shared memory.
var (
	errEnded      = errors.New("the server ended at once")
	errAttached   = errors.New("a process of the previous server is still ending")
	errExitedZero = errors.New("exit status 0")
)

// awaitReady returns when the server answers. Crash recovery may take long, so only ctx limits it.
func (c *Cluster) awaitReady(ctx context.Context, child *process.Child) error {
	look := time.NewTicker(readyLookEvery)
	defer look.Stop()
	say := time.NewTicker(readySayEvery)
	defer say.Stop()
	for {
		if f, err := c.readPidFile(); err == nil && f.pid == child.ID().PID && f.status == "ready" &&
			c.answers(ctx) == nil {
			return nil
		}
		select {
		case <-child.Exited():
			return fmt.Errorf("%w: %w", errEnded, cmp.Or(child.Err(), errExitedZero))
		case <-ctx.Done():
			return ctx.Err()
		case <-say.C:
			c.store.say("still waiting for %s: recovering after a crash, see %s", c.Name(), c.LogFile())
		case <-look.C:
		}
	}
}

// answers connects over the socket. A server that refuses the password has answered too: the user may have changed it.
func (c *Cluster) answers(ctx context.Context) error {
	conn, err := c.connect(ctx)
	if err == nil {
		return conn.Close(ctx)
	}
	const cannotConnectNow = "57P03"
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code != cannotConnectNow {
		return nil
	}
	return err
}

// connect reaches the server over its socket, with the rights of its user: the folder of the socket is that user's, and
// a link there leads root nowhere.
func (c *Cluster) connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(c.SocketDSN("").Secret())
	if err != nil {
		return nil, err
	}
	owner, err := process.OwnerOf(c.DataDir())
	if err != nil {
		return nil, err
	}
	config.DialFunc = func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		owner.WithPermissions(func() { conn, err = new(net.Dialer).DialContext(ctx, network, address) })
		return conn, err
	}
	return pgx.ConnectConfig(ctx, config)
}

// startFailure reports what the server logged before it gave up, with the right class of error.
func (c *Cluster) startFailure(err error, reported startMessages) error {
	if len(reported.fatal) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(reported.fatal, "; "))
	}
	if strings.Contains(reported.all, "pre-existing shared memory block") {
		return problem.New(problem.Environment, fmt.Errorf("%w: %w", errAttached, err), "try again in a moment")
	}
	if strings.Contains(reported.all, "Address already in use") {
		return problem.New(problem.Environment, fmt.Errorf("port %d: %w: %w", c.socketPort(), syscall.EADDRINUSE, err),
			c.store.otherPortHint(c.Name()))
	}
	if strings.Contains(reported.all, userConf) {
		return problem.New(problem.Usage, err, "correct "+c.UserConf())
	}
	if classed := environmentText(err, reported.all); problem.HintOf(classed) != "" {
		return classed
	}
	return problem.WithHint(err, "details are in "+c.LogFile())
}
