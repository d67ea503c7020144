// Package sample writes the technological log that a 1C server would have written while the 1C load ran, and the truth
// beside it: what was sent and what came of it, counted from the load itself.
package sample

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/load/onec"
	"plimsoll/lab/recorded/techlog"
)

// TruthName is the file of the truth, beside the log's folders.
const TruthName = "truth.json"

// Truth of a log.
type Truth struct {
	From       time.Time        `json:"from"`
	To         time.Time        `json:"to"`
	Calls      map[string]int64 `json:"calls"` // by operation, as the log names them
	Statements int64            `json:"statements"`
	Rows       int64            `json:"rows"`   // returned or changed by those that did not fail
	Errors     map[string]int64 `json:"errors"` // by SQLSTATE
	Sessions   int              `json:"sessions"`
}

// Log is a journal of the 1C load.
type Log struct {
	dir      string
	database string
	out      *techlog.Writer

	mu       sync.Mutex
	truth    Truth
	sessions map[uint32]bool
}

// Options of a log.
type Options struct {
	Database string
	// Tick of the server's clock (techlog.NewWriter).
	Tick time.Duration
}

// Create a log in a folder, which must be empty or missing.
func Create(dir string, o Options) (*Log, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty", dir)
	}
	out, err := techlog.NewWriter(dir, os.Getpid(), o.Tick)
	if err != nil {
		return nil, err
	}
	return &Log{dir: dir, database: o.Database, out: out, sessions: map[uint32]bool{},
		truth: Truth{Calls: map[string]int64{}, Errors: map[string]int64{}}}, nil
}

// context of a call in the application's code: its form, then what the form calls.
type context struct{ form, inside string }

var contexts = map[string]context{
	"sale.write": {"Document.Sale.Form.DocumentForm.Module.PostAtServer",
		"Document.Sale.ObjectModule : 214 : RegisterRecords.Stock.Write();"},
	"sale.rewrite": {"Document.Sale.Form.DocumentForm.Module.RewriteAtServer",
		"Document.Sale.ObjectModule : 214 : RegisterRecords.Stock.Write();"},
	"sale.open":    {"Document.Sale.Form.DocumentForm.Module.OnCreateAtServer", ""},
	"sales.list":   {"Document.Sale.Form.ListForm.Module.GetListAtServer", ""},
	"items.find":   {"Catalog.Items.Form.ChoiceForm.Module.FindAtServer", ""},
	"stock.moment": {"Report.Stock.Form.ReportForm.Module.FillAtServer", "Report.Stock.ObjectModule : 31 : Execute();"},
	"prices.last": {"Document.Sale.Form.DocumentForm.Module.FillPricesAtServer",
		"CommonModule.Prices.Module : 88 : Result = Query.Execute();"},
	"price.write":      {"InformationRegister.Prices.Form.RecordForm.Module.WriteAtServer", ""},
	"ledger.turnovers": {"Report.Turnovers.Form.ReportForm.Module.FillAtServer", ""},
	"sales.batch": {"Report.Sales.Form.ReportForm.Module.FillAtServer",
		"Report.Sales.ObjectModule : 117 : Results = Query.ExecuteBatch();"},
}

// NameOf an operation of the load in the log.
func NameOf(operation string) string {
	if c, known := contexts[operation]; known {
		return c.form
	}
	return operation
}

// fields that every event of a user has.
func fields(level string, user int, further ...techlog.Field) []techlog.Field {
	return append([]techlog.Field{{Name: "level", Value: level}, {Name: "process", Value: "rphost"},
		{Name: "p:processName", Value: "trade"}, {Name: "OSThread", Value: fmt.Sprint(20_000 + user%64)},
		{Name: "t:clientID", Value: fmt.Sprint(100 + user)}, {Name: "t:applicationName", Value: "1CV8C"},
		{Name: "t:computerName", Value: fmt.Sprintf("WS%03d", user)},
		{Name: "t:connectID", Value: fmt.Sprint(1 + user)},
		{Name: "Usr", Value: fmt.Sprintf("User %d", user)}}, further...)
}

// lostLocks are SQLSTATEs after which the platform gives up a lock.
var lostLocks = map[string]string{"55P03": "TTIMEOUT", "40P01": "TDEADLOCK"}

// Statement of the load.
func (l *Log) Statement(s onec.Statement) {
	state, failed := l.count(s)
	number, within := "", "0"
	if s.Numbered {
		number = fmt.Sprint(s.Process)
	}
	if s.Transaction {
		within = "1"
	}
	result := "PGRES_COMMAND_OK"
	switch {
	case failed:
		result = "PGRES_FATAL_ERROR"
	case s.Tuples:
		result = "PGRES_TUPLES_OK"
	}
	if function := transactions[s.Text]; function != "" {
		l.write("SDBL", s.Began, s.Ended, fields("DEBUG", s.User, techlog.Field{Name: "Trans", Value: within},
			techlog.Field{Name: "Func", Value: function}))
	}
	if strings.Contains(s.Text, " FOR UPDATE") { // where the platform takes a managed lock before it reads an object
		l.write("TLOCK", s.Began, s.Began, fields("DEBUG", s.User, techlog.Field{Name: "Regions",
			Value: "Document34.REFLINES"}, techlog.Field{Name: "Locks",
			Value: fmt.Sprintf(`Document34.REFLINES Exclusive ID="34:%d"`, s.User)},
			techlog.Field{Name: "WaitConnections"}))
	}
	l.write("DBPOSTGRS", s.Began, s.Ended, fields("DEBUG", s.User, techlog.Field{Name: "DBMS", Value: "DBPOSTGRS"},
		techlog.Field{Name: "DataBase", Value: `localhost\` + l.database}, techlog.Field{Name: "Trans", Value: within},
		techlog.Field{Name: "dbpid", Value: number}, techlog.Field{Name: "Sql", Value: s.Text},
		techlog.Field{Name: "RowsAffected", Value: fmt.Sprint(s.Rows)}, techlog.Field{Name: "Result", Value: result}))
	if !failed {
		return
	}
	l.write("EXCP", s.Ended, s.Ended, fields("ERROR", s.User, techlog.Field{Name: "Exception",
		Value: "DataBaseException"}, techlog.Field{Name: "Descr", Value: description(s.Err)}))
	if event := lostLocks[state]; event != "" {
		l.write(event, s.Began, s.Ended, fields("DEBUG", s.User, techlog.Field{Name: "Regions",
			Value: "Document34.REFLINES"}))
	}
}

var transactions = map[string]string{"BEGIN TRANSACTION": "BeginTransaction",
	"COMMIT TRANSACTION": "CommitTransaction", "ROLLBACK TRANSACTION": "RollbackTransaction"}

// description of an error as the platform words it, over several lines.
func description(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return fmt.Sprintf("DBMS error:\n%s: ERROR:  %s\n", pg.Code, pg.Message)
	}
	return "DBMS error:\nconnection to the server was lost\n"
}

func (l *Log) count(s onec.Statement) (state string, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.between(s.Began, s.Ended)
	l.truth.Statements++
	l.sessions[s.Process] = true
	if s.Err == nil {
		l.truth.Rows += s.Rows
		return "", false
	}
	var pg *pgconn.PgError
	if errors.As(s.Err, &pg) {
		state = pg.Code
	}
	l.truth.Errors[state]++
	return state, true
}

func (l *Log) between(began, ended time.Time) {
	if l.truth.From.IsZero() || began.Before(l.truth.From) {
		l.truth.From = began
	}
	if ended.After(l.truth.To) {
		l.truth.To = ended
	}
}

// Call of a user.
func (l *Log) Call(c onec.Call) {
	name := NameOf(c.Operation)
	l.mu.Lock()
	l.between(c.Began, c.Ended)
	l.truth.Calls[name]++
	l.mu.Unlock()
	text := "Form.Call : " + name
	if inside := contexts[c.Operation].inside; inside != "" {
		text = "\n\t" + text + "\n\t\t" + inside
	}
	l.write("CALL", c.Began, c.Ended, fields("INFO", c.User, techlog.Field{Name: "Interface", Value: "vrs"},
		techlog.Field{Name: "Memory", Value: "120544"}, techlog.Field{Name: "Context", Value: text}))
}

func (l *Log) write(name string, began, ended time.Time, fields []techlog.Field) {
	l.out.Write(techlog.Event{At: ended, Duration: ended.Sub(began), Name: name, Fields: fields})
}

// Close the log and write the truth.
func (l *Log) Close() (Truth, error) {
	l.truth.Sessions = len(l.sessions)
	text, err := json.MarshalIndent(l.truth, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(l.dir, TruthName), append(text, '\n'), 0o644)
	}
	return l.truth, errors.Join(l.out.Close(), err)
}
