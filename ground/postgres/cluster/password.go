package cluster

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// passLine is a line of libpq's password file, which every client can use. Any host, port and database match, because
// the file belongs to one cluster.
const passLine = "*:*:*:" + Superuser + ":"

// newPassword has no character that pgpass or a URL would have to escape.
func newPassword() string { return rand.Text() }

func writePassword(dir, password string) error {
	return writeFile(filepath.Join(dir, "pgpass"), []byte(passLine+password+"\n"), 0o600)
}

// password is empty if the file may not be read: then connecting fails with a clear error.
func (c *Cluster) password() string {
	text, err := os.ReadFile(c.passFile())
	if err != nil {
		return ""
	}
	password, _ := strings.CutPrefix(strings.TrimSpace(string(text)), passLine)
	return password
}

// passwordFile is the file from which initdb, run as the server's user, reads the password.
func passwordFile(dir, password string, own func(string) error) (string, error) {
	path := filepath.Join(dir, "initdb-password")
	if err := writeFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", err
	}
	if err := own(path); err != nil {
		return "", fmt.Errorf("hand over password: %w", err)
	}
	return path, nil
}
