package cli

import (
	"os/exec"
	"strings"
	"testing"
)

func TestCompletion_ScriptsAreGivenForEachShell(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			o := plimsoll(t, "completion", shell)
			o.want(t, ExitOK)
			if len(o.stdout) < 500 || !strings.Contains(o.stdout, "plimsoll") {
				t.Errorf("no script: %s", o.stdout)
			}
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("SKIP: no %s here to check the script", shell)
			}
			check := exec.Command(program, "-n")
			check.Stdin = strings.NewReader(o.stdout)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s does not read it: %v\n%s", shell, err, out)
			}
		})
	}
}

func TestCompletion_KnowsCommandsFlagsAndWords(t *testing.T) {
	freshState(t)
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"Commands", []string{""}, []string{"run", "up", "prove"}},
		{"Flags", []string{"run", "--us"}, []string{"--users"}},
		{"Claims", []string{"prove", ""}, []string{"C01", "C55"}},
		{"Shells", []string{"completion", ""}, []string{"bash", "zsh", "fish"}},
		{"Engines", []string{"up", "--engine", ""}, []string{"plimsoll", "vanilla", "system"}},
		{"Choices", []string{"up", "--flavour", ""}, []string{"plimsoll", "vanilla"}},
		{"HelpTopics", []string{"help", ""}, []string{"run"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := plimsoll(t, append([]string{"__complete"}, c.args...)...)
			for _, word := range c.want {
				if !strings.Contains("\n"+o.stdout, "\n"+word) {
					t.Errorf("%q is not offered:\n%s", word, o.stdout)
				}
			}
			if strings.Contains("\n"+o.stdout, "\nkeep") {
				t.Errorf("the hidden command is offered:\n%s", o.stdout)
			}
		})
	}
}
