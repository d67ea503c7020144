package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// Verify a backup again: a disk may have lost something since.
func (s *Store) Verify(ctx context.Context, id string) (Record, error) {
	r, err := s.Find(id)
	if err != nil {
		return r, err
	}
	srv, err := r.server(ctx)
	if err != nil {
		return r, err
	}
	s.Step("verifying")
	if err := verify(ctx, srv, s.data(id)); err != nil {
		return r, damaged(id, err)
	}
	identifier, err := identifierOf(ctx, srv, s.data(id))
	if err != nil {
		return r, damaged(id, err)
	}
	if identifier != r.SystemIdentifier {
		return r, damaged(id, fmt.Errorf("its data belong to system %s, its record to %s", identifier,
			r.SystemIdentifier))
	}
	return r, nil
}

func damaged(id string, err error) error {
	if problem.ClassOf(err) != problem.Failure { // a missing program, Ctrl-C
		return err
	}
	return problem.New(problem.Threshold, fmt.Errorf("backup %s is damaged: %w", id, err), "restore another backup")
}

// server that can read the data.
func (r Record) server(ctx context.Context) (installation.Server, error) {
	return installation.FindMajor(ctx, r.Engine, r.Server.Major())
}

// Point of the log at which a restored cluster begins. The zero value is the latest that there is.
type Point struct {
	Time time.Time
	LSN  string
}

// Points that a person may name.
const Latest = "latest"

// ParsePoint reads latest, a position of the log such as 0/3000060, or a time in this machine's zone or its own.
func ParsePoint(text string) (p Point, err error) {
	if text == "" || text == Latest {
		return p, nil
	}
	if _, err := parseLSN(text); err == nil {
		return Point{LSN: text}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return Point{Time: t}, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999", "2006-01-02 15:04"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		all := moments(clock, time.Local)
		if len(all) != 1 {
			return p, problem.New(problem.Usage, fmt.Errorf("clocks of this machine's zone show %s %d times", text,
				len(all)), "name the zone, as in 2026-11-23T16:30:00+03:00")
		}
		return Point{Time: all[0]}, nil
	}
	return p, problem.New(problem.Usage, fmt.Errorf("%q is neither a time nor a position (LSN) of the log", text),
		"such as latest, '2026-11-23 16:30:00', 2026-11-23T16:30:00Z or 0/3000060")
}

// moments at which the clocks of a zone show a time: none or two where they are put forward or back.
func moments(clock time.Time, zone *time.Location) (all []time.Time) {
	const day = 24 * time.Hour
	for _, near := range []time.Duration{-day, 0, day} {
		_, offset := clock.Add(near).In(zone).Zone()
		t := clock.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, found := t.Zone(); found == offset && !slices.ContainsFunc(all, t.Equal) {
			all = append(all, t)
		}
	}
	return all
}

func parseLSN(text string) (uint64, error) {
	high, low, found := strings.Cut(text, "/")
	h, err1 := strconv.ParseUint(high, 16, 32)
	l, err2 := strconv.ParseUint(low, 16, 32)
	if !found || err1 != nil || err2 != nil {
		return 0, fmt.Errorf("%q is not a position (LSN) of the log", text)
	}
	return h<<32 | l, nil
}

// Places are where a restored cluster has what the backup's had on other disks. By default it has folders of its own
// next to those.
type Places struct {
	Tablespaces []cluster.Tablespace
	WalDir      string
}

// Restore verifies a backup and creates a new, stopped cluster from it, as it was at a point. Existing clusters stay as
// they are.
func (s *Store) Restore(ctx context.Context, id, name string, at Point, in Places) (*cluster.Cluster, error) {
	r, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = r.Cluster + "-restored"
	}
	if err := cluster.CheckName(name); err != nil {
		return nil, err
	}
	if _, err := s.clusters.Find(name); err == nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("cluster %s %w", name, cluster.ErrExists),
			"a restore creates a new cluster: --into NAME, or destroy that one first")
	}
	srv, err := r.server(ctx)
	if err != nil {
		return nil, err
	}
	if err := cluster.ReadsLog(ctx, srv, r.Compression, r.Server); err != nil {
		return nil, fmt.Errorf("restore backup %s: %w", id, err)
	}
	spaces, err := r.placed(in.Tablespaces)
	if err != nil {
		return nil, err
	}
	r = s.withoutLostArchive(r)
	if err := r.checkPoint(at); err != nil {
		return nil, err
	}
	held, err := s.lockBackup(ctx, id, "restore")
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if _, err := s.Verify(ctx, id); err != nil {
		return nil, err
	}
	if err := s.archiveNow(ctx, r); err != nil {
		return nil, err
	}
	s.warnMissingSegment(r)
	s.Step("restoring")
	password, err := s.password(id)
	if err != nil {
		return nil, err
	}
	spec := cluster.Spec{Engine: r.Engine, Profile: r.Profile, Memory: r.Memory, Settings: r.Settings,
		Unsafe: r.Unsafe, SocketOnly: r.SocketOnly, Log: cluster.ReplicaLog,
		Tablespaces: spaces, WalDir: cmp.Or(in.WalDir, r.WalDir)}
	from := cluster.Backup{Data: s.data(id), Password: password, UserConf: filepath.Join(s.path(id), "user.conf"),
		Major: r.Server.Major(), Bytes: r.Bytes}
	c, err := s.clusters.Restore(ctx, name, spec, from, s.recovery(r, at))
	if err != nil && strings.Contains(err.Error(), "before configured recovery target was reached") {
		return nil, problem.New(problem.Usage, fmt.Errorf("the log ends before %s: %w", at, err),
			"--point latest restores to the end of the log")
	}
	return c, err
}

// placed are the backup's tablespaces, in other folders where the user named some.
func (r Record) placed(in []cluster.Tablespace) ([]cluster.Tablespace, error) {
	all := slices.Clone(r.Tablespaces)
	for _, named := range in {
		i := slices.IndexFunc(all, func(t cluster.Tablespace) bool { return t.Name == named.Name })
		if i < 0 {
			return nil, problem.New(problem.Usage, fmt.Errorf("backup %s has no tablespace %s", r.ID, named.Name),
				"leave out --tablespace "+named.Name)
		}
		all[i].Dir = named.Dir
	}
	return all, nil
}

// withoutLostArchive: a backup that was copied without its archive can be restored to its end.
func (s *Store) withoutLostArchive(r Record) Record {
	if r.Archive == "" {
		return r
	}
	if _, err := os.Stat(s.clusters.ArchiveDir(r.Archive)); errors.Is(err, fs.ErrNotExist) {
		s.say("note: the archive of backup %s is gone: there is no log after its end, %s", r.ID, r.EndLSN)
		r.Archive = ""
	}
	return r
}

// String is also the form that PostgreSQL reads.
func (p Point) String() string {
	switch {
	case p.LSN != "":
		return p.LSN
	case !p.Time.IsZero():
		return p.Time.UTC().Format("2006-01-02 15:04:05.999999-07")
	}
	return Latest
}

// checkPoint refuses points to which the backup cannot be restored.
func (r Record) checkPoint(at Point) error {
	if at == (Point{}) {
		return nil
	}
	before := problem.New(problem.Usage, fmt.Errorf("%s is before the end of backup %s (%s, %s)", at, r.ID,
		r.TakenAt.Format(time.RFC3339), r.EndLSN), "take an older backup: plimsoll backup list")
	if at.LSN != "" {
		want, err := parseLSN(at.LSN)
		if err != nil {
			return err
		}
		if end, err := parseLSN(r.EndLSN); err != nil || want < end {
			return errors.Join(err, before)
		}
	} else if at.Time.Before(r.TakenAt) {
		return before
	}
	if r.Archive == "" {
		return problem.New(problem.Usage,
			fmt.Errorf("backup %s has no log after its end: cluster %s did not archive it", r.ID, r.Cluster),
			"--point latest; for other points take backups of a cluster with plimsoll up NAME --log archive")
	}
	return nil
}

// recovery settings of the one start that restores.
func (s *Store) recovery(r Record, at Point) []profile.Setting {
	set := func(name, value string) profile.Setting {
		return profile.Setting{Name: name, Value: value, Reason: "a restore"}
	}
	fetch := "false" // the backup itself has all the log that there is
	if r.Archive != "" {
		fetch = restoreCommand(s.clusters.ArchiveDir(r.Archive))
	}
	all := []profile.Setting{set("restore_command", fetch)}
	switch {
	case at.LSN != "":
		all = append(all, set("recovery_target_lsn", at.LSN))
	case !at.Time.IsZero():
		all = append(all, set("recovery_target_time", at.String()))
	}
	return all
}

// lockBackup keeps others off a backup while it is restored or removed.
func (s *Store) lockBackup(ctx context.Context, id, what string) (*lock.Lock, error) {
	l, err := lock.Acquire(ctx, filepath.Join(s.path(id), lockName), what, s.clusters.LockWait)
	if errors.As(err, new(*lock.HeldError)) && ctx.Err() == nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("backup %s is %w", id, err),
			"wait until it has finished, or stop it")
	}
	if err != nil {
		return nil, environment(err)
	}
	return l, nil
}

// archiveNow has the backup's cluster, if it runs, archive what it has written until now: otherwise the log ends with
// the last whole segment.
func (s *Store) archiveNow(ctx context.Context, r Record) error {
	if r.Archive == "" {
		return nil
	}
	c, err := s.clusters.Find(r.Cluster)
	if err != nil || c.Base().Archive != r.Archive {
		return nil
	}
	s.Step("archiving the log until now")
	if err := c.ArchiveNow(ctx); err != nil {
		return fmt.Errorf("archive the log of %s until now: %w", r.Cluster, err)
	}
	return nil
}

func (s *Store) say(format string, args ...any) {
	if s.clusters.Say != nil {
		s.clusters.Say(fmt.Sprintf(format, args...))
	}
}

func (s *Store) password(id string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.path(id), "pgpass"))
	if err != nil {
		return "", problem.New(problem.Environment, fmt.Errorf("read the password of backup %s: %w", id, err),
			"run as the user that took it")
	}
	const fields = 5 // of a line of libpq's password file; the password is the last, colons and all
	parts := strings.SplitN(strings.TrimSpace(string(text)), ":", fields)
	return parts[len(parts)-1], nil
}

// Remove a backup, and the archived log that no other backup needs.
func (s *Store) Remove(ctx context.Context, id string) error {
	r, err := s.Find(id)
	if err != nil {
		return err
	}
	held, err := s.lockBackup(ctx, id, "remove")
	if err != nil {
		return err
	}
	defer held.Release()
	going := filepath.Join(s.dir(), growing+"removed-"+id)
	if err := os.Rename(s.path(id), going); err != nil {
		return environment(err)
	}
	if err := os.RemoveAll(going); err != nil {
		return environment(err)
	}
	return s.prune(r.Archive)
}
