package script

import "strings"

// Use of a variable: its value is needed in this line of the script.
type Use struct {
	Name string
	Line int
}

// Sets are the variables that scripts may set: by name and, for columns of queries, by the prefix of their names.
type Sets struct {
	Names    map[string]bool
	Prefixes []string
}

// Has says whether a variable may be set.
func (s Sets) Has(name string) bool {
	for _, prefix := range s.Prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return s.Names[name]
}

// Uses are the variables whose values the script needs, in the order of its lines. In the simple protocol a name behind
// a colon that is no variable stays the text that it is.
func (s *Script) Uses(mode Mode) (all []Use) {
	eachCommand(s.commands, func(c command) {
		add := func(name string) { all = append(all, Use{name, c.line}) }
		switch {
		case c.verb == "set":
			c.expression.root.variables(add)
		case c.verb == "sleep" && c.sleep.variable != "":
			add(c.sleep.variable)
		case c.verb == "sql" && mode != Simple:
			for _, name := range c.params {
				add(name)
			}
		}
		for _, b := range c.branches {
			b.condition.root.variables(add)
		}
	})
	return all
}

// Variables are the names that the expression needs.
func (e Expression) Variables() (names []string) {
	e.root.variables(func(name string) { names = append(names, name) })
	return names
}

// AddSets adds what the script may set.
func (s *Script) AddSets(to *Sets) {
	eachCommand(s.commands, func(c command) {
		if c.verb == "set" {
			to.Names[c.name] = true
		}
		if c.get != "" {
			to.Prefixes = append(to.Prefixes, c.prefix)
		}
	})
}

// eachCommand goes through all, those of branches behind their \if.
func eachCommand(all []command, do func(command)) {
	for _, c := range all {
		do(c)
		for _, b := range c.branches {
			eachCommand(b.body, do)
		}
	}
}

func (constant) variables(func(string)) {}

func (v variable) variables(add func(string)) { add(string(v)) }

func (l lazy) variables(add func(string)) {
	l.left.variables(add)
	l.right.variables(add)
}

func (c cases) variables(add func(string)) {
	for i, when := range c.when {
		when.variables(add)
		c.then[i].variables(add)
	}
	c.otherwise.variables(add)
}

func (c call) variables(add func(string)) {
	for _, arg := range c.args {
		arg.variables(add)
	}
}
