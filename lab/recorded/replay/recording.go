package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/lab/recorded/score"
)

// Recording is the recorded time that is played again, as plans keep it.
type Recording struct {
	Log   string  `json:"log"` // names of its files or folders
	Bytes int64   `json:"bytes"`
	Speed float64 `json:"speed"`
	// Rules tell apart what is scored otherwise: gap and targets.
	Rules string `json:"rules_digest"`
}

// Recording of the options; nil of nil.
func (o *Options) Recording() *Recording {
	if o == nil {
		return nil
	}
	p := &Recording{Speed: o.Speed, Rules: kept.Fingerprint(struct {
		Gap, Target time.Duration
		Targets     map[string]time.Duration
		Masked      bool
	}{o.Gap, o.Target, o.Targets, o.Mask != nil})}
	var names []string
	for _, path := range o.Paths {
		names = append(names, filepath.Base(path))
		_ = filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				p.Bytes += info.Size()
			}
			return nil
		})
	}
	p.Log = strings.Join(names, ", ")
	return p
}

// String says it in words.
func (r *Recording) String() string {
	pace := "at its pace"
	if r.Speed != 1 {
		pace = fmt.Sprintf("at %g times its pace", r.Speed)
	}
	return fmt.Sprintf("replay of %s, %s", r.Log, pace)
}

// Extent of a recorded time.
type Extent struct {
	Length time.Duration
	// Sessions that were open at once, on average.
	Sessions float64
}

// ExtentOf a log, as far as it can be replayed.
func ExtentOf(ctx context.Context, o Options) (e Extent, err error) {
	o.complete()
	s := &stage{Options: o, left: map[string]int64{}, outcome: newOutcome(nil),
		found: func(string) error { return nil }}
	read, err := s.reader()
	if err != nil {
		return e, err
	}
	type span struct{ from, to time.Time }
	spans := map[string]span{}
	r := &Result{}
	err = read(ctx, &order{see: func(st statement) {
		of := spans[st.Session]
		if of.from.IsZero() || st.Begun.Before(of.from) {
			of.from = st.Begun
		}
		if end := st.Begun.Add(st.Took); end.After(of.to) {
			of.to = end
		}
		spans[st.Session] = of
	}}, score.NewSessions(score.Options{Gap: o.Gap}), r)
	if err != nil {
		return e, err
	}
	if e.Length = r.To.Sub(r.From); e.Length <= 0 {
		return e, ErrNothing
	}
	for _, of := range spans {
		e.Sessions += of.to.Sub(of.from).Seconds() / e.Length.Seconds()
	}
	return e, nil
}
