package metadata

// Information is a register of facts by key: a document states them when it is posted, and no other document can state
// the same key.
type Information struct {
	Name  string
	Title string
	// Dimensions are the key.
	Dimensions []Attribute
	// Resources are the values of a fact; there may be none, if the fact itself is all.
	Resources []Attribute
	// Periodic: a fact holds from the document's moment on, until a later one is stated; the moment is part of the key.
	Periodic bool
}

// Table holds the records.
func (r *Information) Table() string { return "inf_" + r.Name }

// Constraint is the unique index of the key.
func (r *Information) Constraint() string { return r.Table() + "_key" }

// Fields are the dimensions and the resources.
func (r *Information) Fields() []Attribute {
	return append(append([]Attribute{}, r.Dimensions...), r.Resources...)
}

// Recorded are all registers that a document may record in.
func (d *Document) Recorded() []string {
	return append(append([]string{}, d.Registers...), d.Optional...)
}

// Table of a register of any kind; "" if there is none of that name.
func (a *Application) Table(register string) string {
	if r := a.Register(register); r != nil {
		return r.Table()
	}
	if r := a.Record(register); r != nil {
		return r.Table()
	}
	if r := a.Ledger(register); r != nil {
		return r.Table()
	}
	return ""
}

// Account finds an account of the chart by its code; nil when there is none.
func (r *Accounting) Account(code string) *Account {
	a, _ := find(r.Accounts, func(a *Account) bool { return a.Code == code })
	return a
}

// Locked is on how many of its dimensions a lock of the register is.
func (r *Accumulation) Locked() int {
	if r.LockBy > 0 {
		return r.LockBy
	}
	return len(r.Leading())
}

// LockName is the name under which its locks are taken.
func (r *Accumulation) LockName() string {
	if r.LockAs != "" {
		return r.LockAs
	}
	return r.Name
}
