// Package nearest owns "did you mean": the known word closest to a mistyped one.
package nearest

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// similarEnough is a similarity of 0..1 below which a suggestion would only confuse.
const similarEnough = 0.55

// Of is the known word most like word, or "" when nothing is near. Equal
// similarity is settled by the order of known.
func Of(word string, known []string) string {
	best, score := "", similarEnough
	for _, k := range known {
		if s := similarity(word, k); s > score {
			best, score = k, s
		}
	}
	return best
}

// Hint is "did you mean X?", or otherwise when nothing is near.
func Hint(word string, known []string, otherwise string) string {
	if k := Of(word, known); k != "" {
		return fmt.Sprintf("did you mean %s?", k)
	}
	return otherwise
}

// similarity forgives case and a forgotten tail: "dur" is meant to be "duration".
func similarity(word, known string) float64 {
	word, known = strings.ToLower(word), strings.ToLower(known)
	s := levenshtein.Similarity(word, known, nil)
	if len(word) >= 3 && strings.HasPrefix(known, word) {
		return max(s, 0.8)
	}
	return s
}
