// Package books owns what the documents of the ERP share: the names of their types, their attributes, the catalogs, the
// registers and accounts, and what is done with goods, orders, settlements and VAT whatever the document is. It knows
// no document.
package books
