package client

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"plimsoll/platform/data/id"
)

// office is what the users of an organisation have in common, whatever their warehouse: read once and shared by the
// directories of thousands of warehouses.
type office struct {
	load         loading
	warehouses   map[string]id.ID // by user
	customers    []deal           // in the order of the contracts' codes
	suppliers    []deal
	partnerNames []string
	documents    []id.ID // other users' sales, to show
	services     []id.ID
	departments  []id.ID
	expenseItems []id.ID
	bankAccounts []id.ID
	stock        stock
	stocked      atomic.Bool // more has been created
}

// the first caller loads it while the others wait; after a failure the next one tries again.
type loading struct {
	mutex sync.Mutex
	done  bool
}

func (l *loading) readOnce(read func() error) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.done {
		return nil
	}
	err := read()
	l.done = err == nil
	return err
}

// officeOf returns the office of an organisation, and loads it once.
func (c *Client) officeOf(ctx context.Context, s *Session, organisation string) (*office, error) {
	c.mutex.Lock()
	o := c.offices[organisation]
	if o == nil {
		o = &office{}
		c.offices[organisation] = o
	}
	c.mutex.Unlock()
	if err := o.load.readOnce(func() error { return o.read(ctx, c, s) }); err != nil {
		return nil, fmt.Errorf("read the lists shared by the users of an organisation: %w", err)
	}
	return o, nil
}

func (o *office) read(ctx context.Context, c *Client, s *Session) error {
	var partners, contracts struct{ Items []element }
	if err := c.fetch(ctx, s, "/v1/catalogs/counterparties", fmt.Sprintf("limit=%d", counterpartiesMax),
		&partners); err != nil {
		return err
	}
	if err := c.fetch(ctx, s, "/v1/catalogs/contracts", fmt.Sprintf("limit=%d", contractsMax), &contracts); err != nil {
		return err
	}
	o.customers, o.suppliers = contractSides(contracts.Items)
	if len(o.customers) == 0 || len(o.suppliers) == 0 {
		return fmt.Errorf("the database has contracts with %d customers and %d suppliers: run 'plimsoll fill' first",
			len(o.customers), len(o.suppliers))
	}
	_, o.partnerNames = ranked(partners.Items)
	if err := o.loadUsers(ctx, c, s); err != nil {
		return err
	}
	if err := o.loadMore(ctx, c, s); err != nil {
		return err
	}
	return o.loadStock(ctx, c, s)
}

// loadUsers reads where everybody works, page by page: one search for each log-in would read the whole catalog each
// time.
func (o *office) loadUsers(ctx context.Context, c *Client, s *Session) error {
	o.warehouses = map[string]id.ID{}
	return c.pages(ctx, s, "/v1/catalogs/users", func(e element) bool {
		o.warehouses[e.Code] = e.Warehouse
		return true
	})
}

// loadMore reads the catalogs that documents other than those of goods refer to.
func (o *office) loadMore(ctx context.Context, c *Client, s *Session) error {
	for _, list := range []struct {
		catalog string
		into    *[]id.ID
		fits    func(element) bool
	}{
		{"services", &o.services, nil}, {"departments", &o.departments, nil}, {"expense-items", &o.expenseItems, nil},
		{"cash-accounts", &o.bankAccounts, func(e element) bool { return e.Bank }},
	} {
		var found struct{ Items []element }
		if err := c.fetch(ctx, s, "/v1/catalogs/"+list.catalog, "limit=1000", &found); err != nil {
			return err
		}
		if list.fits != nil {
			found.Items = slices.DeleteFunc(found.Items, func(e element) bool { return !list.fits(e) })
		}
		if *list.into, _ = ranked(found.Items); len(*list.into) == 0 {
			return fmt.Errorf("the database has no %s: run 'plimsoll fill' first", list.catalog)
		}
	}
	return o.loadAssets(ctx, c, s)
}

// loadAssets finds assets that can be commissioned.
func (o *office) loadAssets(ctx context.Context, c *Client, s *Session) error {
	used := map[id.ID]bool{}
	if err := c.pages(ctx, s, "/v1/documents/asset-commissioning", func(e element) bool {
		used[e.Asset] = used[e.Asset] || e.Posted
		return true
	}); err != nil {
		return err
	}
	return c.pages(ctx, s, "/v1/catalogs/fixed-assets", func(e element) bool {
		if !used[e.ID] && c.mine(e.ID) {
			o.stock.toCommission.put(commissioned{asset: e.ID})
		}
		return o.stock.toCommission.count() < waitingMax
	})
}

// pages reads a list from its beginning, until all is read or visit has enough.
func (c *Client) pages(ctx context.Context, s *Session, path string, visit func(element) bool) error {
	position := "after"
	if strings.HasPrefix(path, documentsPath) {
		position = "before"
	}
	for last := ""; ; {
		var page struct {
			Items []element
			Next  string
		}
		query := "limit=1000"
		if last != "" {
			query += "&" + position + "=" + url.QueryEscape(last)
		}
		if err := c.fetch(ctx, s, path, query, &page); err != nil {
			return err
		}
		for _, e := range page.Items {
			if !visit(e) {
				return nil
			}
		}
		if page.Next == "" {
			return nil
		}
		if page.Next == last {
			return fmt.Errorf("%s: the page after %s repeats the previous page", path, last)
		}
		last = page.Next
	}
}

// contractSides finds the counterparties with a contract on each side.
func contractSides(contracts []element) (customers, suppliers []deal) {
	slices.SortFunc(contracts, func(a, b element) int { return cmp.Compare(a.Code, b.Code) })
	for _, e := range contracts {
		if e.Customer {
			customers = append(customers, deal{e.Counterparty, e.ID})
		} else {
			suppliers = append(suppliers, deal{e.Counterparty, e.ID})
		}
	}
	return customers, suppliers
}
