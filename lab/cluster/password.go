package cluster

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// passLine is the format of libpq's password file, so that every client can use
// it as it is; any host, port and database, because the file is the cluster's own.
const passLine = "*:*:*:" + Superuser + ":"

// newPassword holds no character that pgpass or a URL would have to escape.
func newPassword() string { return rand.Text() }

func writePassword(dir, password string) error {
	return writeFile(filepath.Join(dir, "pgpass"), []byte(passLine+password+"\n"), 0o600)
}

// password is empty where the file may not be read: then connecting fails and says so.
func (c *Cluster) password() string {
	text, err := os.ReadFile(c.passFile())
	if err != nil {
		return ""
	}
	password, _ := strings.CutPrefix(strings.TrimSpace(string(text)), passLine)
	return password
}

// passwordFile is what initdb reads the password from; it runs as the server's user.
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
