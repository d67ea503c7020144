package onec

import "fmt"

// Numbers of the application's objects. A table's number is the type of the references to it.
const (
	itemsNumber      = 12
	partnersNumber   = 18
	warehousesNumber = 20
	companiesNumber  = 22
	contractsNumber  = 24
	accountsNumber   = 30
	dimKindsNumber   = 32
	salesNumber      = 34
	receiptsNumber   = 50
	priceKindsNumber = 58
)

func refColumn(name string) column       { return column{name: name, kind: reference} }
func numColumn(name, size string) column { return column{name: name, kind: number, size: size} }
func strColumn(name, size string) column { return column{name: name, kind: text, size: size} }
func flagColumn(name string) column      { return column{name: name, kind: flag} }
func dateColumn(name string) column      { return column{name: name, kind: date} }
func anyColumn(name string) column       { return column{name: name, kind: composite} }
func binColumn(name string) column       { return column{name: name, kind: blob} }

func nullable(columns ...column) []column {
	for i := range columns {
		columns[i].null = true
	}
	return columns
}

// referenceTable is a catalog; further are its own columns.
func referenceTable(n int, owned bool, further ...column) table {
	columns := []column{refColumn("_IDRRef"), {name: "_Version", kind: integer}, flagColumn("_Marked"),
		binColumn("_PredefinedID"), refColumn("_ParentIDRRef"), flagColumn("_Folder"), strColumn("_Code", "11"),
		strColumn("_Description", "100")}
	indexes := []index{{keyIndex, []string{"_IDRRef"}, true},
		{"ByCode", []string{"_Code", "_IDRRef"}, true}, {"ByDescr", []string{"_Description", "_IDRRef"}, true},
		{"ByParentCode", []string{"_ParentIDRRef", "_Folder", "_Code", "_IDRRef"}, true}}
	if owned {
		columns = append(columns, refColumn("_OwnerIDRRef"))
		indexes = append(indexes, index{"ByOwnerDescr", []string{"_OwnerIDRRef", "_Description", "_IDRRef"}, true})
	}
	return newTable(fmt.Sprintf("_Reference%d", n), append(columns, further...), indexes...)
}

// documentTable is a type of document.
func documentTable(n int, further ...column) table {
	t := newTable(fmt.Sprintf("_Document%d", n), append([]column{refColumn("_IDRRef"),
		{name: "_Version", kind: integer}, flagColumn("_Marked"), dateColumn("_Date_Time"),
		dateColumn("_NumberPrefix"), {name: "_Number", kind: fixed, size: "11"}, flagColumn("_Posted")}, further...),
		index{keyIndex, []string{"_IDRRef"}, true},
		index{"ByDocDate", []string{"_Date_Time", "_IDRRef"}, true},
		index{"ByDocNum", []string{"_NumberPrefix", "_Number", "_IDRRef"}, true})
	t.early = 1
	return t
}

// sectionTable is a tabular section of a document.
func sectionTable(document, n int, columns ...column) table {
	owner := fmt.Sprintf("_Document%d_IDRRef", document)
	t := newTable(fmt.Sprintf("_Document%d_VT%d", document, n), append([]column{refColumn(owner),
		binColumn("_KeyField"), numColumn(fmt.Sprintf("_LineNo%d", n+1), "5,0")}, columns...),
		index{rowIndex, []string{owner, "_KeyField"}, true})
	t.early = 1
	return t
}

// movementColumns begin every table of records that documents make.
func movementColumns(further ...column) []column {
	return append([]column{dateColumn("_Period"), {name: "_Recorder", kind: recorder}, numColumn("_LineNo", "9,0"),
		flagColumn("_Active")}, further...)
}

var (
	items = referenceTable(itemsNumber, false, strColumn("_Fld13", "25"), refColumn("_Fld14RRef"),
		strColumn("_Fld16", "1024"), numColumn("_Fld17", "10,2"))
	partners   = referenceTable(partnersNumber, false, column{name: "_Fld19", kind: fixed, size: "12"})
	warehouses = referenceTable(warehousesNumber, false)
	companies  = referenceTable(companiesNumber, false)
	contracts  = referenceTable(contractsNumber, true, strColumn("_Fld25", "50"), dateColumn("_Fld26"))
	priceKinds = referenceTable(priceKindsNumber, false)

	accounts = newTable("_Acc30", []column{refColumn("_IDRRef"), {name: "_Version", kind: integer},
		flagColumn("_Marked"), binColumn("_PredefinedID"), refColumn("_ParentIDRRef"), strColumn("_Code", "9"),
		strColumn("_Description", "120"), numColumn("_Kind", "1,0"), flagColumn("_OffBalance")},
		index{keyIndex, []string{"_IDRRef"}, true}, index{"ByCode", []string{"_Code", "_IDRRef"}, true})
	accountDims = newTable("_Acc30_ExtDim31", []column{refColumn("_Acc30_IDRRef"), binColumn("_KeyField"),
		numColumn("_LineNo", "5,0"), refColumn("_DimKindRRef"), flagColumn("_DimIsMetadata"),
		flagColumn("_TurnoverOnly")}, index{rowIndex, []string{"_Acc30_IDRRef", "_KeyField"}, true})

	// Goods sold: warehouse, partner, contract, company, amount, what it is based on, comment.
	sales = documentTable(salesNumber, refColumn("_Fld35RRef"), refColumn("_Fld36RRef"), refColumn("_Fld37RRef"),
		refColumn("_Fld38RRef"), numColumn("_Fld39", "15,2"), anyColumn("_Fld40"), strColumn("_Fld41", "500"))
	// Item, quantity, price, amount, cost.
	saleLines = sectionTable(salesNumber, 42, refColumn("_Fld44RRef"), numColumn("_Fld45", "15,3"),
		numColumn("_Fld46", "15,2"), numColumn("_Fld47", "15,2"), numColumn("_Fld48", "15,2"))
	// Goods received, likewise.
	receipts = documentTable(receiptsNumber, refColumn("_Fld35RRef"), refColumn("_Fld36RRef"), refColumn("_Fld37RRef"),
		refColumn("_Fld38RRef"), numColumn("_Fld39", "15,2"), anyColumn("_Fld40"), strColumn("_Fld41", "500"))
	receiptLines = sectionTable(receiptsNumber, 51, refColumn("_Fld44RRef"), numColumn("_Fld45", "15,3"),
		numColumn("_Fld46", "15,2"), numColumn("_Fld47", "15,2"), numColumn("_Fld48", "15,2"))

	// Prices: item and kind; the price, and what set it.
	prices = newTable("_InfoRg60", []column{dateColumn("_Period"), refColumn("_Fld61RRef"), refColumn("_Fld62RRef"),
		numColumn("_Fld63", "15,2"), anyColumn("_Fld64")},
		index{"ByDims", []string{"_Fld61RRef", "_Fld62RRef", "_Period"}, true},
		index{"ByPeriod", []string{"_Period", "_Fld61RRef", "_Fld62RRef"}, true})
	pricesLast = newTable("_InfoRgSL66", []column{dateColumn("_Period"), refColumn("_Fld61RRef"),
		refColumn("_Fld62RRef"), numColumn("_Fld63", "15,2"), anyColumn("_Fld64")},
		index{"ByDims", []string{"_Fld61RRef", "_Fld62RRef"}, true})

	// Stock: warehouse, item, batch; quantity and cost.
	stock = newTable("_AccumRg70", movementColumns(numColumn("_RecordKind", "1,0"), refColumn("_Fld71RRef"),
		refColumn("_Fld72RRef"), anyColumn("_Fld73"), numColumn("_Fld74", "15,3"), numColumn("_Fld75", "15,2")),
		index{"ByPeriod", []string{"_Period", "_Recorder", "_LineNo"}, true},
		index{"ByRecorder", []string{"_Recorder", "_LineNo"}, true},
		index{"ByDims77", []string{"_Fld72RRef", "_Period", "_Recorder", "_LineNo"}, true})
	stockTotals = newTable("_AccumRgT78", []column{dateColumn("_Period"), refColumn("_Fld71RRef"),
		refColumn("_Fld72RRef"), anyColumn("_Fld73"), numColumn("_Fld74", "21,3"), numColumn("_Fld75", "21,2"),
		numColumn("_Splitter", "10,0")},
		index{"ByDims", []string{"_Period", "_Fld71RRef", "_Fld72RRef", "_Fld73", "_Splitter"}, true},
		index{"ByDims77", []string{"_Period", "_Fld72RRef"}, false})
	stockOptions = optionsTable("_AccumRgOpt79")

	// The ledger: company; amount, quantity of each side, content, hashes of the analytics.
	ledger = newTable("_AccRg80", movementColumns(append(nullable(refColumn("_AccountDtRRef"),
		refColumn("_AccountCtRRef")), refColumn("_Fld81RRef"), numColumn("_Fld82", "15,2"),
		numColumn("_Fld83Dt", "15,3"), numColumn("_Fld83Ct", "15,3"), strColumn("_Fld84", "150"),
		numColumn("_EDHashDt", "10,0"), numColumn("_EDHashCt", "10,0"))...),
		index{"ByPeriod", []string{"_Period", "_Recorder", "_LineNo"}, true},
		index{"ByRecorder", []string{"_Recorder", "_LineNo"}, true},
		index{"ByAccDt", []string{"_AccountDtRRef", "_Period", "_Recorder", "_LineNo"}, true},
		index{"ByAccCt", []string{"_AccountCtRRef", "_Period", "_Recorder", "_LineNo"}, true})
	ledgerDims = newTable("_AccRgED88", []column{dateColumn("_Period"), {name: "_Recorder", kind: recorder},
		numColumn("_LineNo", "9,0"), numColumn("_Correspond", "1,0"), refColumn("_KindRRef"), anyColumn("_Value")},
		index{"ByRecorder", []string{"_Recorder", "_LineNo", "_Correspond", "_KindRRef"}, true},
		index{"ByPeriod", []string{"_Period", "_Recorder", "_LineNo", "_Correspond", "_KindRRef"}, true},
		index{"ByValue", []string{"_KindRRef", "_Value", "_Period"}, false})
	ledgerOptions = optionsTable("_AccRgOpt94")
)

// ledgerTotals by the number of analytics.
var ledgerTotals = [...]table{accountTotals(0, 89), accountTotals(1, 90), accountTotals(2, 91), accountTotals(3, 92)}

// accountTotals are the totals of the accounts with so many analytics; without any: of all accounts.
func accountTotals(dims, n int) table {
	columns := []column{dateColumn("_Period"), refColumn("_AccountRRef"), refColumn("_Fld81RRef")}
	on := []string{"_Period", "_AccountRRef", "_Fld81RRef"}
	for d := range dims {
		value := anyColumn(fmt.Sprintf("_Value%d", d+1))
		columns, on = append(columns, nullable(value)...), append(on, value.name)
	}
	for _, sum := range accountSums {
		columns = append(columns, numColumn(sum, "21,3"))
	}
	columns = append(columns, numColumn("_Splitter", "10,0"))
	indexes := []index{{"ByDims", append(on, "_Splitter"), true}}
	if dims > 0 {
		indexes = append(indexes, index{"ByValue1", []string{"_Value1", "_Period", "_AccountRRef"}, false})
	}
	return newTable(fmt.Sprintf("_AccRgAT%d%d", dims, n), columns, indexes...)
}

// accountSums of amount and quantity: the balance at the period's beginning, the period's turnovers.
var accountSums = []string{"_Fld82", "_TurnoverDt82", "_TurnoverCt82", "_Turnover82", "_Fld83", "_TurnoverDt83",
	"_TurnoverCt83", "_Turnover83"}

// optionsTable holds how totals are kept; the platform reads it before it writes.
func optionsTable(name string) table {
	return newTable(name, []column{binColumn("_RegID"), dateColumn("_Period"), flagColumn("_ActualPeriod"),
		numColumn("_Periodicity", "2,0"), numColumn("_RepetitionFactor", "2,0"), numColumn("_UseTotals", "1,0"),
		dateColumn("_MinPeriod"), flagColumn("_UseSplitter")}, index{"ByRegID", []string{"_RegID"}, true})
}

// tables of a base, in the order of making.
func tables() []table {
	all := []table{items, partners, warehouses, companies, contracts, priceKinds, accounts, accountDims, sales,
		saleLines, receipts, receiptLines, prices, pricesLast, stock, stockTotals, stockOptions, ledger, ledgerDims,
		ledgerOptions}
	return append(all, ledgerTotals[:]...)
}
