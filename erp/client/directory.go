package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"plimsoll/platform/data/id"
)

const (
	// itemsMax is how many items of a warehouse its users work with.
	itemsMax          = 5000
	counterpartiesMax = 1000
	contractsMax      = 1000
	namesMax          = 100
	documentsMax      = 50 // sales to look at
)

// directory is what the users of a warehouse see on their screens, shared by all of them. Lists are in the order of
// codes, the hottest first.
type directory struct {
	*office
	load      loading
	warehouse id.ID
	items     []id.ID
	itemNames []string
	materials []id.ID // of the items
}

// deal is a contract and its counterparty.
type deal struct{ counterparty, contract id.ID }

// element is a row of a catalog or report, as far as needed.
type element struct {
	ID           id.ID
	Item         id.ID
	Counterparty id.ID
	Customer     bool
	Bank         bool
	Posted       bool  // of a document
	Asset        id.ID // of a document
	Account      string
	Warehouse    id.ID
	Code         string
	Name         string
}

// directoryOf returns the directory of the user's warehouse, and loads it once.
func (c *Client) directoryOf(ctx context.Context, s *Session, user, organisation string) (*directory, error) {
	o, err := c.officeOf(ctx, s, organisation)
	if err != nil {
		return nil, err
	}
	warehouse, found := o.warehouses[user]
	if !found {
		return nil, fmt.Errorf("user %s is not in the catalog", user)
	}
	return c.directoryAt(ctx, s, o, warehouse)
}

// directoryAt returns the directory of a warehouse of the office.
func (c *Client) directoryAt(ctx context.Context, s *Session, o *office, warehouse id.ID) (*directory, error) {
	c.mutex.Lock()
	d := c.known[warehouse]
	if d == nil {
		d = &directory{office: o, warehouse: warehouse}
		c.known[warehouse] = d
	}
	c.mutex.Unlock()
	if err := d.load.readOnce(func() error { return d.read(ctx, c, s) }); err != nil {
		return nil, fmt.Errorf("read the lists for the screens of warehouse %s: %w", warehouse, err)
	}
	return d, nil
}

func (d *directory) read(ctx context.Context, c *Client, s *Session) error {
	var stock struct{ Rows []element }
	var items struct{ Items []element }
	if err := c.fetch(ctx, s, "/v1/reports/stock", fmt.Sprintf("warehouse=%s&limit=%d", d.warehouse, itemsMax),
		&stock); err != nil {
		return err
	}
	for _, e := range stock.Rows {
		items.Items = append(items.Items, element{ID: e.Item, Code: e.Code, Name: e.Name})
	}
	if len(items.Items) == 0 { // an empty warehouse: receipts come first, of any items
		if err := c.fetch(ctx, s, "/v1/catalogs/items", "limit=1000", &items); err != nil {
			return err
		}
	}
	if len(items.Items) == 0 {
		return errors.New("the database has no items: run 'plimsoll fill' first")
	}
	d.items, d.itemNames = ranked(items.Items)
	for _, e := range stock.Rows {
		if e.Account == materialsAccount {
			d.materials = append(d.materials, e.Item)
		}
	}
	return nil
}

// materialsAccount holds items that are used up rather than sold.
const materialsAccount = "10"

// ranked orders by code and keeps some names.
func ranked(elements []element) (ids []id.ID, names []string) {
	slices.SortFunc(elements, func(a, b element) int { return cmp.Compare(a.Code, b.Code) })
	for _, e := range elements {
		ids = append(ids, e.ID)
		if len(names) < namesMax {
			names = append(names, e.Name)
		}
	}
	return ids, names
}

// fragment is what a person types to find a name: three to seven letters from within it.
func fragment(names []string, rng *rand.Rand) string {
	name := []rune(names[rng.IntN(len(names))])
	length := min(3+rng.IntN(5), len(name))
	from := rng.IntN(len(name) - length + 1)
	return string(name[from : from+length])
}
