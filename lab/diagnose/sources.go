package diagnose

// Source is a source of figures that could not be read, and why. What it would have shown is missing from the report,
// not zero.
type Source struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

type sources struct{ missing []Source }

func (s *sources) miss(name, why string) { s.missing = append(s.missing, Source{name, why}) }

func (s *sources) missOnError(name string, err error) {
	if err != nil {
		s.miss(name, err.Error())
	}
}
