package onec

import (
	"fmt"
	"strings"
)

// words of names and comments, as in a trading company's base; some differ by case alone.
var words = []string{"Delivery", "bolt", "Cable", "lamp", "FILTER", "Valve", "pump", "Sensor", "relay", "MOTOR",
	"Bearing", "gasket", "steel", "Copper", "small", "LARGE"}

func wordsSQL() string { return "(ARRAY['" + strings.Join(words, "', '") + "'])" }

// catalogs are the statements that fill the references; n names the rows of one.
func (s Sizes) catalogs() (all []string) {
	word := func(salt int) string {
		return fmt.Sprintf("%s[1 + (%s %% %d)::int]", wordsSQL(), hash(s.Seed, salt, "n"), len(words))
	}
	add := func(in table, number, rows int, area, name string, further ...string) {
		values := append([]string{refSQL(number, "n"), "0", "false", hexLiteral(noRef[:]), hexLiteral(noRef[:]), "true",
			"lpad(n::text, 9, '0')", name}, append(further, area)...)
		all = append(all, fmt.Sprintf("INSERT INTO %s SELECT %s FROM generate_series(0, %d) n", in.name,
			strings.Join(values, ", "), rows-1))
	}
	areaOf := fmt.Sprintf("n %% %d", Areas)
	add(items, itemsNumber, s.Items, areaOf,
		fmt.Sprintf("%s || ' ' || %s || ' ' || %s || ' ' || n", word(11), word(12), word(13)),
		"'A-' || n", hexLiteral(noRef[:]), word(14)+" || ' ' || "+word(15)+" || ' of the catalog ' || n",
		"20")
	add(partners, partnersNumber, s.Partners, areaOf, word(16)+" || ' Ltd ' || n", "lpad(n::text, 12, '7')")
	add(warehouses, warehousesNumber, s.Warehouses, areaOf, "'Warehouse ' || n")
	add(companies, companiesNumber, Areas, areaOf, "'Company ' || n")
	add(contracts, contractsNumber, s.Partners, areaOf, "'Contract ' || n", refSQL(partnersNumber, "n"),
		"'No. ' || n", "timestamp '2025-01-01'")
	add(priceKinds, priceKindsNumber, priceKindCount, "0", "'Price ' || n")
	return append(all, chartSQL()...)
}

func chartSQL() (all []string) {
	for _, a := range chart {
		r := a.ref()
		all = append(all, fmt.Sprintf("INSERT INTO %s VALUES (%s, 0, false, %s, %s, '%s', '%s', 2, false, 0)",
			accounts.name, hexLiteral(r[:]), hexLiteral(noRef[:]), hexLiteral(noRef[:]), a.code, a.name))
		for i, kind := range a.dims {
			k := dimKindRef(kind)
			all = append(all, fmt.Sprintf("INSERT INTO %s VALUES (%s, decode(lpad('%x', 8, '0'), 'hex'), %d, %s, "+
				"false, false, 0)", accountDims.name, hexLiteral(r[:]), i+1, i+1, hexLiteral(k[:])))
		}
	}
	for _, options := range []table{stockOptions, ledgerOptions} {
		all = append(all, fmt.Sprintf("INSERT INTO %s VALUES (%s, '%s', true, 0, 0, 2, '%s', true, 0)", options.name,
			hexLiteral(noRef[:]), present.Format("2006-01-02"), historyFrom.Format("2006-01-02")))
	}
	return all
}

// priceKindCount are the kinds of prices that every item has.
const priceKindCount = 2

// pricesOf is the statement that sets the prices of items [from, to), once a month.
func (s Sizes) pricesOf(from, to int) string {
	return fmt.Sprintf(`INSERT INTO %s SELECT timestamp '%s' + month * interval '1 month', %s, %s,
	100 + mod(%s, 900) + month, %s, %s, %s, n %% %d
FROM generate_series(%d, %d) n, generate_series(0, %d) kind, generate_series(0, %d) month`,
		prices.name, historyFrom.Format("2006-01-02"), refSQL(itemsNumber, "n"), refSQL(priceKindsNumber, "kind"),
		hash(s.Seed, 21, "n", "kind"), typeSQL(isUndefined), hexLiteral([]byte{0, 0, 0, 0}), hexLiteral(noRef[:]),
		Areas, from, to-1, priceKindCount-1, historyMonths-1)
}

// lastPrices is the query for the slice of the last: the newest price of each item and kind.
func lastPrices() string {
	return fmt.Sprintf("SELECT DISTINCT ON (%[2]s, _Fld61RRef, _Fld62RRef) %[3]s, %[2]s FROM %[1]s "+
		"ORDER BY %[2]s, _Fld61RRef, _Fld62RRef, _Period DESC", prices.name, separator,
		prices.list("", "_Period", "_Fld61RRef", "_Fld62RRef", "_Fld63", "_Fld64"))
}
