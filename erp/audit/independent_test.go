package audit_test

import (
	"slices"
	"strings"
)

// independent are the handwritten invariants: what is generated from the metadata, or derived from the documents, has
// tests of its own.
func independent(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(invariant string) bool {
		_, kind, _ := strings.Cut(invariant, ".")
		return slices.Contains([]string{"references", "headers", "sums", "counter", "derived", "order",
			"identity", "acknowledged", "performers", "values", "splits", "moments"}, kind)
	})
}
