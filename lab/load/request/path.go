package request

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/lab/load/script"
)

// Path leads to a value in JSON: names and list positions, separated by dots, such as items.0.id.
type Path string

// In follows the path, which must end at a scalar.
func (p Path) In(tree any) (script.Value, error) {
	for _, step := range strings.Split(string(p), ".") {
		switch at := tree.(type) {
		case map[string]any:
			next, found := at[step]
			if !found {
				return script.Value{}, fmt.Errorf("the answer has no %s", p)
			}
			tree = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return script.Value{}, fmt.Errorf("the answer has no %s", p)
			}
			tree = at[i]
		default:
			return script.Value{}, fmt.Errorf("the answer has no %s", p)
		}
	}
	switch leaf := tree.(type) {
	case nil:
		return script.Value{}, nil
	case string:
		return script.Text(leaf), nil
	case json.Number:
		return script.Text(leaf.String()), nil
	case bool:
		return script.Text(strconv.FormatBool(leaf)), nil
	}
	return script.Value{}, fmt.Errorf("%s in the answer is not a single value", p)
}
