package clustertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// poolSize is how many of the server's processes a pooler shares among its clients.
const poolSize = 2

// Pooler stands between clients and the server of dsn as pgbouncer with pool_mode = transaction does: each transaction
// runs in the process that is free, clients are told of a process that does not exist, a parameter at the start that it
// does not know is refused, and what a client sets for its session stays in the process for the next one. Prepared
// statements are not carried along. The answer is the connection string through it.
func Pooler(t testing.TB, dsn string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pooler{free: make(chan *pgconn.HijackedConn, poolSize)}
	for range poolSize {
		conn, err := pgconn.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		server, err := conn.Hijack()
		if err != nil {
			t.Fatal(err)
		}
		p.parameters = server.ParameterStatuses
		p.all = append(p.all, server)
		p.free <- server
	}
	p.serving.Go(func() { p.serve(listener) })
	t.Cleanup(func() {
		listener.Close()
		p.close()
		p.serving.Wait()
	})
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().(*net.TCPAddr)
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", config.User, at, config.Database)
}

type pooler struct {
	parameters map[string]string
	free       chan *pgconn.HijackedConn
	serving    sync.WaitGroup

	mu      sync.Mutex
	all     []*pgconn.HijackedConn
	clients []net.Conn
}

func (p *pooler) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.Close()
	}
	for _, s := range p.all {
		s.Conn.Close()
	}
}

func (p *pooler) serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.clients = append(p.clients, conn)
		p.mu.Unlock()
		p.serving.Go(func() {
			defer conn.Close()
			_ = p.client(pgproto3.NewBackend(conn, conn))
		})
	}
}

// known parameters of the start of a connection.
var known = map[string]bool{"user": true, "database": true, "application_name": true, "client_encoding": true}

func (p *pooler) client(c *pgproto3.Backend) error {
	first, err := c.ReceiveStartupMessage()
	if err != nil {
		return err
	}
	start, is := first.(*pgproto3.StartupMessage)
	if !is {
		return errors.New("it is no start")
	}
	for name := range start.Parameters {
		if !known[name] {
			c.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01",
				Message: "unsupported startup parameter: " + name})
			return c.Flush()
		}
	}
	c.Send(&pgproto3.AuthenticationOk{})
	for name, value := range p.parameters {
		c.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
	}
	c.Send(&pgproto3.BackendKeyData{ProcessID: 1 << 30, SecretKey: []byte("none")})
	c.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := c.Flush(); err != nil {
		return err
	}
	for {
		message, err := c.Receive()
		if err != nil {
			return err
		}
		if _, ends := message.(*pgproto3.Terminate); ends {
			return io.EOF
		}
		if err := p.transaction(c, message); err != nil {
			return err
		}
	}
}

// transaction from its first message on, in a process that is free.
func (p *pooler) transaction(c *pgproto3.Backend, message pgproto3.FrontendMessage) (err error) {
	server := <-p.free
	defer func() { p.free <- server }()
	for {
		server.Frontend.Send(message)
		switch message.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
			status, err := answer(c, server.Frontend)
			if err != nil || status == 'I' {
				return err
			}
		}
		message, err = c.Receive()
		if _, ends := message.(*pgproto3.Terminate); err != nil || ends {
			server.Frontend.Send(&pgproto3.Query{String: "ROLLBACK"})
			_, lost := answer(nil, server.Frontend)
			return errors.Join(err, lost)
		}
	}
}

// answer to the client, if it is still there; the status of the transaction at its end.
func answer(c *pgproto3.Backend, server *pgproto3.Frontend) (status byte, err error) {
	if err := server.Flush(); err != nil {
		return 0, err
	}
	for {
		message, err := server.Receive()
		if err != nil {
			return 0, err
		}
		if c != nil {
			c.Send(message)
		}
		ready, is := message.(*pgproto3.ReadyForQuery)
		if !is {
			continue
		}
		if c != nil {
			err = c.Flush()
		}
		return ready.TxStatus, err
	}
}

// Pooled are the values of a setting that clients of a pooler find in its processes.
func Pooled(t testing.TB, through, name string) (values []string) {
	t.Helper()
	var conns []*pgx.Conn
	for range poolSize { // each holds its process by an open transaction
		conn, err := pgx.Connect(t.Context(), through+"&default_query_exec_mode=simple_protocol")
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		var value string
		if _, err := conn.Exec(t.Context(), "BEGIN"); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "SHOW "+name).Scan(&value); err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	for _, conn := range conns {
		_ = conn.Close(context.Background())
	}
	return values
}
