package loss

import (
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/erp/audit/damage"
	"plimsoll/erp/fill"
	"plimsoll/ground/human"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/stats"
)

// Defaults of C23.
const (
	c23Scale     = site.WholeScale // of the report's base, with --full
	c23Small     = 0.001
	c23Rounds    = 1
	c23Turn      = 30 * time.Second
	c23FullTurn  = 3 * time.Minute
	c23Making    = time.Minute
	c23FullMake  = 4 * time.Minute
	c23AuditMost = 8.0 // hours for the report's base: a night
)

// Sides of C23.
const (
	undamagedBase    = "undamaged base"
	registersDamaged = "registers damaged"
	documentsDamaged = "documents damaged"
)

// staleRegisters: a document is right, and what it has recorded is not, or totals and counters are wrong. The books
// know what they should be.
var staleRegisters = strings.Fields(`MovementThatIsGone AmountOfStock BatchOfAReceipt VATCharged EntryThatIsGone
	AmountOfAnEntry SidesOfAnEntry DebtToASupplier PlannedPayment SalesBook DebtMoved TotalOfAGoodsSale TotalOfAnAccount
	TotalOfAMonth NumberBeyondTheCounter`)

// lostDocuments: registers were updated, and their document is gone (a dangling reference) or is as it was before, so
// that registers disagree with it. Only a backup has it.
var lostDocuments = strings.Fields(`PaymentThatIsGone HeaderThatIsGone NoLines AmountOfAPayment
	AmountOfABankReceipt QuantityOfASale QuantityConsumed PriceOfAReceipt`)

// damagedPart has the sides with damages.
const damagedPart = "damaged"

// Figures of C23.
const (
	planted    = "damages planted"
	named      = "damages named by document and field" // what is gone is named by its id
	treated    = "damages repaired, or reported as needing a backup"
	found      = "violations"
	physical   = "faults that amcheck finds"
	foundAfter = "violations afterwards"
	changed    = "tables that have changed"
	auditRate  = "objects audited"
	repairRate = "objects repaired"
)

// objectIntegrity is the experiment behind C23.
func objectIntegrity(b site.Bench, s *site.Site) trial.Trial {
	base := &integrityBase{own: s.Own, scale: b.BaseScale(c23Small, c23Scale)}
	whole := trial.Part{Rounds: b.Rounds(c23Rounds), Counted: true, Turn: c23Turn, Open: base.open,
		Series: []trial.Series{{Name: found}, {Name: auditRate, Unit: "objects/s"}},
		Sides:  []trial.Side{base.control()}}
	harmed := trial.Part{Name: damagedPart, InOrder: true, Counted: true, Rounds: whole.Rounds, Turn: c23Turn,
		Series: []trial.Series{{Name: planted}, {Name: named}, {Name: treated}, {Name: found}, {Name: physical},
			{Name: foundAfter}, {Name: changed}, {Name: repairRate, Unit: "objects/s"}},
		Sides: []trial.Side{base.damaged(registersDamaged, staleRegisters, base.repair),
			base.damaged(documentsDamaged, lostDocuments, base.nameAndRestore)}}
	making := c23Making
	if b.Full {
		whole.Turn, harmed.Turn, making = c23FullTurn, c23FullTurn, c23FullMake
	}
	hours := trial.Computed{As: "hours to audit as many documents as the report has", Format: "%.1f",
		Formula: func(m *trial.Measurements) float64 {
			if rate := stats.Median(m.Figures(trial.At(undamagedBase, auditRate))); rate > 0 {
				return float64(fill.ReportedTotal()) / rate / 3600
			}
			return math.NaN()
		}}
	whole.Measured = []trial.Phrase{
		trial.Say("the undamaged base has %s violations", sum(undamagedBase, found, "")),
		trial.Say("the audit reads %s objects/s: %s hours for the report's %s documents",
			trial.Spread{Of: trial.At(undamagedBase, auditRate), Format: "%.0f"}, hours,
			human.Thousands(fill.ReportedTotal()))}
	harmed.Measured = integrityMeasured()
	return trial.Trial{
		Text: fmt.Sprintf("in copies of a base at scale %.3g, %d damages to registers and %d to documents are "+
			"planted, audited, repaired or restored, and audited again", base.scale, len(staleRegisters),
			len(lostDocuments)),
		Overhead: making, Parts: []trial.Part{whole, harmed},
		Rules: trial.Rules{StoppedRefutes: true,
			Situation: []trial.Condition{site.ScaleOf(base.scale)},
			Direction: append(integrityDirection(), trial.Criterion{Of: hours, Confirm: trial.AtMost(c23AuditMost),
				Refute: trial.Above(c23AuditMost)})},
		Conditions: integrityConditions(),
	}
}

// mustBeZero: a figure must be 0 in every turn.
func mustBeZero(figure trial.Computed) trial.Criterion {
	return trial.Criterion{Of: figure, Confirm: trial.AtMost(0), Refute: trial.Above(0), Anywhere: true}
}

// short is how many of the planted damages a series lacks, over all turns.
func short(side, series, as string) trial.Computed {
	all, some := sumDamaged(side, planted, ""), sumDamaged(side, series, "")
	return trial.Computed{As: as + " with " + side, Format: "%.0f",
		Formula: func(m *trial.Measurements) float64 { return all.Formula(m) - some.Formula(m) }}
}

// sumDamaged is the sum of a series of a damaged side.
func sumDamaged(side, series, as string) trial.Computed {
	return sumOf(trial.At(side, series).In(damagedPart), as)
}

func integrityDirection() []trial.Criterion {
	all := []trial.Criterion{mustBeZero(sum(undamagedBase, found, "violations of the undamaged base"))}
	for _, side := range []string{registersDamaged, documentsDamaged} {
		all = append(all, mustBeZero(short(side, named, "damages not named by document and field")),
			mustBeZero(short(side, treated, "damages neither repaired nor reported as needing a backup")),
			mustBeZero(sumDamaged(side, foundAfter, "violations left with "+side)),
			mustBeZero(sumDamaged(side, changed, "tables that have changed with "+side)),
			mustBeZero(sumDamaged(side, physical, "faults that amcheck finds with "+side)))
	}
	return all
}

func integrityMeasured() (all []trial.Phrase) {
	for _, one := range []struct{ side, means string }{{registersDamaged, "repaired by 'plimsoll repair'"},
		{documentsDamaged, "reported as needing a backup, and restored"}} {
		all = append(all, trial.Say(one.side+": of %s damages the audit names %s by document and field, amcheck "+
			"finds %s faults, %s are "+one.means+", and %s violations are left", sumDamaged(one.side, planted, ""),
			sumDamaged(one.side, named, ""), sumDamaged(one.side, physical, ""), sumDamaged(one.side, treated, ""),
			sumDamaged(one.side, foundAfter, "")))
	}
	return append(all, trial.Say("'plimsoll repair' takes %s objects/s, with its audits and proof",
		trial.Spread{Of: trial.At(registersDamaged, repairRate).In(damagedPart), Format: "%.2f"}))
}

func integrityConditions() []claims.Condition {
	return []claims.Condition{
		{Name: "damages", Text: fmt.Sprintf("those of the audit's own tests, inflicted by SQL bypassing the "+
			"application, each on a document of its own; %d of %d", len(staleRegisters)+len(lostDocuments),
			len(damage.All))},
		{Name: registersDamaged, Text: "a document is right, but its rows in registers, entries, totals and counters " +
			"are lost or wrong; afterwards every table must equal that of the undamaged base, except that documents " +
			"with a repaired attribute have the next version"},
		{Name: documentsDamaged, Text: "registers were updated, but their document is gone, or is as it was before; " +
			"'plimsoll repair' must change nothing and name each; then the backup is restored"},
		{Name: "backup", Text: "a copy of the base's files, made before the damage"},
		{Name: "objects", Text: "documents of the base divided by the time of a whole audit; steps of a repair " +
			"divided by its time, including two audits, the checks for physical damage and the proof"},
	}
}
