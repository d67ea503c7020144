package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/password"
	"plimsoll/platform/worker/secret"
)

type passwdOptions struct {
	target
	all, remove bool
	file        string
	users       []string
}

func (a *app) addPasswd(root *cobra.Command) {
	var o passwdOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "passwd [flags] USER... | --all",
		Short: "Set or remove passwords of users",
		Long: `Set the password of users of the ERP, for workers that ask for it ('plimsoll serve
--passwords'). Type it in, or give it with --password-file or through a pipe: one line of 12 to
72 characters. The database stores a bcrypt hash.

A change takes effect at the next log-in; open sessions stay open. 'plimsoll reset' removes all
passwords, because a filled base has none.`,
		Example: `  plimsoll passwd u00001
  plimsoll passwd --all --password-file load.password    the users of a load test
  plimsoll passwd --remove u00001`,
		Args: cobra.ArbitraryArgs,
	}, func(ctx context.Context, args []string) error {
		o.users = args
		return a.passwd(ctx, o)
	})
	fs := c.Flags()
	fs.BoolVar(&o.all, "all", false, "all users; they share the password")
	fs.BoolVar(&o.remove, "remove", false, "remove the password: the user can no longer log in where passwords are "+
		"required")
	config.FlagOnly(fs, "all", "remove")
	passwordFlag(c, &o.file, "`FILE` with the password")
	a.targetFlags(c, &o.target)
}

// passwordFlag is the same setting of who sets passwords and who logs in with them.
func passwordFlag(c *cobra.Command, file *string, usage string) {
	c.Flags().StringVar(file, "password-file", "", usage)
	config.Share(c.Flags(), "password-file")
}

func (a *app) passwd(ctx context.Context, o passwdOptions) error {
	if o.all == (len(o.users) > 0) {
		return problem.New(problem.Usage, errors.New("no users are named"),
			"name them, such as plimsoll passwd u00001, or give --all")
	}
	db, err := a.open(ctx, o.target, database.Options{Connections: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := erp.Migrate(ctx, db); err != nil {
		return err
	}
	users, err := erp.UserIDs(ctx, db, o.users)
	if err != nil {
		return problem.New(problem.Usage, err, "users are called u00001, u00002, …")
	}
	if o.remove {
		removed, err := password.Remove(ctx, db, users)
		if err != nil {
			return err
		}
		return a.showPasswords(removed, "removed")
	}
	text, err := a.newPassword(o.file)
	if err != nil {
		return err
	}
	if err := password.Set(ctx, db, users, text); errors.Is(err, password.ErrTooLong) {
		return problem.New(problem.Usage, err, "")
	} else if err != nil {
		return err
	}
	return a.showPasswords(int64(len(users)), "set")
}

func (a *app) showPasswords(n int64, what string) error {
	return a.answerLine(map[string]int64{what: n}, "passwords %s: %d", what, n)
}

// newPassword comes from a file, a person or a pipe.
func (a *app) newPassword(file string) (string, error) {
	if file != "" {
		return secret.File(file)
	}
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return secret.Read(a.stdin)
	}
	var typed [2]string
	for i, prompt := range []string{"new password: ", "repeat it: "} {
		fmt.Fprint(a.stderr, prompt)
		text, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(a.stderr)
		if err != nil {
			return "", fmt.Errorf("read password: %w", err)
		}
		typed[i] = string(text)
	}
	if typed[0] != typed[1] {
		return "", problem.New(problem.Usage, errors.New("the two passwords differ; nothing was changed"), "")
	}
	return secret.Read(strings.NewReader(typed[0]))
}
