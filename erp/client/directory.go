package client

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"

	"plimsoll/platform/id"
)

const (
	// itemsMax is how many items of a warehouse its users work with.
	itemsMax          = 5000
	counterpartiesMax = 1000
	namesMax          = 100
	documentsMax      = 50
)

// directory is what the users of a warehouse have on their screens, shared by all of them. Lists are in the
// order of codes, the hottest first.
type directory struct {
	mutex          sync.Mutex
	loaded         bool
	warehouse      id.ID
	items          []id.ID
	counterparties []id.ID
	itemNames      []string
	partnerNames   []string
	documents      []id.ID // sales made by others, to look at
}

// element is a row of a catalog or report, as far as it is needed.
type element struct {
	ID        id.ID
	Item      id.ID
	Warehouse id.ID
	Code      string
	Name      string
}

// directoryOf finds the directory of the user's warehouse, and loads it once.
func (c *Client) directoryOf(ctx context.Context, s *Session, user, organisation string) (*directory, error) {
	warehouse, err := c.warehouseOf(ctx, s, user)
	if err != nil {
		return nil, err
	}
	key := organisation + warehouse.String()
	c.mutex.Lock()
	d := c.known[key]
	if d == nil {
		d = &directory{warehouse: warehouse}
		c.known[key] = d
	}
	c.mutex.Unlock()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.loaded {
		return d, nil
	}
	if err := d.load(ctx, c, s); err != nil {
		return nil, fmt.Errorf("read what the screens of warehouse %s hold: %w", warehouse, err)
	}
	d.loaded = true
	return d, nil
}

func (c *Client) warehouseOf(ctx context.Context, s *Session, user string) (id.ID, error) {
	var found struct{ Items []element }
	if err := c.fetch(ctx, s, "/v1/catalogs/users", "search="+url.QueryEscape(user), &found); err != nil {
		return id.ID{}, err
	}
	for _, e := range found.Items {
		if e.Code == user {
			return e.Warehouse, nil
		}
	}
	return id.ID{}, fmt.Errorf("user %s is not in the catalog", user)
}

func (d *directory) load(ctx context.Context, c *Client, s *Session) error {
	var partners, items, documents struct{ Items []element }
	var stock struct{ Rows []element }
	if err := c.fetch(ctx, s, "/v1/catalogs/counterparties", fmt.Sprintf("limit=%d", counterpartiesMax), &partners); err != nil {
		return err
	}
	if err := c.fetch(ctx, s, "/v1/reports/stock", fmt.Sprintf("warehouse=%s&limit=%d", d.warehouse, itemsMax), &stock); err != nil {
		return err
	}
	for _, e := range stock.Rows {
		items.Items = append(items.Items, element{ID: e.Item, Code: e.Code, Name: e.Name})
	}
	if len(items.Items) == 0 { // an empty warehouse: receipts come first, of anything
		if err := c.fetch(ctx, s, "/v1/catalogs/items", "limit=1000", &items); err != nil {
			return err
		}
	}
	if err := c.fetch(ctx, s, "/v1/documents/goods-sale", fmt.Sprintf("limit=%d", documentsMax), &documents); err != nil {
		return err
	}
	if len(items.Items) == 0 || len(partners.Items) == 0 {
		return fmt.Errorf("there are %d items and %d counterparties: fill the database first", len(items.Items), len(partners.Items))
	}
	d.items, d.itemNames = ranked(items.Items)
	d.counterparties, d.partnerNames = ranked(partners.Items)
	d.documents, _ = ranked(documents.Items)
	return nil
}

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
