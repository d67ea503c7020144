package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/platformtest"
	"plimsoll/platform/worker/session"
	"plimsoll/test/patience"
)

// durableShop is a worker with durable-ack that leaves flushes to the server, whose log writer can be stopped.
type durableShop struct {
	own          *clustertest.OwnCluster
	db           *database.Database
	url, token   string
	shelf, goods id.ID
	client       *http.Client
}

func openDurableShop(t *testing.T) *durableShop {
	s := &durableShop{client: &http.Client{Transport: &http.Transport{}}, shelf: id.New(), goods: id.New(),
		own: clustertest.Alone(t, map[string]string{"autovacuum": "off", "bgwriter_lru_maxpages": "0",
			"checkpoint_timeout": "1d"})}
	organisation, app := id.New(), platformtest.Application()
	made, err := database.Open(patience.Context(t), s.own.DSN(), database.Options{Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	err = schema.Claim(patience.Context(t), made)
	if err == nil {
		err = schema.Migrate(patience.Context(t), made, app)
	}
	made.Close()
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, statement.SQL("INSERT INTO cat_shelves (id, organisation, code, name) "+
		"VALUES ('{shelf}', '{organisation}', 'S', 'S'); INSERT INTO cat_goods (id, organisation, code, name) "+
		"VALUES ('{item}', '{organisation}', 'G', 'G')", statement.Names{"shelf": fmt.Sprint(s.shelf),
		"organisation": fmt.Sprint(organisation), "item": fmt.Sprint(s.goods)}))
	s.exec(t, "CHECKPOINT")
	s.db, err = database.Open(patience.Context(t), s.own.DSN(), database.Options{Connections: 4, Worker: true,
		Durability: "durable-ack", PollFlush: true, Waiting: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.db.Close)
	worker, err := New(Config{Database: s.db}, Application{Metadata: app, Rules: platformtest.Rules(app),
		Login: func(_ context.Context, _ *database.Database, user string) (session.User, error) {
			return session.User{ID: knownID, Organisation: organisation, Code: user}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(worker.handler)
	t.Cleanup(served.Close)
	t.Cleanup(s.client.CloseIdleConnections)
	s.url = served.URL
	status, text := s.post(t, "/v1/sessions", "", `{"user":"known"}`)
	var opened struct{ Token string }
	if err := json.Unmarshal([]byte(text), &opened); err != nil || status != 201 {
		t.Fatalf("log in: %d %s %v", status, text, err)
	}
	s.token = opened.Token
	return s
}

func (s *durableShop) exec(t *testing.T, sql string) {
	t.Helper()
	if got := clustertest.Value(t, s.own.DSN(), sql); got != "" {
		t.Fatal(got)
	}
}

func (s *durableShop) post(t *testing.T, path, key, body string) (status int, text string) {
	q, err := http.NewRequestWithContext(patience.Context(t), http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", "Bearer "+s.token)
	if key != "" {
		q.Header.Set("Idempotency-Key", key)
	}
	answer, err := s.client.Do(q)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(all)
}

func (s *durableShop) receive(t *testing.T, key string) (status int, text string) {
	return s.post(t, "/v1/documents/receipt", key, fmt.Sprintf(`{"date":"2025-03-%02dT12:00:00Z",`+
		`"shelf":"%s","lines":[{"goods":"%s","quantity":"1","amount":"1"}]}`, 1+key[0]%28, s.shelf, s.goods))
}

// One answer waits for a log that nobody flushes. More work is refused before it is done. Then the server is killed:
// the operation is unknown, and its repetition makes one document.
func TestAnUnknownOperationIsRepeatedOnce(t *testing.T) {
	s := openDurableShop(t)
	patience.Until(t, "the watcher is connected", func() bool { return s.db.FlushFigures().Connected })
	writer := 0
	patience.Until(t, "the log writer is there", func() bool {
		writer, _ = strconv.Atoi(clustertest.Value(t, s.own.DSN(),
			"SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"))
		return writer > 0
	})
	if err := syscall.Kill(writer, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(writer, syscall.SIGCONT) }) // it is killed with its server
	type answer struct {
		status int
		text   string
	}
	first := make(chan answer, 1)
	go func() {
		status, text := s.receive(t, "one")
		first <- answer{status, text}
	}()
	patience.Until(t, "the first waits", func() bool { return s.db.FlushFigures().Waiting == 1 })
	if status, text := s.receive(t, "two"); status != 503 || !strings.Contains(text, `"overloaded"`) {
		t.Errorf("with a full queue: %d %s", status, text)
	}
	if got := clustertest.Value(t, s.own.DSN(), "SELECT string_agg(key, ' ') FROM plimsoll_operation"); got != "one" {
		t.Errorf("what was refused was done: %s", got)
	}
	s.own.Kill()
	if a := <-first; a.status != 503 || !strings.Contains(a.text, `"unknown"`) {
		t.Errorf("after the kill: %d %s", a.status, a.text)
	}
	s.own.Start()
	if got := clustertest.Value(t, s.own.DSN(), "SELECT count(*) FROM plimsoll_operation"); got != "0" {
		t.Errorf("%s operations outlived the kill: it took nothing", got)
	}
	patience.Until(t, "the watcher is connected again", func() bool { return s.db.FlushFigures().Connected })
	var made [3]struct{ ID, Number string }
	for i, key := range []string{"one", "one", "two"} {
		var status int
		var text string
		patience.Until(t, "the database is back", func() bool {
			status, text = s.receive(t, key)
			return status != 503
		})
		if err := json.Unmarshal([]byte(text), &made[i]); err != nil || status >= 300 {
			t.Fatalf("%s again: %d %s", key, status, text)
		}
	}
	if made[0] != made[1] || made[0] == made[2] {
		t.Errorf("made %v", made)
	}
	if got := clustertest.Value(t, s.own.DSN(), "SELECT count(*) FROM doc_receipt"); got != "2" {
		t.Errorf("%s documents", got)
	}
}
