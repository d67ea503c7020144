package cluster

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/problem"
	"plimsoll/test/files"
)

func TestReadReported(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"FatalWithDetailAndHint", `2026-01-02 03:04:05.678 UTC [7] LOG:  starting PostgreSQL
2026-01-02 03:04:05.678 UTC [7] FATAL:  could not create shared memory segment: Cannot allocate memory
2026-01-02 03:04:05.678 UTC [7] DETAIL:  Failed system call was shmget(key=1).
2026-01-02 03:04:05.678 UTC [7] HINT:  This error usually means …
`, []string{
			"could not create shared memory segment: Cannot allocate memory",
			"Failed system call was shmget(key=1).", "This error usually means …",
		}},
		{"BeforeThePrefixIsRead", "FATAL:  configuration file \"x\" contains errors\n",
			[]string{`configuration file "x" contains errors`}},
		{"WhatItLoggedAboutTheFile", "[7] LOG:  syntax error in file \"user.conf\" line 1\n[7] FATAL:  " +
			"configuration file contains errors\n",
			[]string{`syntax error in file "user.conf" line 1`, "configuration file contains errors"}},
		{"HintsOfHarmlessLinesAreLeftOut", "LOG:  checkpoint\nHINT:  nothing\nFATAL:  bad\n", []string{"bad"}},
		{"NotTheServersOwnWords", "postgres: error while loading shared libraries: libicu\n",
			[]string{"postgres: error while loading shared libraries: libicu"}},
		{"Silence", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, parseStartMessages(c.text).fatal); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStartFailure_SaysWhoseMoveItIs(t *testing.T) {
	c := &Cluster{store: Open(t.TempDir()), dir: "/x/a", marker: marker{Name: "a", Port: 20000}}
	for _, x := range []struct {
		name, text string
		class      problem.Class
		hint       string
	}{
		{"PortLostToAnother", "LOG:  could not bind IPv4 address \"127.0.0.1\": Address already in use\nFATAL:  " +
			"could not create any TCP/IP sockets\n", problem.Environment, "--port"},
		{"MemoryTooLarge", "FATAL:  could not map anonymous shared memory: Cannot allocate memory\n",
			problem.Environment, "--memory"},
		{"DiskFull", "FATAL:  could not write lock file \"postmaster.pid\": No space left on device\n",
			problem.Environment, "free disk space"},
		{"UsersFile", "LOG:  syntax error in file \"/x/a/user.conf\" line 1, near end of line\nFATAL:  " +
			"configuration file contains errors\n", problem.Usage, "/x/a/user.conf"},
		{"Unforeseen", "FATAL:  the moon is full\n", problem.Failure, "/x/a/log/postgres.log"},
	} {
		t.Run(x.name, func(t *testing.T) {
			err := c.startFailure(errors.New("ended"), parseStartMessages(x.text))
			if problem.ClassOf(err) != x.class || !strings.Contains(problem.HintOf(err), x.hint) {
				t.Errorf("class %v, hint %q of %v", problem.ClassOf(err), problem.HintOf(err), err)
			}
			last := strings.TrimSpace(x.text[strings.LastIndex(x.text, "FATAL:")+len("FATAL:"):])
			if !strings.Contains(err.Error(), last) {
				t.Errorf("%v lacks the server's words %q", err, last)
			}
		})
	}
}

func TestOpenServerLog(t *testing.T) {
	path := files.Write(t, t.TempDir(), "postgres.log", "FATAL:  of an earlier start\n")
	t.Run("ReadsBackOnlyThisStart", func(t *testing.T) {
		log := openLog(t, path)
		if _, err := log.WriteString("FATAL:  of this start\n"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"of this start"}, log.since().fatal); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("ALongOneMakesRoom", func(t *testing.T) {
		if err := os.Truncate(path, logBytesMax+1); err != nil {
			t.Fatal(err)
		}
		if log := openLog(t, path); log.start != 0 {
			t.Errorf("begins at %d", log.start)
		}
		if _, err := os.Stat(path + ".1"); err != nil {
			t.Error(err)
		}
	})
	t.Run("DoesNotFollowALink", func(t *testing.T) {
		link := path + ".link"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if log, err := openServerLog(link); err == nil {
			log.Close()
			t.Error("opened the link's target")
		}
	})
}

func openLog(t *testing.T, path string) *serverLog {
	t.Helper()
	log, err := openServerLog(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}
