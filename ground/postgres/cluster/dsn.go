package cluster

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// DSN is a connection string. Printed or logged it names the file of the password in its place, so that it can be
// copied to any client on this machine; only Secret returns the password itself.
type DSN struct {
	host     string // an address, or the folder of the socket
	port     int
	user     string
	password string
	passFile string // libpq's, which has the password
	database string
}

// Secret is the connection string with the password.
func (d DSN) Secret() string { return d.render(url.UserPassword(d.user, d.password), url.Values{}) }

// String is the connection string with the file of the password.
func (d DSN) String() string { return d.render(url.User(d.user), url.Values{"passfile": {d.passFile}}) }

// Database is the DSN of another database on the same server.
func (d DSN) Database(name string) DSN {
	d.database = name
	return d
}

// Or is a connection string that leads to whichever of two servers of one password takes writes. Both are reached over
// their sockets.
func (d DSN) Or(other DSN) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(d.user, d.password), Path: "/" + d.database}
	u.RawQuery = parameters(url.Values{
		"host": {d.host + "," + other.host}, "port": {fmt.Sprintf("%d,%d", d.port, other.port)},
		"sslmode": {"disable"}, "target_session_attrs": {"read-write"},
	})
	return u.String()
}

func (d DSN) render(user *url.Userinfo, q url.Values) string {
	u := url.URL{Scheme: "postgres", User: user, Path: "/" + d.database}
	if d.overSocket() {
		q.Set("host", d.host)
		q.Set("port", strconv.Itoa(d.port))
	} else {
		u.Host = net.JoinHostPort(d.host, strconv.Itoa(d.port))
	}
	q.Set("sslmode", "disable") // loopback, and a local cluster has no certificate
	u.RawQuery = parameters(q)
	return u.String()
}

// parameters of a URL: to PostgreSQL and its drivers a + is no blank. A path stays readable.
func parameters(v url.Values) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(v.Encode())
}

func (d DSN) overSocket() bool { return len(d.host) > 0 && d.host[0] == '/' }

// GoString, Format, MarshalText and LogValue keep the password out of %#v, %+v, JSON and structured logs.
func (d DSN) GoString() string             { return fmt.Sprintf("cluster.DSN(%q)", d.String()) }
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
func (d DSN) LogValue() slog.Value         { return slog.StringValue(d.String()) }
