package onec

import (
	"errors"
	"fmt"

	"plimsoll/ground/human"
)

// Sizes of a base. They are rounded up so that every area has the same number of each.
type Sizes struct {
	Documents  int `json:"documents"`
	Items      int `json:"items"`
	Partners   int `json:"partners"`
	Warehouses int `json:"warehouses"`
	Seed       int `json:"seed"`
}

// Defaults of Sizes.
const (
	DocumentsDefault  = 6_000
	ItemsDefault      = 2_000
	PartnersDefault   = 500
	WarehousesDefault = 8
)

// DefaultSizes are enough for a load of a few hundred users.
func DefaultSizes() Sizes {
	return Sizes{Documents: DocumentsDefault, Items: ItemsDefault, Partners: PartnersDefault,
		Warehouses: WarehousesDefault}
}

// Areas are the values of the separator: users of one area see nothing of another.
const Areas = 4

// documentsCycle: every third document is a receipt, and each area has as many.
const documentsCycle = 3 * Areas

// sizeMost keeps the hashes of the fill within 64 bits.
const sizeMost = 1_000_000_000

func (s Sizes) check() error {
	for _, n := range []int{s.Documents, s.Items, s.Partners, s.Warehouses} {
		if n < 1 || n > sizeMost {
			return fmt.Errorf("%d of something: must be between 1 and %d", n, sizeMost)
		}
	}
	if s.Seed < 0 || s.Seed > sizeMost {
		return errors.New("the seed must be between 0 and a billion")
	}
	return nil
}

func (s Sizes) rounded() Sizes {
	up := func(n, to int) int { return (n + to - 1) / to * to }
	s.Documents, s.Items = up(s.Documents, documentsCycle), up(s.Items, Areas)
	s.Partners, s.Warehouses = up(s.Partners, Areas), up(s.Warehouses, Areas)
	return s
}

// String says them in words.
func (s Sizes) String() string {
	return fmt.Sprintf("%s documents, %s items, %s partners, %s warehouses in %d areas",
		human.Thousands(int64(s.Documents)), human.Thousands(int64(s.Items)), human.Thousands(int64(s.Partners)),
		human.Thousands(int64(s.Warehouses)), Areas)
}
