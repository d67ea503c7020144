package number_test

import (
	"sync"
	"testing"

	"plimsoll/platform/books/number"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func TestNumbersOfSeveralWorkersAreUnique(t *testing.T) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, &metadata.Application{Name: "test", Version: 1}); err != nil {
		t.Fatal(err)
	}
	workers := []*number.Numbers{number.New(db.Database),
		number.New(databasetest.Connect(t, db.DSN, database.Options{}))}
	organisations := []id.ID{id.New(), id.New()}
	var mutex sync.Mutex
	var wait sync.WaitGroup
	given := map[string]bool{}
	for n := range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range number.Block { // several blocks in all
				organisation := organisations[n/4]
				text, err := workers[n%2].Next(t.Context(), organisation, "sale", "GS")
				mutex.Lock()
				if err != nil || given[organisation.String()+text] {
					t.Errorf("%s, %v", text, err)
				}
				given[organisation.String()+text] = true
				mutex.Unlock()
			}
		}()
	}
	wait.Wait()
	if len(given) != 8*number.Block || !given[organisations[0].String()+"GS-000000001"] ||
		!given[organisations[1].String()+"GS-000000001"] {
		t.Errorf("%d numbers", len(given))
	}
}

// A worker that survives a crash of the server goes on with its block, so a drawn block must not be lost.
func TestNumbersAreDrawnForGood(t *testing.T) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, &metadata.Application{Name: "test", Version: 1}); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "CREATE TABLE mode_of_commit (mode text)")
	db.Exec(t, `CREATE FUNCTION note_mode() RETURNS trigger LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO mode_of_commit VALUES (current_setting('synchronous_commit')); RETURN NULL; END$$`)
	db.Exec(t, `CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT OR UPDATE ON plimsoll_number
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_mode()`)
	db.Exec(t, "ALTER DATABASE "+db.Value(t, "SELECT quote_ident(current_database())")+
		" SET synchronous_commit = off")
	worker := number.New(databasetest.Connect(t, db.DSN, database.Options{}))
	if _, err := worker.Next(t.Context(), id.New(), "sale", "GS"); err != nil {
		t.Fatal(err)
	}
	if mode := db.Value(t, "SELECT mode FROM mode_of_commit"); mode != "on" {
		t.Errorf("a block of numbers is committed with synchronous_commit = %s, want on", mode)
	}
}
