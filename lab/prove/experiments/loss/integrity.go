package loss

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/audit/damage"
	erprepair "plimsoll/erp/repair"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/crash"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/care/repair"
	"plimsoll/platform/data/database"
	"plimsoll/platform/model/metadata"
)

// integrityBase is a base, its digest, and copies of it that are damaged.
type integrityBase struct {
	own    *site.OwnCluster
	scale  float64
	name   string
	digest audit.Digest
	say    func(format string, args ...any)
}

// damagedCopy is the name of the copy.
const damagedCopy = "damaged"

// examples of violations: each that a damage makes must be seen.
const examples = 100_000

func (i *integrityBase) open(ctx context.Context, r *trial.Record) error {
	r.Say("filling a base at scale %.3g", i.scale)
	filled, err := i.own.Filled(ctx, i.scale)
	if err != nil {
		return err
	}
	i.name, i.say = filled.Name, r.Say
	return i.own.Running(ctx, cluster.StartOptions{}, func(c *cluster.Cluster) error {
		if err := site.Admin(ctx, c, i.name, "CREATE EXTENSION IF NOT EXISTS amcheck"); err != nil {
			return err
		}
		return filled.Open(ctx, func(db *database.Database) error {
			i.digest, err = audit.Books(ctx, db)
			return err
		})
	})
}

// documents of the base.
func (i *integrityBase) documents() (all float64) {
	documents := erp.Metadata().Documents
	for k := range documents {
		for _, t := range i.digest.Tables {
			if t.Table == documents[k].Table() {
				all += float64(t.Rows)
			}
		}
	}
	return all
}

// onCopy does something to a new copy of the base.
func (i *integrityBase) onCopy(ctx context.Context, do func(copied *site.SeparateBase) error) error {
	return i.own.Running(ctx, cluster.StartOptions{}, func(c *cluster.Cluster) error {
		copied := &site.SeparateBase{Cluster: c, Name: damagedCopy, Streams: site.Streams + erprepair.Connections}
		if err := i.restore(ctx, copied); err != nil {
			return err
		}
		if err := do(copied); err != nil {
			return err
		}
		return copied.Drop(ctx)
	})
}

// restore the copy from the base.
func (i *integrityBase) restore(ctx context.Context, copied *site.SeparateBase) error {
	return postgres.With(ctx, copied.Cluster.DSN("").Secret(), func(conn *pgx.Conn) error {
		return postgres.CopyDatabase(ctx, conn, i.name, copied.Name)
	})
}

// control is the side without damage.
func (i *integrityBase) control() trial.Side {
	return trial.Side{Name: undamagedBase, Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		return func(ctx context.Context, _ int) (f trial.Figures, err error) {
			err = i.onCopy(ctx, func(copied *site.SeparateBase) error {
				return copied.Open(ctx, func(db *database.Database) error {
					var report audit.Report
					if f, report, err = look(ctx, db); err == nil {
						f[auditRate] = i.documents() / report.ElapsedMS * 1000
					}
					return err
				})
			})
			return f, err
		}, nil
	}}
}

// look at a base as the audit does.
func look(ctx context.Context, db *database.Database) (f trial.Figures, report audit.Report, err error) {
	report, err = audit.RunAs(ctx, db, audit.Options{Examples: examples, Connections: site.Streams})
	return trial.Figures{found: float64(report.Violations)}, report, err
}

// afterwards is what is done about the damages, and of how many that is right.
type afterwards func(ctx context.Context, copied *site.SeparateBase, subjects map[string]string, f trial.Figures) error

// damaged is a side whose turns plant damages.
func (i *integrityBase) damaged(side string, names []string, then afterwards) trial.Side {
	damages := map[string]damage.Damage{}
	for _, name := range names {
		damages[name] = damage.All[name]
	}
	return trial.Side{Name: side, Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		return func(ctx context.Context, _ int) (f trial.Figures, err error) {
			err = i.onCopy(ctx, func(copied *site.SeparateBase) error {
				var subjects map[string]string
				err := copied.Open(ctx, func(db *database.Database) (err error) {
					f, subjects, err = plantAndLook(ctx, db, damages)
					return err
				})
				if err != nil {
					return err
				}
				return then(ctx, copied, subjects, f)
			})
			return f, err
		}, nil
	}}
}

func plantAndLook(ctx context.Context, db *database.Database, damages map[string]damage.Damage) (f trial.Figures,
	subjects map[string]string, err error) {
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		subjects, err = damage.Inflict(ctx, conn, damages, nil)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	f, report, err := look(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	if err := db.Borrow(ctx, func(conn *pgx.Conn) error {
		faults, err := crash.Amcheck(ctx, conn)
		f[physical] = float64(len(faults))
		return err
	}); err != nil {
		return nil, nil, err
	}
	f[planted], f[named] = float64(len(damages)), 0
	for name, d := range damages {
		if names(report, subjects[name], d.Field) {
			f[named]++
		}
	}
	return f, subjects, nil
}

// names says whether an audit names a subject with the field.
func names(report audit.Report, subject, field string) bool {
	return slices.ContainsFunc(report.Checks, func(c audit.Check) bool {
		return slices.ContainsFunc(c.Examples, func(v audit.Violation) bool {
			return strings.Contains(v.Subject, subject) && v.Field == field && v.Expected != v.Found
		})
	})
}

// repair what the books know better: each damage must be mended, and every table as it was.
func (i *integrityBase) repair(ctx context.Context, copied *site.SeparateBase, subjects map[string]string,
	f trial.Figures) error {
	return copied.Open(ctx, func(db *database.Database) error {
		began := time.Now()
		done, err := erprepair.Run(ctx, db, repair.Options{Audit: audit.Options{Connections: site.Streams}})
		if err != nil {
			return err
		}
		f[treated], f[repairRate] = 0, float64(done.Done)/time.Since(began).Seconds()
		f[foundAfter] = float64(done.Open())
		for _, subject := range subjects {
			if slices.ContainsFunc(done.Steps, func(s repair.Step) bool {
				return concerns(s, subject) && (s.Done || s.Skipped == inOrder)
			}) {
				f[treated]++
			}
		}
		if err := versionsBack(ctx, db, done.Steps); err != nil {
			return err
		}
		f[changed], err = i.differ(ctx, db, i.digest)
		return err
	})
}

// versionsBack undoes what a repair must add: a document with a mended attribute has a new version, by which those who
// have it open notice.
func versionsBack(ctx context.Context, db *database.Database, steps []repair.Step) error {
	return db.Borrow(ctx, func(conn *pgx.Conn) error {
		for _, s := range steps {
			kind, _, _ := strings.Cut(s.Object, " ")
			meta, ours := erp.Metadata().Document(kind)
			if !ours || !s.Done || !changesAttribute(s, meta) {
				continue
			}
			if _, err := conn.Exec(ctx, "UPDATE "+meta.Table()+" SET version = version - 1 WHERE id = $1",
				s.Document); err != nil {
				return err
			}
		}
		return nil
	})
}

func changesAttribute(s repair.Step, meta *metadata.Document) bool {
	return slices.ContainsFunc(s.Changes, func(c repair.Change) bool {
		return slices.ContainsFunc(meta.Attributes, func(a metadata.Attribute) bool { return a.Name == c.Field })
	})
}

// inOrder is why a step is not done that another one has made needless.
const inOrder = "already in order"

// nameAndRestore: a repair must say of each damage that only a backup has what it destroyed, and change nothing; then
// the backup is restored.
func (i *integrityBase) nameAndRestore(ctx context.Context, copied *site.SeparateBase, subjects map[string]string,
	f trial.Figures) error {
	err := copied.Open(ctx, func(db *database.Database) error {
		before, err := audit.Books(ctx, db)
		if err != nil {
			return err
		}
		done, err := erprepair.Run(ctx, db, repair.Options{Audit: audit.Options{Connections: site.Streams}})
		if err != nil {
			return err
		}
		f[treated] = 0
		for _, subject := range subjects {
			if slices.ContainsFunc(done.Steps, func(s repair.Step) bool {
				return concerns(s, subject) && s.Class == repair.Restore && !s.Done
			}) {
				f[treated]++
			}
		}
		f[changed], err = i.differ(ctx, db, before)
		return err
	})
	if err != nil {
		return err
	}
	if err := i.restore(ctx, copied); err != nil {
		return err
	}
	return copied.Open(ctx, func(db *database.Database) error {
		restored, err := audit.RunAs(ctx, db, audit.Options{Connections: site.Streams})
		if err != nil {
			return err
		}
		f[foundAfter] = float64(restored.Violations)
		restoredWrong, err := i.differ(ctx, db, i.digest)
		f[changed] += restoredWrong
		return err
	})
}

// concerns says whether a step is about a subject.
func concerns(s repair.Step, subject string) bool {
	text := s.Object
	for _, c := range s.Changes {
		text += " " + c.Field
	}
	return strings.Contains(text, strings.TrimSpace(subject))
}

// differ names and counts the tables that are not as they were.
func (i *integrityBase) differ(ctx context.Context, db *database.Database, were audit.Digest) (n float64, err error) {
	now, err := audit.Books(ctx, db)
	for k, t := range now.Tables {
		if k >= len(were.Tables) || t != were.Tables[k] {
			i.say("table %s has changed; it has %d rows", t.Table, t.Rows)
			n++
		}
	}
	return n, err
}
