package result

// Diagnosis is where the operations' time went in the steady state, and what took it.
type Diagnosis struct {
	// Unavailable says why there is none; empty: there is.
	Unavailable string  `json:"unavailable,omitempty"`
	Samples     int     `json:"samples"`
	PerS        float64 `json:"samples_per_s"`
	// Cost is the share of the time in which a query of the sampler was under way.
	Cost float64 `json:"cost"`
	// OperationsS is the time of all answered operations; SessionsS that of the database's active sessions.
	OperationsS float64 `json:"operations_s"`
	SessionsS   float64 `json:"sessions_s"`
	// Attributed is the part of the sessions' time whose operation is known; the rest is others' work, or was between
	// two looks.
	Attributed float64 `json:"attributed"`
	// Ledger of all operations adds up to their time.
	Ledger []LedgerLine `json:"ledger"`
	// Statements that took most of the sessions' time, where it is not known which operations sent them: then no
	// operation has statements of its own.
	Statements []Statement `json:"statements,omitempty"`
	Findings   []TimeCause `json:"findings"`
	Healthy    []string    `json:"healthy"`
}

// LedgerLine is one part of operations' time.
type LedgerLine struct {
	Class string  `json:"class"`
	Name  string  `json:"name"`
	S     float64 `json:"s"`
	Share float64 `json:"share"`
}

// Classes of lines that are not the database's.
const (
	OfGenerator = "generator"
	Outside     = "outside"
)

// Statement that took a part of the time in the database.
type Statement struct {
	Text  string  `json:"text"`  // without values
	S     float64 `json:"s"`     // of sessions, by samples
	Share float64 `json:"share"` // of the time of its operation; of all operations where it is of all
	// Plan of it; null: none was asked for, or none could be.
	Plan *Plan `json:"plan"`
}

// Plan of a statement, which was not run for it.
type Plan struct {
	// How it was come by: generic (for any values), custom (for those of one call) or logged (by auto_explain).
	How     string   `json:"how"`
	Lines   []string `json:"lines"`   // the tree, without values
	Remarks []string `json:"remarks"` // what makes it slow
}

// TimeCause takes a part of the operations' time.
type TimeCause struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Level string `json:"level"` // problem, note
	// Price is its share of the operations' time; null: unknown.
	Price *float64 `json:"price"`
	// PriceInterval is its 95 % interval, as far as samples go; older results lack it.
	PriceInterval *Range `json:"price_interval,omitempty"`
	// ApdexGain is by how many points the overall score would rise without it, if nothing took its place; null:
	// unknown.
	ApdexGain *Gain `json:"apdex_gain"`
	// Operations are those that lose most by it.
	Operations []Loss   `json:"operations,omitempty"`
	Evidence   []string `json:"evidence"`
	Next       []string `json:"next"`
	// Statements that it is about, without their values.
	Statements []string `json:"statements,omitempty"`
}

// Gain in points of Apdex, from low to high.
type Gain struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Loss of one operation to a cause.
type Loss struct {
	ID    string  `json:"id"`
	S     float64 `json:"s"`
	Share float64 `json:"share"` // of its time
}
