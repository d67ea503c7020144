package trial

import (
	"fmt"
	"strings"

	"plimsoll/lab/prove/claims"
)

// Judged is an engine with the rules on its own sides.
type Judged struct {
	Engine string
	Rules  Rules
}

// ByEngine gives each engine a verdict of its own by the same rules. The claim's is that of the first.
func (t *Trial) ByEngine(rules func(engine string) Rules, engines ...string) {
	t.Engines = nil
	for _, e := range engines {
		t.Engines = append(t.Engines, Judged{e, rules(e)})
	}
	t.Rules = t.Engines[0].Rules
}

// verdicts of the engines, and a phrase that says them.
func (t Trial) verdicts(m *Measurements) (all []claims.EngineVerdict, phrase string) {
	var texts []string
	for i, e := range t.Engines {
		verdict, answers, why := t.answer(e.Rules, m)
		all = append(all, claims.EngineVerdict{Engine: e.Engine, Verdict: verdict, Answers: &answers, Why: why})
		text := fmt.Sprintf("%s: %s", e.Engine, verdict)
		if why != "" && i > 0 { // the first one's is told with the verdict
			text += " (" + why + ")"
		}
		texts = append(texts, text)
	}
	return all, strings.Join(texts, ", ")
}
