// Package closing owns the document that closes a month.
package closing
