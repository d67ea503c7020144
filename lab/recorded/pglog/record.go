package pglog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// LogsAll are options of a session, as a connection string takes them, by which its server logs all that a replay needs
// of it. Only a superuser may set them.
const LogsAll = "-c log_min_duration_statement=0 -c log_statement=none -c log_duration=off " +
	"-c log_parameter_max_length=-1 -c log_parameter_max_length_on_error=-1"

// RecordName is the file of a recording.
const RecordName = "postgresql.log"

// Recording takes a copy of what a server on this machine logs while it lasts.
type Recording struct {
	log  *os.File
	from int64
	to   *os.File
}

// Record from the end of a server's log on, to a folder, which must be empty or missing.
func Record(log, dir string) (r *Recording, err error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty", dir)
	}
	// No link is followed: root may read here, in a folder of another user.
	in, err := os.OpenFile(log, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("read the server's log: %w", err)
	}
	from, err := in.Seek(0, io.SeekEnd)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	// What users wrote is in it.
	to, err := os.OpenFile(filepath.Join(dir, RecordName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &Recording{in, from, to}, nil
}

// Close ends the recording: how many bytes it has.
func (r *Recording) Close() (n int64, err error) {
	if _, err = r.log.Seek(r.from, io.SeekStart); err == nil {
		n, err = io.Copy(r.to, r.log)
	}
	return n, errors.Join(err, r.to.Close(), r.log.Close())
}
