package cli

import (
	"os"
	"regexp"
	"testing"
)

func TestVersion_IsTheChangelogsNewest(t *testing.T) {
	text, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## ([0-9.]+) · \d{4}-\d\d-\d\d$`).FindSubmatch(text)
	if newest == nil || string(newest[1]) != release {
		t.Errorf("the program calls itself %s, the changelog's newest version is %s", release, newest)
	}
}

func TestVersion_NamesReleaseAndCommit(t *testing.T) {
	defer func(c, m string) { commit, modified = c, m }(commit, modified)
	commit, modified = "0123456789abcdef", "true"
	if got, want := software().Version, release+"+0123456789ab.modified"; got != want {
		t.Errorf("version %s, want %s", got, want)
	}
}
