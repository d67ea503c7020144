package agents

import (
	"testing"

	"plimsoll/test/golden"
)

// Agents of the previous version must understand these messages, or be refused by their Protocol.
func TestMessages_KeepTheirNames(t *testing.T) {
	t.Run("Hello", func(t *testing.T) { golden.Names[hello](t, "testdata/hello.json") })
	t.Run("Welcome", func(t *testing.T) { golden.Names[welcome](t, "testdata/welcome.json") })
	t.Run("Order", func(t *testing.T) { golden.Names[order](t, "testdata/order.json") })
	t.Run("Answer", func(t *testing.T) { golden.Names[answer](t, "testdata/answer.json") })
	t.Run("Report", func(t *testing.T) { golden.Names[report](t, "testdata/report.json") })
}
