package experiments

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/prove/trial"
	"plimsoll/test/golden"
)

// plantedTurns of each side, where the declaration leaves it open.
const plantedTurns = 4

// planted is the figure of a turn that nobody measured: another one for each side, series and turn.
func planted(side int, name string, turn int) float64 {
	return float64(100*(side+1) + 3*len(name) + turn)
}

// What findings say and what their figures are called is stored and read by others.
func TestFindings_OfPlantedFiguresAreAsTheyWere(t *testing.T) {
	for _, e := range All() {
		t.Run(e.Claim, func(t *testing.T) {
			f := plantedFinding(t, e)
			golden.Compare(t, "testdata/findings/"+e.Claim+".txt", findingText(f))
			// a name that is misspelt in a rule or phrase finds no figures
			for _, without := range []string{"too few turns", "(not measured)", "NaN"} {
				if strings.Contains(f.Measured, without) {
					t.Errorf("%q although everything was planted: %s", without, f.Measured)
				}
			}
		})
	}
}

// plantedFinding is what an experiment makes of planted figures.
func plantedFinding(t *testing.T, e site.Experiment) claims.Finding {
	t.Helper()
	declaration := e.Declare(site.Bench{Repetitions: plantedTurns}, &site.Site{})
	places := map[[2]string]int{}
	for _, part := range declaration.Parts {
		for i, side := range part.Sides {
			places[[2]string{part.Name, side.Name}] = i
		}
	}
	f, err := sitetest.PlantedTrial(declaration, func(r trial.Ref, turn int) (float64, bool) {
		return planted(places[[2]string{r.Part, r.Side}], r.Series, turn), true
	}).Play(t.Context(), trial.Options{Conditions: []claims.Condition{{Name: "engine", Text: "planted"}}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// listedFigures in a golden file, at most: those of many sides are called alike.
const listedFigures = 100

func findingText(f claims.Finding) string {
	var text strings.Builder
	fmt.Fprintf(&text, "verdict: %s\nmeasured:\n", f.Verdict)
	for _, part := range strings.Split(f.Measured, "; ") {
		fmt.Fprintf(&text, "  %s\n", part)
	}
	for i, figure := range f.Figures {
		if i == listedFigures {
			fmt.Fprintf(&text, "and %d more\n", len(f.Figures)-i)
			break
		}
		fmt.Fprintf(&text, "figure %q [%s] %v\n", figure.Name, figure.Unit, figure.Values)
	}
	for _, c := range f.Conditions {
		if c.Name == "machine" {
			c.Text = "(this one)"
		}
		fmt.Fprintf(&text, "condition %q: %s\n", c.Name, c.Text)
	}
	return text.String()
}
