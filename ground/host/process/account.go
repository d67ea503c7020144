package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"plimsoll/ground/problem"
)

// Account is the ordinary user that servers run as. Nil is the current user.
type Account struct {
	Name string
	UID  int
	GID  int
	all  []uint32 // all groups
}

// Accounts that servers may run as when we are root, best first. 'setup/install' creates the first; distributions'
// packages create the second.
var accountNames = []string{"plimsoll", "postgres"}

// ServerAccount chooses the user that runs PostgreSQL, which refuses to run as root. Nil unless we are root.
func ServerAccount() (*Account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	return firstAccount(accountNames)
}

func firstAccount(names []string) (*Account, error) {
	for _, name := range names {
		u, err := user.Lookup(name)
		if errors.As(err, new(user.UnknownUserError)) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look up user %s: %w", name, err)
		}
		return accountOf(u)
	}
	return nil, problem.New(problem.Environment,
		fmt.Errorf("PostgreSQL refuses to run as root, and there is no user %s or %s to run it as", names[0], names[1]),
		"create it: useradd --system --shell /usr/sbin/nologin plimsoll; or run as an ordinary user")
}

// OwnerOf is the account that a file belongs to; nil when that is us.
func OwnerOf(path string) (*Account, error) {
	uid, err := ownerUID(path)
	if err != nil || uid == os.Geteuid() {
		return nil, err
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return nil, fmt.Errorf("owner of %s: %w", path, err)
	}
	return accountOf(u)
}

func ownerUID(path string) (int, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, fmt.Errorf("owner of file: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("owner of %s: unknown on this system", path)
	}
	return int(stat.Uid), nil
}

func accountOf(u *user.User) (*Account, error) {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("groups of user %s: %w", u.Username, err)
	}
	a := &Account{Name: u.Username, UID: uid, GID: gid}
	for _, g := range groups {
		if n, err := strconv.ParseUint(g, 10, 32); err == nil {
			a.all = append(a.all, uint32(n))
		}
	}
	return a, nil
}

// Run makes cmd run as the account.
func (a *Account) Run(cmd *exec.Cmd) {
	if a == nil {
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID), Groups: a.all}
}

// WithPermissions runs look with the account's permissions on the file system, so that links which the account puts in
// our way lead only where it may go itself. On /proc it sees more than root does in a container without CAP_SYS_PTRACE.
// What look does must stay in its goroutine.
func (a *Account) WithPermissions(look func()) {
	if a == nil {
		look()
		return
	}
	runtime.LockOSThread() // the file system identity belongs to the thread
	defer runtime.UnlockOSThread()
	gid, _ := unix.SetfsgidRetGid(a.GID) // the group first, while we still may
	uid, _ := unix.SetfsuidRetUid(a.UID)
	defer func() {
		_, _ = unix.SetfsuidRetUid(uid)
		_, _ = unix.SetfsgidRetGid(gid)
	}()
	look()
}

// WithOwnerPermissions is WithPermissions with the permissions of a folder's owner.
func WithOwnerPermissions(dir string, look func()) error {
	owner, err := OwnerOf(dir)
	if err == nil {
		owner.WithPermissions(look)
	}
	return err
}

// Own makes the account the owner of a file or folder; it does not follow a symbolic link.
func (a *Account) Own(path string) error {
	if a == nil {
		return nil
	}
	if err := os.Lchown(path, a.UID, a.GID); err != nil {
		return fmt.Errorf("give %s to user %s: %w", path, a.Name, err)
	}
	return nil
}

// OwnOpen makes the account the owner of an open file, whatever its name leads to by now.
func (a *Account) OwnOpen(f *os.File) error {
	if a == nil {
		return nil
	}
	if err := f.Chown(a.UID, a.GID); err != nil {
		return fmt.Errorf("give %s to user %s: %w", f.Name(), a.Name, err)
	}
	return nil
}

// MayEnter judges a folder by its mode; it ignores access control lists.
func (a *Account) MayEnter(dir os.FileInfo) bool {
	stat, ok := dir.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	switch {
	case int(stat.Uid) == a.UID:
		return dir.Mode()&0o100 != 0
	case slices.Contains(a.all, stat.Gid):
		return dir.Mode()&0o010 != 0
	}
	return dir.Mode()&0o001 != 0
}
