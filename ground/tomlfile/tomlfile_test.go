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

// A list of tables has its own line for each of them, and so have their keys; lists and tables written in one line too.
func TestParse_KnowsTheLinesOfListsOfTables(t *testing.T) {
	f, err := Parse("x.toml", `[[op.order.steps]]
url = "/a"
extract.id = "x"

[[op.order.steps]]
url = """
/b"""
[op.order.steps.form]
"a.b" = 1
[op.look]
steps = [
  { url = "/c", form = { n = 2 } },
  { url = "/d" },
]
plain = [1, 2]
[[op.order.steps]]
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range f.Entries {
		value := ""
		if s, is := e.Raw.(string); is {
			value = "=" + s
		}
		got = append(got, fmt.Sprintf("%s@%d%s", strings.Join(e.Key, "/"), e.Line, value))
	}
	const want = "op@1 op/order@1 op/order/steps@1 op/order/steps/1@1 op/order/steps/1/url@2=/a " +
		"op/order/steps/1/extract@3 op/order/steps/1/extract/id@3=x op/order/steps/2@5 op/order/steps/2/url@6=/b " +
		"op/order/steps/2/form@8 op/order/steps/2/form/a.b@9 op/look@10 op/look/steps@11 op/look/steps/1@12 " +
		"op/look/steps/1/url@12=/c op/look/steps/1/form@12 op/look/steps/1/form/n@12 op/look/steps/2@13 " +
		"op/look/steps/2/url@13=/d op/look/plain@15 op/order/steps/3@16"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

// Whatever the decoder accepts has a line within the file for each of its keys, and the value of each.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a = 1\n", "[[a]]\nb.c = 1\n[[a]]\n", "a = [{b = 1}, {b = [{c = 2}]}]",
		"[a.b]\n[a]\n",
		"a = \"\"\"\n\n\"\"\"\nb = 1979-05-27", "[[a]]\n[[a.b]]\n[a.b.c]\nd = {}\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("x.toml", text)
		if err != nil {
			if problem.ClassOf(err) != problem.Usage {
				t.Error(err)
			}
			return
		}
		for _, e := range file.Entries {
			if e.Line < 1 || e.Line > 1+strings.Count(text, "\n") || e.Raw == nil {
				t.Errorf("%q: %+v", text, e)
			}
		}
	})
}

func TestParse_SaysWhereTheSyntaxIsWrong(t *testing.T) {
	_, err := Parse("x.toml", "a = 1\nb = \n")
	if err == nil || !strings.HasPrefix(err.Error(), "x.toml:2: ") || problem.ClassOf(err) != problem.Usage {
		t.Error(err)
	}
}
