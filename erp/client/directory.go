package client

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"

	"plimsoll/platform/id"
)

const (
	// itemsMax is how many items of a warehouse its users work with.
	itemsMax          = 5000
	counterpartiesMax = 1000
	contractsMax      = 1000
	namesMax          = 100
	documentsMax      = 50
)

// directory is what the users of a warehouse have on their screens, shared by all of them. Lists are in the
// order of codes, the hottest first.
type directory struct {
	mutex        sync.Mutex
	loaded       bool
	warehouse    id.ID
	items        []id.ID
	customers    []deal // in the order of the contracts' codes
	suppliers    []deal
	itemNames    []string
	partnerNames []string
	documents    []id.ID // sales made by others, to look at
	materials    []id.ID // of the items
	services     []id.ID
	departments  []id.ID
	expenseItems []id.ID
	bankAccounts []id.ID
	assets       []id.ID // not in use when the directory was read, in an order of the warehouse's own
	nextOfAssets atomic.Uint32
	handed       handed
	bought       bought
}

// deal is a contract and whom it is with.
type deal struct{ counterparty, contract id.ID }

// element is a row of a catalog or report, as far as it is needed.
type element struct {
	ID           id.ID
	Item         id.ID
	Counterparty id.ID
	Customer     bool
	Bank         bool
	Account      string
	Warehouse    id.ID
	Code         string
	Name         string
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
	var partners, contracts, items, documents struct{ Items []element }
	var stock struct{ Rows []element }
	if err := c.fetch(ctx, s, "/v1/catalogs/counterparties", fmt.Sprintf("limit=%d", counterpartiesMax), &partners); err != nil {
		return err
	}
	if err := c.fetch(ctx, s, "/v1/catalogs/contracts", fmt.Sprintf("limit=%d", contractsMax), &contracts); err != nil {
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
	d.trade(contracts.Items)
	if len(items.Items) == 0 || len(d.customers) == 0 || len(d.suppliers) == 0 {
		return fmt.Errorf("there are %d items and contracts with %d customers and %d suppliers: fill the database first", len(items.Items), len(d.customers), len(d.suppliers))
	}
	d.items, d.itemNames = ranked(items.Items)
	_, d.partnerNames = ranked(partners.Items)
	d.documents, _ = ranked(documents.Items)
	for _, e := range stock.Rows {
		if e.Account == materialsAccount {
			d.materials = append(d.materials, e.Item)
		}
	}
	return d.loadMore(ctx, c, s)
}

// materialsAccount is where items stand that are used up rather than sold.
const materialsAccount = "10"

// loadMore reads the catalogs that documents other than those of goods refer to.
func (d *directory) loadMore(ctx context.Context, c *Client, s *Session) error {
	for _, list := range []struct {
		catalog string
		into    *[]id.ID
		fits    func(element) bool
	}{
		{"services", &d.services, nil}, {"departments", &d.departments, nil}, {"expense-items", &d.expenseItems, nil}, {"fixed-assets", &d.assets, nil},
		{"cash-accounts", &d.bankAccounts, func(e element) bool { return e.Bank }},
	} {
		var found struct{ Items []element }
		if err := c.fetch(ctx, s, "/v1/catalogs/"+list.catalog, "limit=1000", &found); err != nil {
			return err
		}
		if list.fits != nil {
			found.Items = slices.DeleteFunc(found.Items, func(e element) bool { return !list.fits(e) })
		}
		if *list.into, _ = ranked(found.Items); len(*list.into) == 0 {
			return fmt.Errorf("there are no %s to work with: fill the database first", list.catalog)
		}
	}
	return d.leaveOutCommissioned(ctx, c, s)
}

// leaveOutCommissioned keeps the assets that can be commissioned, unless there are none.
func (d *directory) leaveOutCommissioned(ctx context.Context, c *Client, s *Session) error {
	var found struct{ Items []struct{ Asset id.ID } }
	if err := c.fetch(ctx, s, "/v1/documents/asset-commissioning", "limit=1000", &found); err != nil {
		return err
	}
	used := map[id.ID]bool{}
	for _, e := range found.Items {
		used[e.Asset] = true
	}
	if left := slices.DeleteFunc(slices.Clone(d.assets), func(asset id.ID) bool { return used[asset] }); len(left) > 0 {
		d.assets = left
	}
	own := rand.New(rand.NewPCG(binary.BigEndian.Uint64(d.warehouse[:8]), binary.BigEndian.Uint64(d.warehouse[8:])))
	own.Shuffle(len(d.assets), func(i, j int) { d.assets[i], d.assets[j] = d.assets[j], d.assets[i] })
	return nil
}

// nextAsset to commission. When all have been, the first ones come again, and are refused.
func (d *directory) nextAsset() id.ID {
	return d.assets[int(d.nextOfAssets.Add(1)-1)%len(d.assets)]
}

// trade sorts out with whom there is a contract of which side.
func (d *directory) trade(contracts []element) {
	slices.SortFunc(contracts, func(a, b element) int { return cmp.Compare(a.Code, b.Code) })
	for _, e := range contracts {
		if e.Customer {
			d.customers = append(d.customers, deal{e.Counterparty, e.ID})
		} else {
			d.suppliers = append(d.suppliers, deal{e.Counterparty, e.ID})
		}
	}
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
