package repair

import (
	"slices"
	"strings"

	"plimsoll/platform/books/posting"
)

// documentChecks are findings about a document itself, not about what follows from it.
var documentChecks = []string{"references", "headers", "numbers", "identity"}

const documentIsWrong = "the document itself is wrong"

// judge finds out what is wrong about a document and, where it contradicts its record sets, which side was changed. An
// empty class: nothing is.
func judge(e *posting.Examined, findings []finding) Step {
	d := e.Document
	s := Step{Object: strings.TrimSpace(d.Meta.Name + " " + d.Number + " " + d.ID.String()), Document: d.ID}
	for _, f := range findings {
		if slices.Contains(documentChecks, f.about) {
			s.Changes = append(s.Changes, Change{f.Field, f.Found, f.Expected})
		}
	}
	if len(s.Changes) > 0 {
		s.Class, s.Why = Restore, documentIsWrong
		return s
	}
	for _, difference := range slices.Concat(e.Own, e.Recorded) {
		s.Changes = append(s.Changes, Change{difference.Field, difference.Found, difference.Expected})
	}
	for _, name := range e.Misplaced {
		s.Changes = append(s.Changes, Change{name, "rows of another organisation, time, type or line",
			"rows of the document"})
	}
	recorded := len(e.Recorded) > 0 || len(e.Misplaced) > 0
	switch {
	case len(s.Changes) == 0:
		return Step{}
	case e.Refused:
		s.Class, s.Why = Restore, "its rules reject the document"
	case !d.Posted:
		s.Class, s.Risk, s.Why = reverseUnposted(e)
	case e.NothingRecorded():
		s.Class, s.Risk, s.Why = Repost, High, "nothing of it is recorded"
		if e.Totals == posting.RecordsChanged || e.Totals != posting.DocumentChanged && e.WrittenAtOnce() {
			s.Risk, s.Why = Low, "nothing of it is recorded, and the document is unchanged"
		}
	case !recorded:
		s.Class, s.Risk, s.Why = Repost, Low, "its records agree with what its rules make of it"
	default:
		s.Class, s.Risk, s.Why = weigh(e)
	}
	return s
}

// reverseUnposted weighs the witnesses on the records of a document that is marked as not posted. Whatever they say,
// the user decides: the document may be posted again.
func reverseUnposted(e *posting.Examined) (Class, Risk, string) {
	says := func(w posting.Witness) bool { return e.Totals == w || e.Writes == w }
	switch {
	case says(posting.DocumentChanged) || says(posting.Undecided):
		return Reverse, High, "it is marked as not posted, but totals or transactions show that it was"
	case says(posting.RecordsChanged):
		return Reverse, Low, "it is not posted"
	}
	return Reverse, High, "it is not posted, and nothing shows that it never was"
}

// weigh the witnesses about a document that contradicts its record sets.
func weigh(e *posting.Examined) (Class, Risk, string) {
	says := func(w posting.Witness) bool { return e.Totals == w || e.Writes == w }
	switch {
	case says(posting.DocumentChanged) && says(posting.RecordsChanged):
		return Restore, "", "totals and transactions contradict each other on which side was changed"
	case says(posting.DocumentChanged):
		return Restore, "", "the document was changed: " + reason(e)
	case says(posting.RecordsChanged):
		return Repost, Low, "its records were changed: " + reason(e)
	case len(e.Own) > 0:
		return Restore, "", "nothing shows whether the document or its records were changed"
	}
	return Repost, High, "nothing shows whether the document or its records were changed"
}

func reason(e *posting.Examined) string {
	var reasons []string
	switch e.Totals {
	case posting.RecordsChanged:
		reasons = append(reasons, "totals agree with the document")
	case posting.DocumentChanged:
		reasons = append(reasons, "totals agree with the records")
	}
	switch e.Writes {
	case posting.RecordsChanged:
		reasons = append(reasons, "they were written by a different transaction than the document")
	case posting.DocumentChanged:
		reasons = append(reasons, "it was written by a different transaction than its records")
	}
	return strings.Join(reasons, "; ")
}
