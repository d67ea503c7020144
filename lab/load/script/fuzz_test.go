package script

import (
	"errors"
	"strings"
	"testing"
)

// A script that cannot be read has a mistake in one of its lines; one that can is read the same each time.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"SELECT 1;",
		"\\set id random(1, 10 * :scale)\nUPDATE a SET b = :id WHERE c = :'x';",
		"\\if :a > 1\nSELECT 1 \\gset p_\n\\elif :b\nSELECT 2;\n\\else\n\\sleep 1 ms\n\\endif",
		"\\startpipeline\nSELECT 1;\n\\syncpipeline\nSELECT 2;\n\\endpipeline",
		"SELECT $a$ ; $a$, 'it''s', \"q\"\"q\", E'\\'' /* /* ; */ */ -- ;\n;",
		"\\set a case when true then 1 else -2.5e3 end",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, err := Parse(text)
		if err == nil {
			if again, err := Parse(text); err != nil || len(again.commands) != len(script.commands) {
				t.Errorf("read twice: %d and %d commands, %v", len(script.commands), len(again.commands), err)
			}
			return
		}
		var mistake *Mistake
		if !errors.As(err, &mistake) {
			t.Fatalf("not a mistake of the script: %v", err)
		}
		if lines := strings.Count(text, "\n") + 1; mistake.Line < 1 || mistake.Line > lines || mistake.Says == "" {
			t.Errorf("line %d of %d: %q", mistake.Line, lines, mistake.Says)
		}
	})
}

func FuzzParseExpression(f *testing.F) {
	for _, text := range []string{"1 + 2 * 3", "random_zipfian(1, :n, 1.07)", "case when :a is null then 1 end",
		"-9223372036854775808", "not (1 <> 2) and 3 between 1 and 5", "'x", "((((", ":"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, first := ParseExpression(text)
		if _, second := ParseExpression(text); (first == nil) != (second == nil) {
			t.Errorf("read twice: %v, then %v", first, second)
		}
	})
}
