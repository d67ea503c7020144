package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

const walCompression = "wal_compression"

// optional are the methods of compression that a server may have been built without. All read pglz.
var optional = map[string]bool{"lz4": true, "zstd": true}

var compressionLine = regexp.MustCompile(`(?mi)^\s*wal_compression\s*(?:=\s*|\s)'?(\w+)`)

// logCompression is the method that the log was compressed with since the last start, according to the files of
// settings: the last one read wins. Empty: none is set.
func (c *Cluster) logCompression() string {
	auto, _ := c.readData("postgresql.auto.conf")
	user, _ := os.ReadFile(filepath.Join(c.dir, userConf))
	ours, _ := os.ReadFile(filepath.Join(c.dir, ourConf))
	for _, text := range [][]byte{auto, user, ours} {
		if all := compressionLine.FindAllSubmatch(text, -1); len(all) > 0 {
			return strings.ToLower(string(all[len(all)-1][1]))
		}
	}
	return ""
}

// ReadsLog fails if a server cannot read a log that is compressed so: it was built without the method. The server that
// wrote it can.
func ReadsLog(ctx context.Context, srv installation.Server, method string, wrote installation.Server) error {
	if !optional[method] {
		return nil
	}
	knows, err := srv.Settings(ctx)
	if err != nil {
		return err
	}
	if knows.Accepts(walCompression, method) || knows.Err() != nil {
		return knows.Err()
	}
	return problem.New(problem.Environment, fmt.Errorf("its log is compressed with %s, which %s (%s) was built without",
		method, srv, srv.Prefix), fmt.Sprintf("use a build of the same major version that has it "+
		"(configure --with-%s), such as that which wrote the log: %s", method, wrote.Prefix))
}

// readsItsLog refuses to start a server that could not recover the data. After an orderly stop there is nothing to
// recover. A standby reads its primary's log, too.
func (c *Cluster) readsItsLog(ctx context.Context, srv installation.Server) error {
	whole, err := c.stoppedInOrder()
	if err != nil || whole {
		return err
	}
	if err := ReadsLog(ctx, srv, c.logCompression(), c.marker.Server); err != nil || c.ReplicaOf == "" {
		return err
	}
	primary, err := c.store.Find(c.ReplicaOf)
	if err != nil {
		return nil // there is no primary any more whose log could come
	}
	return ReadsLog(ctx, srv, primary.logCompression(), primary.marker.Server)
}

// The state of the data in pg_control, behind the identifier and two versions. DB_SHUTDOWNED is a primary's orderly
// end.
const (
	controlStateAt = 16
	controlStopped = 1
)

func (c *Cluster) stoppedInOrder() (bool, error) {
	control, err := c.readData("global/pg_control")
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(control) < controlStateAt+4:
		return true, nil // the server says what is wrong with it
	case err != nil:
		return false, environment(fmt.Errorf("read state of the data: %w", err))
	}
	return binary.NativeEndian.Uint32(control[controlStateAt:]) == controlStopped, nil
}
