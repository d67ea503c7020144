package erp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/platform/worker/server"
	"plimsoll/test/patience"
)

// What the documentation tells to type does what it says.
func TestTheLinesOfTheDocumentation(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: no curl to type the documentation's lines with")
	}
	for file, want := range map[string][]string{
		"../docs/api.md": {
			`"posted":true,"version":1}`, `"supplier_number":"77"`, `"posted":true,"version":2}`,
			`"posted":false,"version":3}`, `"posted":true,"version":4}`,
			`"code":"refused"`, `"closing_debit"`, "round_trips",
			`supplier-order {"id"`, `goods-receipt {"id"`, `other-goods-receipt {"id"`, `service-purchase {"id"`,
			`invoice-received {"id"`, `payment-request {"id"`, `bank-payment {"id"`,
			`customer-order {"id"`, `goods-sale {"id"`, `service-sale {"id"`, `invoice-issued {"id"`,
			`bank-receipt {"id"`, `settlement-registrar {"id"`,
			`internal-consumption {"id"`, `asset-commissioning {"id"`, `warehouse-receipt-order {"id"`,
			`warehouse-issue-order {"id"`,
		},
		"../README.md": {`"posted":false,"version":2}`, `"code":"refused"`},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) { linesOf(t, file, want) })
	}
}

func linesOf(t *testing.T, file string, wanted []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db := schematest.Copy(t, "documented", func(db *database.Database) error {
		if err := erp.Migrate(context.Background(), db); err != nil {
			return err
		}
		_, err := fill.Run(context.Background(), db,
			fill.Options{Items: 20, Warehouses: 4, Counterparties: 5, Users: 3, Documents: 20,
				Until: time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)}) // the same base every day
		return err
	})
	base := erptest.Serve(t, databasetest.Connect(t, db.DSN, database.Options{}), server.Config{})
	script := "set -eu\n"
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		script += strings.Replace(block[1], "http://127.0.0.1:8080", base, 1) + "\n"
	}
	shell := exec.CommandContext(t.Context(), "bash")
	shell.Stdin, shell.WaitDelay = strings.NewReader(script), patience.Max
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := string(out)
	for _, want := range wanted {
		if !strings.Contains(said, want) {
			t.Errorf("no %s in\n%s", want, said)
		}
	}
	for _, wrong := range []string{`"code":"invalid"`, `"code":"changed"`, `"code":"not_found"`, `"code":"internal"`} {
		if strings.Contains(said, wrong) {
			t.Errorf("%s in\n%s", wrong, said)
		}
	}
	erptest.Clean(t, db.Database)
}
