package metadata

// Information is a register of facts known by a key: a document states them when it is posted, and no other document can
// state them for the same key.
type Information struct {
	Name  string
	Title string
	// Dimensions are the key.
	Dimensions []Attribute
	// Resources are what is known under it; there may be none, when that it is known is all.
	Resources []Attribute
	// Periodic means that what is stated holds from the moment of the document on, until something later is stated: the moment belongs
	// to the key.
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

// Table of a register of any kind; "" when there is none of that name.
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

// Locked is how many of its dimensions a lock of the register is on.
func (r *Accumulation) Locked() int {
	if r.LockBy > 0 {
		return r.LockBy
	}
	return len(r.Leading())
}

// LockName is the name its locks are taken in.
func (r *Accumulation) LockName() string {
	if r.LockAs != "" {
		return r.LockAs
	}
	return r.Name
}
