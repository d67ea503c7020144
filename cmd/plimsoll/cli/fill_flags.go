package cli

import (
	"strconv"

	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/fill"
)

// mostOfAnything bounds every count of a base, so that a typing error does not fill the disk.
const mostOfAnything = 100_000_000

// smallBase is what --small means: enough to try things, filled within seconds.
var smallBase = map[string]int{"documents": 200, "items": 100, "counterparties": 50, "warehouses": 4, "users": 20}

// setSmallSizes sets the sizes that were not given to those of a small base.
func setSmallSizes(fs *pflag.FlagSet) error {
	for name, size := range smallBase {
		if fs.Changed(name) {
			continue
		}
		if err := fs.Set(name, strconv.Itoa(size)); err != nil {
			return err
		}
	}
	return nil
}

// idle flags: sizes, if an existing base is only checked.
func (o *fillOptions) idle() []idle {
	sizes := []string{"scale", "size", "small", "documents", "items", "counterparties", "warehouses", "organisations",
		"users", "seed"}
	return []idle{
		{o.check, sizes, "applies only to filling; --check uses the existing base",
			"leave it out: the database records what was filled"},
		{o.compareCopy, sizes, "applies only to filling; --compare-copy uses the existing base",
			"leave it out: the database records what was filled"},
		{o.check || o.compareCopy || o.estimate, []string{"if-empty"}, "applies only to filling",
			"leave it out"},
	}
}

// fillFlags say how large a base is.
func fillFlags(fs *pflag.FlagSet, o *fillOptions) {
	fs.Float64Var(&o.scale, "scale", 0, "multiply the base of claim C02 by this `NUMBER`, 0.0001 to 1000, instead of "+
		"the counts below")
	fs.StringVar(&o.size, "size", "", "choose the scale that takes this `SIZE` on disk, such as 20GB")
	config.Count(fs, &o.streams, "streams", 0, 0, 256,
		"parallel streams that generate rows, and connections that load them; 0: one per core")
	for _, f := range []struct {
		p          *int
		name       string
		def, least int
		usage      string
	}{
		{&o.documents, "documents", fill.DocumentsDefault, 0,
			"documents in the history, in the proportions of claim C02"},
		{&o.items, "items", fill.ItemsDefault, 1, "items in the catalog"},
		{&o.counterparties, "counterparties", fill.CounterpartiesDefault, 1, "customers and suppliers"},
		{&o.warehouses, "warehouses", fill.WarehousesDefault, 1, "warehouses"},
		{&o.organisations, "organisations", fill.OrganisationsDefault, 1, "organisations, each with its own books"},
		{&o.users, "users", fill.UsersDefault, 1, "user accounts; a run's virtual users share them"},
		{&o.seed, "seed", 0, 0, "random seed"},
	} {
		config.Count(fs, f.p, f.name, f.def, f.least, mostOfAnything, f.usage)
	}
}
