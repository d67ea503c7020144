package scale_test

import (
	"testing"

	"plimsoll/test/program"
)

func TestMain(m *testing.M) { program.Main(m) }
