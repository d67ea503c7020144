// Package invoices owns the documents that book VAT: invoices of deals and of advances, issued and received.
package invoices
