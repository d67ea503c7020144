package metadata

// Names in the database. They are made of checked metadata names only (see Check), so that
// they stand in statements as they are.

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

// Boundary holds, of a layered register, from which moment on layers may not have been used up in the order of time.
func (r *Accumulation) Boundary() string { return r.Table() + "_boundary" }

// Leading are the dimensions that layers lie under: all but the document and the line that brought them.
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

// Zero is the literal of the value that stands for "not given".
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

// BroughtAt is a column of the totals of layers: of a current one, the date of the document that brought the layer, for the order in which layers are used up.
// Whoever brings layers, or moves their document in time, notes it in the same transaction, under the lock of the key. Totals of months have '-infinity'.
const BroughtAt = "brought_at"

// Open is a column of the totals of layers and of what is awaited, which the database computes: whether it is a current one with anything left. They have an index of the open ones. It is
// a column because an update stays off the indexes (HOT) as long as no column that they name changes: this one does once in the life of a total, the resources at every movement.
const Open = "open"
