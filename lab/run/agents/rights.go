package agents

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/id"
)

// rights are the permissions on the NATS server in this process: the coordinator, with its own secret, may do
// everything; an agent, with the token, only what concerns itself.
type rights struct{ token, coordinator string }

// Check is called for each connection.
func (r rights) Check(c server.ClientAuthentication) bool {
	given := c.GetOpts()
	if r.coordinator != "" && equalSecrets(given.Token, r.coordinator) {
		return true
	}
	if !equalSecrets(given.Token, r.token) {
		return false
	}
	if _, err := id.Parse(given.Username); err != nil {
		return false
	}
	c.RegisterUser(&server.User{Username: given.Username, Permissions: permissionsOf(given.Username)})
	return true
}

func equalSecrets(given, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

// permissionsOf an agent: it receives its own orders, and sends in its own name.
func permissionsOf(agent string) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{helloOf(agent), reportsTo("*", agent), rowsOf(agent)}},
		Subscribe: &server.SubjectPermission{Allow: []string{ordersOf(agent), beatsOf("*"), inboxOf(agent) + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
	}
}

// Secure refuses a connection between machines that is not encrypted.
func Secure(address string, a Access) error {
	host := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		if u.Scheme == "tls" || u.Scheme == "wss" {
			return nil
		}
		host = u.Hostname()
	} else if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	if a.IsTLS() || process.Loopback(host) {
		return nil
	}
	return problem.New(problem.Usage, fmt.Errorf("%s is another machine, and the connection is not encrypted",
		redacted(address)), "the coordinator needs --tls-cert and --tls-key, the agent --tls-ca and a tls:// URL; "+
		"or use a tunnel to a loopback address")
}

// redacted is an address without its password.
func redacted(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Redacted()
	}
	return address
}

var errNoDSN = errors.New("the scenario contains SQL, but this agent has no connection string")
