package scenario

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/users"
)

// head of a printed scenario explains the file.
const head = `# A scenario: what users do, how often, and how long it may take.
# Run it:   plimsoll run --scenario THIS_FILE      Check it: plimsoll scenario check THIS_FILE
`

// WriteTOML writes a scenario as the file that would produce it.
func (s *Scenario) WriteTOML(w io.Writer) error {
	var b strings.Builder
	b.WriteString(head)
	fmt.Fprintf(&b, "\ntitle = %s\n", quote(s.Title))
	fmt.Fprintf(&b, "application = %s        # \"1c\": a 1C server; \"none\": only operations of your own\n",
		quote(string(s.Application)))
	if s.Application == ERP {
		s.printShares(&b)
	} else {
		s.printSessions(&b)
	}
	for _, op := range s.Operations {
		fmt.Fprintf(&b, "\n[operations.%s]\ntitle = %s\ntarget = %s\npriority = %d\nweight = %v\n",
			quote(op.ID), quote(op.Title), quote(human.Duration(op.Target)), op.Priority, op.Weight)
		if op.Least > 0 {
			fmt.Fprintf(&b, "least = %d                 # with fewer valid answers a run is not valid\n", op.Least)
		}
		if op.RefusedShare != nil {
			fmt.Fprintf(&b, "refused_share = %v\n", *op.RefusedShare)
		}
	}
	for _, r := range s.Roles {
		s.printRole(&b, r)
	}
	s.printDay(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// printShares are those of the ERP's postings.
func (s *Scenario) printShares(b *strings.Builder) {
	fmt.Fprintf(b, "refused = %v             # share of the sales that the control of stock must refuse\n", s.Refused)
	fmt.Fprintf(b, "backdated = %v              # share of the posted documents with a date in the past\n",
		s.Backdated)
	fmt.Fprintf(b, "backdated_days = %d        # at most this many days in the past\n", s.BackdatedDays)
}

func (s *Scenario) printRole(b *strings.Builder, r Role) {
	fmt.Fprintf(b, "\n[roles.%s]\nusers = %d                # --users puts another number in the same proportion\n",
		quote(r.Name), r.Users)
	if r.Weights != nil {
		fmt.Fprintf(b, "[roles.%s.weights]\n", quote(r.Name))
		for _, op := range s.Operations {
			if w, given := r.Weights[op.ID]; given {
				fmt.Fprintf(b, "%s = %v\n", quote(op.ID), w)
			}
		}
	} else {
		b.WriteString("# weights = { \"goods_sale.post\" = 3, \"goods_sale.list\" = 1 }    without them: those of " +
			"the operations\n")
	}
	fmt.Fprintf(b, "[roles.%s.think]\nmean = %s\ndistribution = %s   # or %s\n", quote(r.Name),
		quote(human.Duration(r.Think.Mean)), quote(string(r.Think.Distribution)), others(r.Think.Distribution))
	if r.Think.Cap > 0 {
		fmt.Fprintf(b, "cap = %s\n", quote(human.Duration(r.Think.Cap)))
	}
}

func (s *Scenario) printDay(b *strings.Builder) {
	b.WriteString("\n# The day, stretched over the steady state: at 2 people think half as long.\n[day]\n")
	for _, p := range s.Day {
		at := time.Time{}.Add(p.At)
		fmt.Fprintf(b, "%q = %v\n", at.Format("15:04"), p.Level)
	}
	if len(s.Day) == 0 {
		b.WriteString("# \"09:00\" = 0.4\n# \"11:00\" = 1.0\n# \"13:00\" = 0.6\n# \"17:00\" = 1.2\n")
	}
}

func others(d users.Distribution) string {
	var words []string
	for _, other := range users.Distributions {
		if other != d {
			words = append(words, strconv.Quote(string(other)))
		}
	}
	return strings.Join(words, ", ")
}

var quote = tomlfile.Quote
