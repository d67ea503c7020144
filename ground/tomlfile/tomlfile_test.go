package tomlfile

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/ground/problem"
)

func TestParse_KnowsTheLineOfEveryKeyInOrder(t *testing.T) {
	f, err := Parse("x.toml", `title = "a"

[roles.clerk]
users = 3
weights = { "goods.post" = 2,
  list = 1.5 }
[operations."goods.post"]
sql = '''
select 1
'''
target = "1s"
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range f.Entries {
		if !e.Table {
			got = append(got, fmt.Sprintf("%s@%d", strings.Join(e.Key, "/"), e.Line))
		}
	}
	const want = "title@1 roles/clerk/users@4 roles/clerk/weights/goods.post@5 roles/clerk/weights/list@6 " +
		"operations/goods.post/sql@8 operations/goods.post/target@11"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestParse_SaysWhereTheSyntaxIsWrong(t *testing.T) {
	_, err := Parse("x.toml", "a = 1\nb = \n")
	if err == nil || !strings.HasPrefix(err.Error(), "x.toml:2: ") || problem.ClassOf(err) != problem.Usage {
		t.Error(err)
	}
}
