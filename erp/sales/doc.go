// Package sales owns the documents that sell: orders of customers, sales of goods and of services.
package sales
