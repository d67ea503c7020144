package reports_test

import (
	"testing"

	"plimsoll/platform/data/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }
