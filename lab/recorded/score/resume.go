package score

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/techlog"
)

// A log that grows is read on where it was read last. What is kept is what was counted so far, and of each file how far
// it was read and how it begins: by its beginning a file is found again under another name, or compressed.
//
//	file, again:  the same beginning ──▶ read on              longer than before
//	                                 ──▶ nothing, and a note  shorter: it was cut off
//	              under another name ──▶ read on              it was rotated
//	              another beginning  ──▶ a new file           it was replaced
//	              nowhere            ──▶ a note               what came after that place is lost
//
// An entry at the end of a file that may go on waits until something follows.

// resumeSchema of what is kept: what another one has written is read from the beginning.
const resumeSchema = 1

// ErrResumeCalls says that a technological log without calls cannot be read on.
var ErrResumeCalls = errors.New("a technological log without CALL events is divided by pauses, which --resume cannot " +
	"go on with")

// Resumed says how a log was read on.
type Resumed struct {
	Again bool  `json:"again"`      // there was something to go on from
	New   int64 `json:"new_events"` // since then
	// Waiting bytes at the ends of files are not counted yet.
	Waiting int64    `json:"waiting_bytes"`
	Notes   []string `json:"notes"`
}

// keptScore is what was counted of a log.
type keptScore struct {
	Schema int           `json:"schema"`
	Files  []*keptFile   `json:"files"`
	Clock  techlog.Steps `json:"clock"`
	counted
	Operations map[string][]keptHour `json:"operations"`
	// Pauses are the sessions of a log that pauses divide.
	Pauses *divided `json:"pauses,omitempty"`
}

type keptHour struct {
	Hour int64 `json:"hour"` // Unix time
	hour
}

// keptFile of the log, and how far it was read.
type keptFile struct {
	Path  string `json:"path"`
	Head  string `json:"head"` // digest of its beginning
	HeadN int64  `json:"head_bytes"`
	Start string `json:"start"` // digest of its first headLeast bytes
	lines.Place
	Done  bool `json:"done"` // read to its end, behind which nothing will come
	whole bool // nothing will follow
	// Clients of a technological log, with what they did since their last call ended.
	Clients map[string][]inner `json:"clients,omitempty"`
}

// Parts of a file by which it is known again: its first bytes. With fewer than the least its name must be the same.
const (
	headMost  = 4096
	headLeast = 64
)

// heads of files: digests of their first bytes, by how many.
type heads map[headKey]string

type headKey struct {
	path string
	n    int64
}

// of a file: a digest of its first bytes, at most so many.
func (h heads) of(path string, most int64) (digest string, n int64, err error) {
	if digest, known := h[headKey{path, most}]; known {
		return digest, most, nil
	}
	in, file, err := lines.Open(path, func(int) {})
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	sum := sha256.Sum256(text)
	digest, n = hex.EncodeToString(sum[:]), int64(len(text))
	if n == most {
		h[headKey{path, most}] = digest
	}
	return digest, n, nil
}

// begins says whether a file begins as this one did.
func (k *keptFile) begins(path string, h heads) (bool, error) {
	digest, n, err := h.of(path, k.HeadN)
	return err == nil && n == k.HeadN && digest == k.Head, err
}

// cutOff says whether a file is this one, of which too little is left to tell by its beginning as it was.
func (k *keptFile) cutOff(path string, h heads) (bool, error) {
	digest, n, err := h.of(path, headLeast)
	return err == nil && n == headLeast && digest == k.Start, err
}

// resume reads a log on.
func (of *source) resume(ctx context.Context, o Options, step func(int)) (r *Resumed, err error) {
	r = &Resumed{Notes: []string{}}
	was, err := readKept(o.Resume)
	if err != nil {
		return nil, err
	}
	k := &keptScore{}
	if was != nil {
		k, r.Again = was, true
		of.restore(k)
	}
	before := of.Events
	reading, notes, err := k.match(of.files)
	if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, notes...)
	for n := range of.files {
		f := reading[n]
		if f == nil {
			step(int(of.files[n].bytes)) // it was read before
			continue
		}
		if err = of.read(ctx, n, f, step); err != nil {
			break
		}
		if !lines.Compressed(f.Path) {
			r.Waiting += max(0, of.files[n].bytes-f.Offset)
		}
	}
	r.New = of.Events - before
	if err != nil && !(ctx.Err() != nil && errors.Is(err, context.Cause(ctx))) {
		return nil, err // of a file: nothing is kept, so that nothing is counted twice
	}
	return r, errors.Join(err, of.keep(k, o.Resume))
}

// match the files that are there with those that were read before: what of each is to be read; nil: nothing.
func (k *keptScore) match(files []logFile) (reading []*keptFile, notes []string, err error) {
	reading = make([]*keptFile, len(files))
	h, taken, skipped := heads{}, map[*keptFile]bool{}, map[int]bool{}
	take := func(n int, f *keptFile) {
		if taken[f] = true; f.Done {
			f.Path, skipped[n] = files[n].path, true
			return
		}
		if !lines.Compressed(files[n].path) && files[n].bytes < f.Offset {
			notes = append(notes, fmt.Sprintf("%s has %d bytes, of which %d were read: it was cut off, and nothing of "+
				"it is read until it is longer", files[n].path, files[n].bytes, f.Offset))
			skipped[n] = true
			return
		}
		f.Path, reading[n] = files[n].path, f
	}
	// A file keeps its name, or has another one.
	for _, sameName := range []bool{true, false} {
		for n, file := range files {
			for _, f := range k.Files {
				if reading[n] != nil || skipped[n] || taken[f] || (f.Path == file.path) != sameName ||
					!sameName && f.HeadN < headLeast {
					continue
				}
				same, err := f.begins(file.path, h)
				if err == nil && !same && sameName && file.bytes < min(f.HeadN, f.Offset) {
					same, err = f.cutOff(file.path, h)
				}
				if err != nil {
					return nil, nil, err
				}
				if same {
					take(n, f)
				}
			}
		}
	}
	for n, file := range files {
		if reading[n] != nil || skipped[n] {
			continue
		}
		copied, err := k.copied(file.path, h)
		if err != nil {
			return nil, nil, err
		}
		if copied != "" {
			notes = append(notes, fmt.Sprintf("%s begins as %s, which was read: it is taken for a copy", file.path,
				copied))
			continue
		}
		f := &keptFile{Path: file.path}
		k.Files, reading[n], taken[f] = append(k.Files, f), f, true
	}
	for _, f := range k.Files {
		if !taken[f] && !f.Done {
			notes = append(notes, fmt.Sprintf("%s is gone, or another file is there now: what it had behind byte %d "+
				"was not read", f.Path, f.Offset))
			f.Done = true // which is said once
		}
	}
	for n, f := range reading {
		if f == nil {
			continue
		}
		if f.Head, f.HeadN, err = h.of(f.Path, headMost); err != nil {
			return nil, nil, err
		}
		if f.Start, _, err = h.of(f.Path, headLeast); err != nil {
			return nil, nil, err
		}
		f.whole = files[n].whole
	}
	return reading, notes, nil
}

// copied is the file that another one begins as; "" if there is none.
func (k *keptScore) copied(path string, h heads) (string, error) {
	for _, f := range k.Files {
		if f.HeadN < headLeast {
			continue
		}
		if same, err := f.begins(path, h); same || err != nil {
			return f.Path, err
		}
	}
	return "", nil
}

// readKept reads what was kept; nil: nothing, or by another version.
func readKept(path string) (*keptScore, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	k := &keptScore{}
	if err == nil {
		err = json.Unmarshal(text, k)
	}
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("read what was counted: %w", err),
			"remove "+path+" to count from the beginning")
	}
	if k.Schema != resumeSchema {
		return nil, nil
	}
	return k, nil
}

// ResumePath is where what was counted of a log is kept: of the same paths, divided by the same rules. Targets are no
// part of it.
func (o Options) ResumePath(state string) string {
	var paths []string
	for _, path := range o.Paths {
		if whole, err := filepath.Abs(path); err == nil {
			path = whole
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	prefix := ""
	if o.Prefix != nil {
		prefix = o.Prefix.String()
	}
	return filepath.Join(state, "scores", kept.Fingerprint(struct {
		Paths                  []string
		Prefix, Database, Zone string
		Gap                    time.Duration
	}{paths, prefix, o.Database, cmp.Or(o.Zone, time.Local).String(), cmp.Or(o.Gap, GapDefault)})+".json")
}

// HoldResume keeps other processes from going on with the same score until release is called.
func (o Options) HoldResume(ctx context.Context) (release func(), err error) {
	if err := dirs.Private(filepath.Dir(o.Resume)); err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("keep the score: %w", err),
			"PLIMSOLL_STATE names another state directory")
	}
	return kept.Hold(ctx, o.Resume, "score")
}

// keep what was counted so far.
func (of *source) keep(k *keptScore, path string) error {
	k.Schema, k.counted, k.Clock, k.Operations = resumeSchema, of.counted, of.clock.Steps(), map[string][]keptHour{}
	for name, op := range of.operations {
		for at, h := range op.hours {
			k.Operations[name] = append(k.Operations[name], keptHour{at.Unix(), *h})
		}
	}
	if of.sessions != nil {
		k.Pauses = &of.sessions.divided
	}
	err := kept.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(k) })
	if err != nil {
		err = problem.New(problem.Environment, fmt.Errorf("keep the score: %w", err), "is the disk full?")
	}
	return err
}

// restore what was counted.
func (of *source) restore(k *keptScore) {
	of.counted, of.clock = k.counted, techlog.ClockOf(k.Clock)
	for name, hours := range k.Operations {
		op := &collected{map[time.Time]*hour{}}
		for _, h := range hours {
			op.hours[time.Unix(h.Hour, 0).UTC()] = &h.hour
		}
		of.operations[name] = op
	}
	if of.sessions != nil && k.Pauses != nil {
		of.sessions.divided = *k.Pauses
	}
}

// clientsOf a file of a technological log as they were left.
func (k *keptFile) clientsOf() map[string]*client {
	clients := map[string]*client{}
	if k == nil {
		return clients
	}
	for id, events := range k.Clients {
		clients[id] = &client{events}
	}
	return clients
}

// keepClients for what follows.
func (k *keptFile) keepClients(clients map[string]*client) {
	k.Clients = map[string][]inner{}
	for id, of := range clients {
		if len(of.events) > 0 {
			k.Clients[id] = of.events
		}
	}
}

// place to read on from.
func (k *keptFile) place() lines.Place {
	if k == nil {
		return lines.Place{}
	}
	return k.Place
}

// growing file: what stands at its end may go on.
func (k *keptFile) growing() bool { return k != nil && !k.whole }

// left a file: at its end the entry that may go on is begun again, and one that was stopped goes on behind what it
// has read.
func (k *keptFile) left(r *lines.Reader, stopped error) {
	if k.Place = r.Place(); stopped != nil {
		return
	}
	if k.Done = !r.Growing; r.Growing {
		k.Place = r.Begun()
	}
}
