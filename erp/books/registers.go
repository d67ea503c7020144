package books

import (
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
	"plimsoll/platform/model/metadata"
)

// Register is an accumulation register: rules need balances of it, lock parts of it and move it.
type Register struct{ meta *metadata.Accumulation }

func accumulation(meta metadata.Accumulation) Register { return Register{&meta} }

// Name of the register.
func (r Register) Name() string { return r.meta.Name }

// Meta describes the register.
func (r Register) Meta() *metadata.Accumulation { return r.meta }

// Key is one combination of the first dimensions.
func (r Register) Key(values ...id.ID) *rowset.Table { return r.Keys(values) }

// keyMax is how many dimensions a key can have.
const keyMax = 4

// Keys are combinations of the first dimensions: each row once, in the order given.
func (r Register) Keys(rows ...[]id.ID) *rowset.Table {
	dimensions := 0
	if len(rows) > 0 {
		dimensions = len(rows[0])
	}
	table, seen := rowset.New(r.meta.Dimensions[:dimensions], len(rows)), map[[keyMax]id.ID]bool(nil)
	if len(rows) > 1 {
		seen = make(map[[keyMax]id.ID]bool, len(rows))
	}
	for _, row := range rows {
		var key [keyMax]id.ID
		copy(key[:], row)
		if !seen[key] {
			if seen != nil {
				seen[key] = true
			}
			to := table.Grow(1)
			for i, v := range row {
				*table.Cell(i, to).(*id.ID) = v
			}
		}
	}
	return table
}

// ItemKeys are combinations of a first dimension and each item of the document's lines.
func (r Register) ItemKeys(d *document.Document, first id.ID) *rowset.Table {
	items, _ := distinct(Item.Of(Lines(d)))
	table := rowset.New(r.meta.Dimensions[:2], len(items))
	table.Grow(len(items))
	firsts := rowset.ColumnAt[id.ID](table, 0)
	for i := range firsts {
		firsts[i] = first
	}
	copy(rowset.ColumnAt[id.ID](table, 1), items)
	return table
}

// Need is for the balances under keys, read under their locks.
func (r Register) Need(d *document.Document, keys *rowset.Table) posting.Need {
	return posting.Need{Register: r.Name(), Keys: keys, Lock: r.Lock(d, keys)}
}

// Lock is for the locks of keys alone.
func (r Register) Lock(d *document.Document, keys *rowset.Table) posting.Lock {
	return func() []lock.Key { return register.Locks(r.meta, d.Organisation, keys) }
}

// Balances are what the rules needed of the register: the resources of each key in the same row.
func (r Register) Balances(facts *posting.Facts) *rowset.Table { return facts.Balances[r.Name()] }

// Layers are what the rules needed of a layered register.
func (r Register) Layers(facts *posting.Facts) *register.Layers { return facts.Layers[r.Name()] }

// Movements is an empty record set with room for so many movements.
func (r Register) Movements(capacity int) *register.Movements {
	return register.NewMovements(r.meta, capacity)
}

// Information is an information register: documents state records in it, each once.
type Information struct{ meta *metadata.Information }

func stated(meta metadata.Information) Information { return Information{&meta} }

// Name of the register.
func (r Information) Name() string { return r.meta.Name }

// Meta describes the register.
func (r Information) Meta() *metadata.Information { return r.meta }

// State is a record set of one record: the values of the dimensions and the resources in their order.
func (r Information) State(values ...any) *information.Records {
	records := information.NewRecords(r.meta)
	records.Rows.Append(values...)
	return records
}

// Ledger is an accounting register.
type Ledger struct{ meta *metadata.Accounting }

// Name of the register.
func (l Ledger) Name() string { return l.meta.Name }

// Meta describes the register.
func (l Ledger) Meta() *metadata.Accounting { return l.meta }

// Entry of a ledger.
type Entry struct {
	Debit, Credit ledger.Account
	Sum           amount.Money
}

// DebitCredit is the entry of a sum in the debit of one account and the credit of another one.
func DebitCredit(debit, credit ledger.Account, sum amount.Money) Entry {
	return Entry{debit, credit, sum}
}

// Entries are the record set of a document: those of a zero sum are left out except for the first, so that every
// posted document can be found in the ledger.
func (l Ledger) Entries(entries ...Entry) []*ledger.Entries {
	e := &ledger.Entries{Ledger: l.Name()}
	for i, x := range entries {
		if i == 0 || x.Sum != 0 {
			e.Add(x.Debit, x.Credit, x.Sum)
		}
	}
	return []*ledger.Entries{e}
}
