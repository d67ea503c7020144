package metadata

// Names in the database. They consist of checked metadata names only (see Check), so they need no quoting.

// Table holds the elements.
func (c *Catalog) Table() string { return "cat_" + c.Name }

// Table holds the headers.
func (d *Document) Table() string { return "doc_" + d.Name }

// SectionTable holds the rows of one tabular section of all documents of the type.
func (d *Document) SectionTable(s *Section) string { return d.Table() + "_" + s.Name }

// Table holds the movements.
func (r *Accumulation) Table() string { return "acc_" + r.Name }

// Totals holds turnovers by month, and the current balance in the period 'infinity'.
func (r *Accumulation) Totals() string { return r.Table() + "_totals" }

// Boundary holds, for a layered register, the moment from which layers may not have been used up in the order of time.
func (r *Accumulation) Boundary() string { return r.Table() + "_boundary" }

// Leading are the dimensions by which layers are grouped: all but the document and the line that brought them.
func (r *Accumulation) Leading() []Attribute {
	if r.Layered {
		return r.Dimensions[:len(r.Dimensions)-2]
	}
	return r.Dimensions
}

// Table holds the entries.
func (r *Accounting) Table() string { return "gl_" + r.Name }

// Totals holds turnovers by month, and those of all time in the period 'infinity'.
func (r *Accounting) Totals() string { return r.Table() + "_totals" }

// AccountTotals holds turnovers of whole accounts by month, whatever their analytics.
func (r *Accounting) AccountTotals() string { return r.Table() + "_accounts" }

// SQL is the type in the database.
func (a Attribute) SQL() string {
	switch a.Type {
	case Reference:
		return "uuid"
	case Quantity:
		return "numeric(18,3)"
	case Money:
		return "numeric(18,2)"
	case Integer:
		return "bigint"
	case Boolean:
		return "boolean"
	case Moment:
		return "timestamptz"
	}
	return "text"
}

// Array is the type of the parameter that carries a column of values.
func (a Attribute) Array() string {
	if a.Type == Quantity || a.Type == Money {
		return "numeric[]"
	}
	return a.SQL() + "[]"
}

// Zero is the literal of the value that means "not given".
func (a Attribute) Zero() string {
	switch a.Type {
	case Reference:
		return "'00000000-0000-0000-0000-000000000000'"
	case Quantity, Money, Integer:
		return "0"
	case Boolean:
		return "false"
	case Moment:
		return "'0001-01-01 00:00:00+00'"
	}
	return "''"
}

// BroughtAt is a column of the totals of layers: for a current total the date of the document that brought the layer,
// by which layers are ordered. Whoever brings layers, or moves their document in time, sets it in the same transaction,
// under the lock of the key. Totals of months have '-infinity'.
const BroughtAt = "brought_at"

// Open is a generated column of the totals of layers and of registers with IndexNonZero: whether the total is current
// and not zero. An index covers the open ones. It is a column because an update skips the indexes (HOT) as long as no
// indexed column changes: this one changes once in the life of a total, the resources with every movement.
const Open = "open"
