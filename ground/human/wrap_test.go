package human

import "testing"

func TestHanging(t *testing.T) {
	check(t, map[string]written{
		"OneLine": {Hanging("  seen  ", "a lock", 40, 2), "  seen  a lock\n"},
		"Indented": {Hanging("  seen  ", "sessions wait for a lock of the table", 30, 0),
			"  seen  sessions wait for a\n        lock of the table\n"},
		"Cut": {Hanging("  seen  ", "sessions wait for a lock of the table", 30, 1),
			"  seen  sessions wait for a …\n"},
		"Nothing": {Hanging("  seen  ", "", 30, 1), ""},
	})
}
