// Package money owns the documents of payments and debts: requests, payments, receipts, and moving debts about.
package money
