package human

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// similarEnough is the similarity (0..1) below which a suggestion would only confuse.
const similarEnough = 0.55

// Nearest is the known word most similar to word, or "" if none is close. Ties go to the first one known.
func Nearest(word string, known []string) string {
	best, score := "", similarEnough
	for _, k := range known {
		if s := similarity(word, k); s > score {
			best, score = k, s
		}
	}
	return best
}

// NearestHint is "did you mean X?", or otherwise if nothing is close.
func NearestHint(word string, known []string, otherwise string) string {
	if k := Nearest(word, known); k != "" {
		return fmt.Sprintf("did you mean %s?", k)
	}
	return otherwise
}

// similarity ignores case, and forgives an omitted ending ("dur" for "duration") and two swapped letters, which would
// count as two changes: too many for a short word ("rnu").
func similarity(word, known string) float64 {
	word, known = strings.ToLower(word), strings.ToLower(known)
	s := levenshtein.Similarity(word, known, nil)
	if len(word) >= 3 && (strings.HasPrefix(known, word) || swapped(word, known)) {
		return max(s, 0.8)
	}
	return s
}

// swapped says whether swapping two adjacent letters turns one word into the other.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
