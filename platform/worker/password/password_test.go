package password

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func TestPasswords(t *testing.T) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, &metadata.Application{Name: "test", Version: 1}); err != nil {
		t.Fatal(err)
	}
	c, err := NewChecker(db.Database)
	if err != nil {
		t.Fatal(err)
	}
	ann, bob, nobody := id.New(), id.New(), id.New()
	set := func(text string, users ...id.ID) {
		if err := Set(t.Context(), db.Database, users, text); err != nil {
			t.Fatal(err)
		}
	}
	errAsked := errors.New("it asks")
	// check also reports whether it was computed, or known from before.
	check := func(user id.ID, text string) (right, computed bool) {
		right, err := c.Check(t.Context(), user, text, func() error { computed = true; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return right, computed
	}
	set("correct horse", ann, bob)
	if right, computed := check(ann, "correct horse"); !right || !computed {
		t.Errorf("first: right %v, computed %v", right, computed)
	}
	if right, computed := check(bob, "correct horse"); !right || computed {
		t.Errorf("another of the same password: right %v, computed %v", right, computed)
	}
	for name, c := range map[string]struct {
		user id.ID
		text string
	}{"Wrong": {ann, "correct house"}, "None": {ann, ""}, "Beginning": {ann, "correct"},
		"OfNobody": {nobody, "correct horse"},
		"OfZero":   {id.ID{}, "correct horse"}, "Long": {ann, strings.Repeat("x", 1000)}} {
		if right, computed := check(c.user, c.text); right || !computed {
			t.Errorf("%s: right %v, computed %v", name, right, computed)
		}
	}
	if _, err := c.Check(t.Context(), ann, "another", func() error { return errAsked }); !errors.Is(err, errAsked) {
		t.Errorf("given up: %v", err)
	}
	t.Run("ChangedCountsAtOnce", func(t *testing.T) {
		set("battery staple", ann)
		old, _ := check(ann, "correct horse")
		other, _ := check(bob, "correct horse")
		if changed, _ := check(ann, "battery staple"); old || !changed || !other {
			t.Errorf("the old one %v, the new one %v, the other's %v", old, changed, other)
		}
	})
	t.Run("RemovedCountsAtOnce", func(t *testing.T) {
		if n, err := Remove(t.Context(), db.Database, []id.ID{bob, nobody}); n != 1 || err != nil {
			t.Errorf("removed %d, %v", n, err)
		}
		if right, _ := check(bob, "correct horse"); right {
			t.Error("it is taken")
		}
	})
	t.Run("NoTextInTheTable", func(t *testing.T) {
		if hash := db.Value(t, "SELECT hash FROM plimsoll_password"); !strings.HasPrefix(hash, "$2a$10$") {
			t.Errorf("hash %.7s…, want bcrypt at cost 10", hash)
		}
	})
	long := strings.Repeat("x", LengthMax+1)
	if err := Set(t.Context(), db.Database, []id.ID{ann}, long); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
}
