package confusion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres"
)

// poolerPort names its socket; it listens on no network.
const poolerPort = 6432

// poolerProgram is pgbouncer; empty: it is not installed.
func poolerProgram() string {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// pool starts pgbouncer between the users and the server, a pool of transactions for each. The answer is the DSN of a
// user's database through it.
func (t *theatre) pool(ctx context.Context, database, password string, users []string) (dsn func(user string) string,
	end func() error, err error) {
	config, err := pgx.ParseConfig(t.cluster.DSN(database).Secret())
	if err != nil {
		return nil, nil, err
	}
	account, err := process.ServerAccount() // pgbouncer refuses to run as root, as the server does
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "plimsoll-pooler-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	var list strings.Builder
	for _, user := range users {
		fmt.Fprintf(&list, "%q %q\n", user, password)
	}
	settings := fmt.Sprintf(`[databases]
%s = host=%s port=%d
[pgbouncer]
listen_addr =
listen_port = %d
unix_socket_dir = %s
auth_type = plain
auth_file = %s/users
pool_mode = transaction
default_pool_size = 30
max_client_conn = 500
ignore_startup_parameters = extra_float_digits,options,synchronous_commit,search_path
logfile =
log_connections = 0
log_disconnections = 0
`, database, config.Host, config.Port, poolerPort, dir, dir)
	for name, text := range map[string]string{"users": list.String(), "pgbouncer.ini": settings} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), account.Own(file)); err != nil {
			return nil, nil, errors.Join(err, remove())
		}
	}
	if err := account.Own(dir); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	cmd := exec.Command(poolerProgram(), "--quiet", filepath.Join(dir, "pgbouncer.ini"))
	account.Run(cmd)
	child, err := process.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	end = func() error {
		_ = child.Signal(syscall.SIGKILL) // it keeps nothing
		<-child.Exited()
		return remove()
	}
	dsn = func(user string) string {
		return fmt.Sprintf("postgres://%s:%s@/%s?host=%s&port=%d&sslmode=disable", user, password, database, dir,
			poolerPort)
	}
	if err := answers(ctx, dsn(users[0])); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start pgbouncer: %w", err), end())
	}
	return dsn, end, nil
}

// answers returns when a server answers.
func answers(ctx context.Context, dsn string) (err error) {
	for range 100 {
		if err = postgres.Execute(ctx, dsn, "SELECT 1"); err == nil {
			return nil
		}
		sleep(ctx, 50*time.Millisecond)
	}
	return err
}
