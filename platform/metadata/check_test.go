package metadata_test

import (
	"strings"
	"testing"

	"plimsoll/platform/metadata"
)

func sound() *metadata.Application {
	return &metadata.Application{
		Name: "test", Version: 1,
		Catalogs:     []metadata.Catalog{{Name: "things", Attributes: []metadata.Attribute{{Name: "size", Type: metadata.Text, Length: 10}}, Search: []string{"size"}}},
		Accumulation: []metadata.Accumulation{{Name: "stock", Dimensions: []metadata.Attribute{{Name: "thing", Type: metadata.Reference, Catalog: "things"}}, Resources: []metadata.Attribute{{Name: "quantity", Type: metadata.Quantity}}}},
		Accounting:   []metadata.Accounting{{Name: "general", Splits: 1, Accounts: []metadata.Account{{Code: "1"}}}},
		Documents: []metadata.Document{{
			Name: "event", Registers: []string{"stock", "general"}, Search: []string{"thing"},
			Attributes: []metadata.Attribute{{Name: "thing", Type: metadata.Reference, Catalog: "things"}}, Sections: []metadata.Section{{Name: "lines", MaxRows: 1}},
		}},
	}
}

func TestCheck(t *testing.T) {
	if err := sound().Check(); err != nil {
		t.Fatalf("a sound description: %v", err)
	}
	for name, c := range map[string]struct {
		spoil func(*metadata.Application)
		want  string
	}{
		"InjectionInAName":  {func(a *metadata.Application) { a.Catalogs[0].Name = "x; drop table y" }, "not plain"},
		"NameTooLong":       {func(a *metadata.Application) { a.Documents[0].Name = strings.Repeat("a", 41) }, "not plain"},
		"ReservedAttribute": {func(a *metadata.Application) { a.Catalogs[0].Attributes[0].Name = "code" }, "cannot be used"},
		"TwiceTheSameTable": {func(a *metadata.Application) { a.Catalogs = append(a.Catalogs, a.Catalogs[0]) }, "described twice"},
		"TwiceTheSameAttribute": {func(a *metadata.Application) {
			c := &a.Catalogs[0]
			c.Attributes = append(c.Attributes, c.Attributes[0])
		}, "described twice"},
		"ReferenceToNothing":       {func(a *metadata.Application) { a.Documents[0].Attributes[0].Catalog = "none" }, "unknown catalog"},
		"TextWithoutLength":        {func(a *metadata.Application) { a.Catalogs[0].Attributes[0].Length = 0 }, "needs a length"},
		"NoType":                   {func(a *metadata.Application) { a.Catalogs[0].Attributes[0].Type = 0 }, "no such type"},
		"UnknownRegister":          {func(a *metadata.Application) { a.Documents[0].Registers[0] = "none" }, "unknown register"},
		"RegisterWithoutResources": {func(a *metadata.Application) { a.Accumulation[0].Resources = nil }, "needs dimensions and resources"},
		"TextAsResource":           {func(a *metadata.Application) { a.Accumulation[0].Resources[0].Type = metadata.Text }, "quantity or money"},
		"QuantityAsDimension":      {func(a *metadata.Application) { a.Accumulation[0].Dimensions[0].Type = metadata.Quantity }, "is a reference"},
		"NoSplits":                 {func(a *metadata.Application) { a.Accounting[0].Splits = 0 }, "at least one split"},
		"SectionWithoutLimit":      {func(a *metadata.Application) { a.Documents[0].Sections[0].MaxRows = 0 }, "limit of rows"},
		"SearchInNothing":          {func(a *metadata.Application) { a.Documents[0].Search = []string{"none"} }, "not one of its references"},
		"SearchInAReference":       {func(a *metadata.Application) { a.Catalogs[0].Search = []string{"none"} }, "not one of its texts"},
	} {
		t.Run(name, func(t *testing.T) {
			app := sound()
			c.spoil(app)
			if err := app.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want …%s…", err, c.want)
			}
		})
	}
}
