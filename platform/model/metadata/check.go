package metadata

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// plain keeps names safe for SQL and URLs, and short enough for PostgreSQL with our prefixes and suffixes.
var plain = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// reserved are the columns that every table of a kind has anyway.
var reserved = map[string]bool{
	"id": true, "organisation": true, "code": true, "name": true, "number": true, "date": true, "posted": true,
	"author": true, "comment": true, "document": true, "line": true, "recorder": true, "recorder_type": true,
	"period": true, "expense": true, "version": true, "lines": true, "moment": true, "brought_at": true, "open": true,
	// SQL keywords that cannot be columns
	"order": true, "user": true, "group": true, "limit": true, "offset": true, "table": true, "column": true,
	"select": true, "from": true, "to": true,
	"check": true, "default": true, "desc": true, "end": true, "for": true, "grant": true, "in": true, "on": true,
	"or": true, "and": true, "references": true,
	"unique": true, "using": true, "when": true, "where": true, "with": true, "as": true, "all": true, "any": true,
	"case": true, "primary": true,
}

// working are columns that registers' statements use besides the register's own.
var working = map[string]bool{"place": true, "month": true, "required": true, "missing": true}

// Check finds all mistakes in the description, not only the first.
func (a *Application) Check() error {
	c := checker{app: a, tables: map[string]bool{}}
	for i := range a.Catalogs {
		c.catalog(&a.Catalogs[i])
	}
	for i := range a.Information {
		c.information(&a.Information[i])
	}
	for i := range a.Accumulation {
		c.accumulation(&a.Accumulation[i])
	}
	for i := range a.Accounting {
		c.accounting(&a.Accounting[i])
	}
	for _, name := range []string{a.Owners, a.Authors} {
		if _, ok := a.Catalog(name); name != "" && !ok {
			c.fail("organisations or users are in %q, which is not a catalog", name)
		}
	}
	closing := ""
	for i := range a.Documents {
		d := &a.Documents[i]
		if c.document(d); d.ReopenHint == "" {
			continue
		}
		if closing != "" {
			c.fail("%s and %s both close books", closing, d.Name)
		}
		closing = d.Name
	}
	return errors.Join(c.errs...)
}

type checker struct {
	app    *Application
	tables map[string]bool
	errs   []error
}

func (c *checker) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("metadata: "+format, args...))
}

func (c *checker) table(name string) {
	if !plain.MatchString(name) {
		c.fail("table name %q: only lower-case letters, digits and underscores are allowed", name)
	}
	if c.tables[name] {
		c.fail("%s is described twice", name)
	}
	c.tables[name] = true
}

func (c *checker) attributes(owner string, lists ...[]Attribute) {
	seen := map[string]bool{}
	for _, list := range lists {
		for _, a := range list {
			c.attribute(owner, a, seen)
		}
	}
}

func (c *checker) attribute(owner string, a Attribute, seen map[string]bool) {
	switch {
	case !plain.MatchString(a.Name) || reserved[a.Name]:
		c.fail("%s: attribute name %q cannot be used", owner, a.Name)
	case seen[a.Name]:
		c.fail("%s: attribute %s is described twice", owner, a.Name)
	case a.Type < Reference || a.Type > Moment:
		c.fail("%s.%s: unknown type", owner, a.Name)
	case a.Type == Text && a.Length < 1:
		c.fail("%s.%s: a text needs a length", owner, a.Name)
	case a.Type != Text && len(a.Among) > 0:
		c.fail("%s.%s: only a text has a list of values", owner, a.Name)
	}
	if a.Type == Reference {
		c.reference(owner, a)
	}
	seen[a.Name] = true
}

func (c *checker) reference(owner string, a Attribute) {
	for _, name := range a.Documents {
		if _, ok := c.app.Document(name); !ok {
			c.fail("%s.%s: refers to unknown document %q", owner, a.Name, name)
		}
	}
	if _, ok := c.app.Catalog(a.Catalog); !a.Document && a.Documents == nil && !ok {
		c.fail("%s.%s: refers to unknown catalog %q", owner, a.Name, a.Catalog)
	}
}

// stated references lead to a catalog or to documents of named types, so that they can be looked up.
func (c *checker) stated(owner string, attributes []Attribute) {
	for _, a := range attributes {
		if a.Type == Reference && a.Document {
			c.fail("%s.%s: the types of documents it refers to must be named", owner, a.Name)
		}
	}
}

func (c *checker) catalog(k *Catalog) {
	c.table(k.Table())
	c.attributes(k.Name, k.Attributes)
	for _, name := range k.Search {
		if a, ok := Find(k.Attributes, name); !ok || a.Type != Text {
			c.fail("%s: searches %q, which is not one of its text attributes", k.Name, name)
		}
	}
}

func (c *checker) information(r *Information) {
	c.table(r.Table())
	c.attributes(r.Name, r.Dimensions, r.Resources)
	if len(r.Dimensions) == 0 {
		c.fail("%s: a register needs dimensions", r.Name)
	}
}

func (c *checker) accumulation(r *Accumulation) {
	c.table(r.Table())
	c.table(r.Totals())
	if r.Layered {
		c.table(r.Boundary())
	}
	c.attributes(r.Name, r.Dimensions, r.Resources)
	for _, a := range slices.Concat(r.Dimensions, r.Resources) {
		if working[a.Name] {
			c.fail("%s: attribute name %q cannot be used in a register", r.Name, a.Name)
		}
	}
	if len(r.Dimensions) == 0 || len(r.Resources) == 0 {
		c.fail("%s: a register needs dimensions and resources", r.Name)
	}
	if r.Turnovers && (r.Controlled || r.Layered) || r.LockBy > len(r.Leading()) {
		c.fail("%s: turnovers cannot be controlled, and locks cover leading dimensions only", r.Name)
	}
	if r.IndexNonZero && (r.Turnovers || r.Layered) {
		c.fail("%s: turnovers have no balances to index, and layers already have an index", r.Name)
	}
	if r.Covers != "" {
		c.covers(r)
	}
	if r.SumIn != "" {
		c.sumIn(r)
	}
	for _, a := range r.Dimensions {
		if a.Type != Reference && a.Type != Integer {
			c.fail("%s.%s: a dimension is a reference or a number", r.Name, a.Name)
		}
	}
	if n := len(r.Dimensions); r.Layered &&
		(n < 3 || !r.Dimensions[n-2].Document || r.Dimensions[n-1].Type != Integer) {
		c.fail("%s: the last dimensions of layers are a document and a line", r.Name)
	}
	for _, a := range r.Resources {
		if a.Type != Quantity && a.Type != Money {
			c.fail("%s.%s: a resource is a quantity or money", r.Name, a.Name)
		}
	}
}

// covers: the covered register has the dimensions of the covering one, and the same locks guard it.
func (c *checker) covers(r *Accumulation) {
	covered := c.app.Register(r.Covers)
	if covered == nil || !r.Controlled || len(covered.Dimensions) < len(r.Dimensions) ||
		covered.LockName() != r.LockName() || covered.Locked() != r.Locked() {
		c.fail("%s: cannot cover %q: it must be controlled, and the other register "+
			"must have its dimensions and its locks", r.Name,
			r.Covers)
		return
	}
	for i, a := range r.Dimensions {
		if covered.Dimensions[i].Name != a.Name {
			c.fail("%s: %s, which it covers, has other dimensions", r.Name, r.Covers)
		}
	}
}

// sumIn: a register that sums layers has their leading dimensions, their resources and their locks.
func (c *checker) sumIn(r *Accumulation) {
	sum := c.app.Register(r.SumIn)
	if sum == nil || !r.Layered || sum.Layered || sum.Turnovers || sum.LockName() != r.LockName() ||
		sum.Locked() != r.Locked() ||
		!sameNames(sum.Dimensions, r.Leading()) || !sameNames(sum.Resources, r.Resources) {
		c.fail("%s: %q cannot be the sum of its layers: it must have their leading dimensions, their resources and "+
			"their locks", r.Name, r.SumIn)
	}
}

func sameNames(one, other []Attribute) bool {
	return slices.EqualFunc(one, other, func(a, b Attribute) bool { return a.Name == b.Name && a.Type == b.Type })
}

func (c *checker) accounting(r *Accounting) {
	c.table(r.Table())
	c.table(r.Totals())
	c.table(r.AccountTotals())
	if r.Splits < 1 || len(r.Accounts) == 0 {
		c.fail("%s: an accounting register needs accounts and at least one split", r.Name)
	}
	for _, a := range r.Accounts {
		if len(a.Analytics) > AnalyticsMax {
			c.fail("%s: account %s has more than %d analytics", r.Name, a.Code, AnalyticsMax)
		}
		for _, name := range a.Analytics {
			if _, ok := c.app.Catalog(name); !ok {
				c.fail("%s: account %s refers to unknown catalog %q", r.Name, a.Code, name)
			}
		}
	}
}

func (c *checker) document(d *Document) {
	c.table(d.Table())
	c.attributes(d.Name, d.Attributes)
	c.stated(d.Name, d.Attributes)
	if _, ok := c.app.Catalog(d.Name); ok {
		c.fail("%s: a catalog has the same name", d.Name)
	}
	for i := range d.Sections {
		s := &d.Sections[i]
		c.table(d.SectionTable(s))
		c.attributes(d.Name+"."+s.Name, s.Attributes)
		c.stated(d.Name+"."+s.Name, s.Attributes)
		if s.MaxRows < 1 {
			c.fail("%s.%s: a section needs a limit of rows", d.Name, s.Name)
		}
	}
	if len(d.Recorded()) == 0 {
		c.fail("%s: a document must record in at least one register", d.Name)
	}
	for _, name := range d.Recorded() {
		if c.app.Table(name) == "" {
			c.fail("%s: records in unknown register %q", d.Name, name)
		}
	}
	for _, name := range d.Search {
		if a, ok := Find(d.Attributes, name); !ok || a.Type != Reference {
			c.fail("%s: the list shows %q, which is not one of its references", d.Name, name)
		}
	}
}

// Find finds an attribute by name.
func Find(attributes []Attribute, name string) (*Attribute, bool) {
	return find(attributes, func(a *Attribute) bool { return a.Name == name })
}
