package trial

import (
	"strings"

	"plimsoll/lab/prove/claims"
)

// Finding summarizes a trial: the verdict by its rules, what was measured in words, the figures.
func (t Trial) Finding(m *Measurements) claims.Finding {
	verdict, answers, why := t.answer(t.Rules, m)
	f := claims.Finding{Verdict: verdict, Answers: &answers, Partial: m.partial, Conditions: m.conditions,
		Chart: t.Chart.draw(m)}
	var judged, unjudged []string
	for _, p := range t.Parts {
		f.Figures = append(f.Figures, m.listed(p)...)
		if !m.played[p.Name] {
			continue
		}
		for _, phrase := range p.Measured {
			if p.Unjudged {
				unjudged = append(unjudged, phrase.text(m))
			} else {
				judged = append(judged, phrase.text(m))
			}
		}
	}
	for _, phrase := range t.Measured {
		judged = append(judged, phrase.text(m))
	}
	if why != "" {
		judged = append(judged, why)
	}
	if len(t.Engines) > 0 {
		var phrase string
		f.Engines, phrase = t.verdicts(m)
		judged = append(judged, phrase)
	}
	f.Measured = strings.Join(append(judged, unjudged...), "; ")
	f.Conditions = append(f.Conditions, claims.Condition{Name: "judged by", Text: t.RulesText()})
	return f
}
