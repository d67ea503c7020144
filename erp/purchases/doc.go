// Package purchases owns the documents that buy: orders to suppliers, receipts of goods and purchases of services.
package purchases
