// Package password owns the passwords of users: a table of bcrypt hashes, and the check of a password against it.
package password

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/bcrypt"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// LengthMax is in bytes; bcrypt looks at no more.
const LengthMax = 72

// ErrTooLong is what Set says of a longer one.
var ErrTooLong = fmt.Errorf("the password is longer than %d bytes", LengthMax)

// Set gives users a password. They share one hash: whoever sets the password knows that they share it.
func Set(ctx context.Context, db *database.Database, users []id.ID, text string) error {
	if len(text) > LengthMax {
		return ErrTooLong
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(text), bcrypt.DefaultCost)
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	return db.Run(ctx, func(w *database.Work) error {
		w.Queue("set passwords", `INSERT INTO plimsoll_password (owner, hash) SELECT unnest($1::uuid[]), $2
			ON CONFLICT (owner) DO UPDATE SET hash = excluded.hash, set_at = now()`, users, string(hash))
		return nil
	})
}

// Remove takes users their password; they cannot log in where one is asked for.
func Remove(ctx context.Context, db *database.Database, users []id.ID) (removed int64, err error) {
	err = db.Run(ctx, func(w *database.Work) error {
		w.Queue("remove passwords", "DELETE FROM plimsoll_password WHERE owner = ANY ($1)", users).
			Affected(func(n int64) error { removed = n; return nil })
		return nil
	})
	return removed, err
}

const (
	// rememberedFor is how long a check that succeeded is not repeated for the same hash and password: thousands of
	// test users who share one password log in as fast as without.
	rememberedFor = 10 * time.Minute
	rememberedMax = 10_000
)

// Checker checks passwords, on half of the processors at most.
type Checker struct {
	db    *database.Database
	slots chan struct{}
	key   []byte // of this process: what is remembered tells nothing without it
	dummy string

	mutex      sync.Mutex
	remembered map[[sha256.Size]byte]time.Time
}

// NewChecker of the passwords of a database.
func NewChecker(db *database.Database) (*Checker, error) {
	c := &Checker{db: db, slots: make(chan struct{}, max(1, runtime.NumCPU()/2)), key: make([]byte, sha256.Size),
		remembered: map[[sha256.Size]byte]time.Time{}}
	rand.Read(c.key) // never fails
	hash, err := bcrypt.GenerateFromPassword(c.key, bcrypt.DefaultCost)
	c.dummy = string(hash)
	return c, err
}

// Check reports whether it is the password of the user; the zero id is no user. A user who is not known, or has no
// password, takes as long as a wrong password. Before the costly part it asks proceed, which may give up.
func (c *Checker) Check(ctx context.Context, user id.ID, text string, proceed func() error) (right bool, err error) {
	hash, err := c.hashOf(ctx, user)
	if err != nil {
		return false, err
	}
	known := hash != ""
	if !known {
		hash = c.dummy
	}
	mark := c.mark(hash, text)
	if known && c.remembers(mark) {
		return true, nil
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-c.slots }()
	if known && c.remembers(mark) { // by an earlier request
		return true, nil
	}
	if err := proceed(); err != nil {
		return false, err
	}
	err = bcrypt.CompareHashAndPassword([]byte(hash), []byte(text))
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) || errors.Is(err, bcrypt.ErrPasswordTooLong) {
		return false, nil
	}
	if err != nil || !known {
		return false, err
	}
	c.remember(mark)
	return true, nil
}

func (c *Checker) hashOf(ctx context.Context, user id.ID) (hash string, err error) {
	err = c.db.Read(ctx, func(w *database.Work) error {
		w.Queue("find password", "SELECT hash FROM plimsoll_password WHERE owner = $1", user).
			Rows(func(r pgx.Rows) error { return r.Scan(&hash) })
		return nil
	})
	return hash, err
}

func (c *Checker) mark(hash, text string) (mark [sha256.Size]byte) {
	mac := hmac.New(sha256.New, c.key)
	mac.Write([]byte(hash)) // of one length
	mac.Write([]byte(text))
	mac.Sum(mark[:0])
	return mark
}

func (c *Checker) remembers(mark [sha256.Size]byte) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	until, found := c.remembered[mark]
	return found && time.Now().Before(until)
}

func (c *Checker) remember(mark [sha256.Size]byte) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.remembered) >= rememberedMax {
		clear(c.remembered)
	}
	c.remembered[mark] = time.Now().Add(rememberedFor)
}
