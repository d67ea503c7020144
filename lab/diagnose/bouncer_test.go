package diagnose

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// bouncer starts a pgbouncer before the server of dsn until the test ends, and returns the connection string through
// it.
func bouncer(t *testing.T, program, dsn, mode string) string {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	dir, err := os.MkdirTemp("", "bouncer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s port=%d user=%s password=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"+
		"listen_port = %d\nunix_socket_dir =\nauth_type = any\npool_mode = %s\ndefault_pool_size = 3\n"+
		"ignore_startup_parameters = "+
		"extra_float_digits\n", config.Host, config.Port, config.User, config.Password, port,
		mode)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, file)
	if os.Getuid() == 0 { // it refuses root; the server's own user may enter the folder of its socket
		info, err := os.Stat(filepath.Join(config.Host, fmt.Sprintf(".s.PGSQL.%d", config.Port)))
		if err != nil {
			t.Fatal(err)
		}
		of := info.Sys().(*syscall.Stat_t)
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: of.Uid, Gid: of.Gid}}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command.Stdout, command.Stderr = t.Output(), t.Output()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	through := fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", config.User, port, config.Database)
	const tries = 100
	for range tries {
		conn, failed := pgx.Connect(t.Context(), through+"&default_query_exec_mode=simple_protocol")
		if err = failed; err == nil {
			conn.Close(t.Context())
			return through
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("pgbouncer does not answer: %v", err)
	return ""
}
