// Package assets owns the documents of fixed assets.
package assets
