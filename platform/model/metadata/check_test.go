package metadata_test

import (
	"strings"
	"testing"

	"plimsoll/platform/model/metadata"
)

func validApplication() *metadata.Application {
	return &metadata.Application{
		Name: "test", Version: 1,
		Catalogs: []metadata.Catalog{{Name: "things",
			Attributes: []metadata.Attribute{{Name: "size", Type: metadata.Text, Length: 10}},
			Search:     []string{"size"}}},
		Accumulation: []metadata.Accumulation{{Name: "stock",
			Dimensions: []metadata.Attribute{{Name: "thing", Type: metadata.Reference, Catalog: "things"}},
			Resources:  []metadata.Attribute{{Name: "quantity", Type: metadata.Quantity}}}},
		Information: []metadata.Information{{Name: "codes",
			Dimensions: []metadata.Attribute{{Name: "word", Type: metadata.Text, Length: 5}}}},
		Accounting: []metadata.Accounting{{Name: "general", Splits: 1,
			Accounts: []metadata.Account{{Code: "1", Analytics: []string{"things"}}}}},
		Documents: []metadata.Document{{
			Name: "event", Registers: []string{"stock", "general"}, Search: []string{"thing"},
			Attributes: []metadata.Attribute{{Name: "thing", Type: metadata.Reference, Catalog: "things"}},
			Sections:   []metadata.Section{{Name: "lines", MaxRows: 1}},
		}},
	}
}

func TestCheck(t *testing.T) {
	if err := validApplication().Check(); err != nil {
		t.Fatalf("a sound description: %v", err)
	}
	for name, c := range map[string]struct {
		spoil func(*metadata.Application)
		want  string
	}{
		"InjectionInAName": {func(a *metadata.Application) {
			a.Catalogs[0].Name = "x; drop table " +
				"y"
		}, "only lower-case letters"},
		"NameTooLong": {func(a *metadata.Application) { a.Documents[0].Name = strings.Repeat("a", 41) },
			"only lower-case letters"},
		"ReservedAttribute": {func(a *metadata.Application) { a.Catalogs[0].Attributes[0].Name = "code" },
			"cannot be used"},
		"TwiceTheSameTable": {func(a *metadata.Application) { a.Catalogs = append(a.Catalogs, a.Catalogs[0]) },
			"described twice"},
		"TwiceTheSameAttribute": {func(a *metadata.Application) {
			c := &a.Catalogs[0]
			c.Attributes = append(c.Attributes, c.Attributes[0])
		}, "described twice"},
		"ReferenceToNothing": {func(a *metadata.Application) { a.Documents[0].Attributes[0].Catalog = "none" },
			"unknown catalog"},
		"TextWithoutLength": {func(a *metadata.Application) { a.Catalogs[0].Attributes[0].Length = 0 },
			"needs a length"},
		"NoType": {func(a *metadata.Application) { a.Catalogs[0].Attributes[0].Type = 0 },
			"unknown type"},
		"UnknownRegister": {func(a *metadata.Application) { a.Documents[0].Registers[0] = "none" },
			"unknown register"},
		"RegisterWithoutResources": {func(a *metadata.Application) { a.Accumulation[0].Resources = nil },
			"needs dimensions and resources"},
		"TextAsResource": {func(a *metadata.Application) { a.Accumulation[0].Resources[0].Type = metadata.Text },
			"quantity or money"},
		"QuantityAsDimension": {func(a *metadata.Application) {
			a.Accumulation[0].Dimensions[0].Type = metadata.Quantity
		}, "is a reference"},
		"ReferenceToNoDocument": {func(a *metadata.Application) {
			a.Documents[0].Attributes[0] = metadata.Attribute{Name: "basis", Type: metadata.Reference,
				Documents: []string{"none"}}
			a.Documents[0].Search = nil
		}, "unknown document"},
		"ReferenceToAnyDocument": {func(a *metadata.Application) {
			a.Documents[0].Attributes[0].Document = true
		}, "must be named"},
		"ADocumentNamedLikeACatalog": {func(a *metadata.Application) { a.Documents[0].Name = "things" },
			"has the same name"},
		"ADocumentThatRecordsNothing": {func(a *metadata.Application) { a.Documents[0].Registers = nil },
			"at least one register"},
		"UnknownOptionalRegister": {func(a *metadata.Application) { a.Documents[0].Optional = []string{"none"} },
			"unknown register"},
		"ARegisterWithoutAKey": {func(a *metadata.Application) { a.Information[0].Dimensions = nil },
			"needs dimensions"},
		"UnknownAnalytics": {func(a *metadata.Application) { a.Accounting[0].Accounts[0].Analytics = []string{"none"} },
			"unknown catalog"},
		"TooManyAnalytics": {func(a *metadata.Application) {
			a.Accounting[0].Accounts[0].Analytics = []string{"things", "things", "things", "things"}
		}, "more than 3"},
		"ControlledTurnovers": {func(a *metadata.Application) {
			a.Accumulation[0].Turnovers = true
			a.Accumulation[0].Controlled = true
		}, "cannot be controlled"},
		"IndexedTurnovers": {func(a *metadata.Application) {
			a.Accumulation[0].Turnovers = true
			a.Accumulation[0].IndexNonZero = true
		}, "no balances to index"},
		"LocksBeyondDimensions": {func(a *metadata.Application) { a.Accumulation[0].LockBy = 2 }, "leading dimensions"},
		"CoversNothing":         {func(a *metadata.Application) { a.Accumulation[0].Covers = "none" }, "cannot cover"},
		"ASumOfNoLayers": {func(a *metadata.Application) { a.Accumulation[0].SumIn = a.Accumulation[0].Name },
			"cannot be the sum"},
		"AWordOfSQL": {func(a *metadata.Application) { a.Catalogs[0].Attributes[0].Name = "order" },
			"cannot be used"},
		"ANameThatStatementsUse": {func(a *metadata.Application) { a.Accumulation[0].Dimensions[0].Name = "place" },
			"cannot be used in a register"},
		"NoSplits": {func(a *metadata.Application) { a.Accounting[0].Splits = 0 }, "at least one split"},
		"SectionWithoutLimit": {func(a *metadata.Application) { a.Documents[0].Sections[0].MaxRows = 0 },
			"limit of rows"},
		"SearchInNothing": {func(a *metadata.Application) { a.Documents[0].Search = []string{"none"} },
			"not one of its references"},
		"SearchInAReference": {func(a *metadata.Application) { a.Catalogs[0].Search = []string{"none"} },
			"not one of its text attributes"},
	} {
		t.Run(name, func(t *testing.T) {
			app := validApplication()
			c.spoil(app)
			if err := app.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want …%s…", err, c.want)
			}
		})
	}
}
