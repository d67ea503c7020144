package agents

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"plimsoll/ground/problem"
	"plimsoll/lab/run"
	"plimsoll/platform/data/id"
	"plimsoll/test/patience"
)

// What the server inside the coordinator lets an agent send and receive.
func TestAnAgentHearsAndSpeaksOnlyForItself(t *testing.T) {
	s, err := listen("127.0.0.1:0", Access{Token: "secret"}, "the coordinator's")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	me, other := id.New().String(), id.New().String()
	refused := make(chan error, 8)
	conn, err := dial(s.ClientURL(), me, Access{Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err })
	ignore := func(*nats.Msg) {}
	for name, c := range map[string]struct {
		do   func() error
		good bool
	}{
		"ItsOrders":        {func() error { _, err := conn.Subscribe(ordersOf(me), ignore); return err }, true},
		"OrdersOfAnother":  {func() error { _, err := conn.Subscribe(ordersOf(other), ignore); return err }, false},
		"AllOrders":        {func() error { _, err := conn.Subscribe(ordersOf("*"), ignore); return err }, false},
		"AnswersToAnother": {func() error { _, err := conn.Subscribe(inboxOf(other)+".*", ignore); return err }, false},
		"Everything":       {func() error { _, err := conn.Subscribe(">", ignore); return err }, false},
		"ItsReport":        {func() error { return conn.Publish(reportsTo("c", me), nil) }, true},
		"ReportOfAnother":  {func() error { return conn.Publish(reportsTo("c", other), nil) }, false},
		"AnOrder":          {func() error { return conn.Publish(ordersOf(other), nil) }, false},
		"ABeat":            {func() error { return conn.Publish(beatsOf("c"), nil) }, false},
		"HelloOfAnother":   {func() error { return conn.Publish(helloOf(other), nil) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := errors.Join(c.do(), conn.FlushTimeout(patience.Max)); err != nil {
				t.Fatal(err)
			}
			// The server's refusal comes before its answer to the flush; the handler runs concurrently.
			select {
			case err := <-refused:
				if c.good {
					t.Errorf("refused: %v", err)
				}
			case <-time.After(map[bool]time.Duration{true: 0, false: patience.Max}[c.good]):
				if !c.good {
					t.Error("it was let do that")
				}
			}
		})
	}
	for name, token := range map[string]string{"NoToken": "", "Guess": "guess"} {
		if conn, err := dial(s.ClientURL(), me, Access{Token: token}); err == nil {
			conn.Close()
			t.Errorf("%s: was let in", name)
		}
	}
	if conn, err := dial(s.ClientURL(), "not an id", Access{Token: "secret"}); err == nil {
		conn.Close()
		t.Error("an agent without an id was let in")
	}
}

func TestAnOrderHoldsNoSecret(t *testing.T) {
	plan := run.Plan{DSN: "postgres://ann:hidden@127.0.0.1/erp"}
	text, err := json.Marshal(order{Do: logIn, Plan: &plan, Database: "erp"})
	if err != nil || strings.Contains(string(text), "hidden") || !strings.Contains(string(text), `"database":"erp"`) {
		t.Errorf("%s, %v", text, err)
	}
	a := &agent{dsn: "postgres://bob:own@127.0.0.1/theirs"}
	if dsn, err := a.reach("erp"); err != nil || dsn != "postgres://bob:own@127.0.0.1/erp" {
		t.Errorf("%s, %v", dsn, err)
	}
	if _, err := (&agent{}).reach("erp"); err == nil {
		t.Error("an agent without a connection string took SQL")
	}
	if dsn, err := (&agent{}).reach(""); dsn != "" || err != nil {
		t.Errorf("%q, %v", dsn, err)
	}
}

func TestBetweenMachinesTheConnectionIsEncrypted(t *testing.T) {
	for address, refused := range map[string]bool{
		"127.0.0.1:4222": false, "localhost:4222": false, "[::1]:4222": false, "nats://127.0.0.1:4222": false,
		"0.0.0.0:4222": true, ":4222": true, "10.0.0.1:4222": true, "nats://10.0.0.1:4222": true,
		"nats://lab.example:4222": true, "tls://lab.example:4222": false, "nats://ann:hidden@10.0.0.1:4222": true,
	} {
		err := Secure(address, Access{Token: "secret"})
		if (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil && (problem.ClassOf(err) != problem.Usage || problem.HintOf(err) == "" ||
			strings.Contains(err.Error(), "hidden")) {
			t.Errorf("%s: %v", address, err)
		}
		if err := Secure(address, Access{CA: "ca.pem"}); err != nil {
			t.Errorf("%s with TLS: %v", address, err)
		}
	}
	if _, err := listen("0.0.0.0:0", Access{Token: "secret"}, ""); problem.ClassOf(err) != problem.Usage {
		t.Errorf("listens on all addresses in clear: %v", err)
	}
	if _, err := dial("nats://192.0.2.1:4222", "", Access{}); problem.ClassOf(err) != problem.Usage {
		t.Errorf("dials in clear: %v", err)
	}
}
