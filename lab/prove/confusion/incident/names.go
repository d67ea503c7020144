package incident

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// relations of the base and their columns; of an index or a sequence: none. base.sql makes them in the schema shop.
var relations = map[string]string{
	"customers": "id region city name email balance", "customers_key": "", "customers_by_email": "",
	"items": "id name price stock", "items_key": "",
	"orders":     "id customer day state total note",
	"orders_ids": "", "orders_key": "", "orders_by_customer": "", "orders_by_day": "",
	"lines": "document line item quantity note", "lines_key": "", "documents": "",
	"counters": "id n", "counters_key": "",
}

// Names that a trial gives to what the base and its faults make, and the strengths of the faults.
type Names struct {
	Schema, Database string
	User, Watch      string // of the load, and of the diagnosis

	rng   *rand.Rand
	given map[string]string
	used  map[string]bool
	plain bool
}

// Plain are the base's own names, for a case that a person reads. The seed draws the strengths alone.
func Plain(seed uint64) *Names {
	n := &Names{Schema: "shop", Database: "shop", User: "clerk", Watch: "watcher", plain: true,
		rng: rand.New(rand.NewPCG(seed, 0x1234)), given: map[string]string{}}
	for relation, columns := range relations {
		n.given[relation] = relation
		for column := range strings.FieldsSeq(columns) {
			n.given[relation+"."+column] = column
		}
	}
	return n
}

// Draw names by a seed.
func Draw(seed uint64) *Names {
	n := &Names{rng: rand.New(rand.NewPCG(seed, 0x1234)), given: map[string]string{}, used: map[string]bool{}}
	n.Schema, n.Database = n.word(), n.word()
	n.User, n.Watch = n.word(), n.word()
	for _, relation := range slices.Sorted(maps.Keys(relations)) {
		n.given[relation] = n.word()
		for column := range strings.FieldsSeq(relations[relation]) {
			n.given[relation+"."+column] = n.word()
		}
	}
	return n
}

// word of three syllables: none is a word of SQL that must be quoted.
func (n *Names) word() string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	for {
		var b strings.Builder
		for range 3 + n.rng.IntN(2) {
			b.WriteByte(consonants[n.rng.IntN(len(consonants))])
			b.WriteByte(vowels[n.rng.IntN(len(vowels))])
		}
		if word := b.String(); !n.used[word] {
			n.used[word] = true
			return word
		}
	}
}

// fresh name for a key, the same each time.
func (n *Names) fresh(key string) string {
	switch {
	case n.given[key] != "":
	case n.plain: // the name is the last word of the key
		n.given[key] = strings.ReplaceAll(key[strings.LastIndex(key, " ")+1:], "-", "_")
	default:
		n.given[key] = n.word()
	}
	return n.given[key]
}

// App is how the server knows an application of a fault.
func (n *Names) App(f *Fault, name string) string { return n.fresh("app " + f.Name + " " + name) }

// Role of a fault's applications: each has its own, since settings of roles are faults.
func (n *Names) Role(f *Fault) string { return n.fresh("role " + f.Name) }

// Renames of the base.
func (n *Names) Renames() []string {
	var all []string
	if n.plain {
		return nil
	}
	for _, relation := range slices.Sorted(maps.Keys(relations)) {
		for column := range strings.FieldsSeq(relations[relation]) {
			all = append(all, fmt.Sprintf("ALTER TABLE shop.%s RENAME COLUMN %s TO %s", relation, column,
				n.given[relation+"."+column]))
		}
		all = append(all, fmt.Sprintf("ALTER TABLE shop.%s RENAME TO %s", relation, n.given[relation]))
	}
	return append(all, "ALTER SCHEMA shop RENAME TO "+n.Schema)
}

var place = regexp.MustCompile(`\{([#~]?)([a-z_]+)(\.[a-z_]+)?\}`)

// fill the names in braces of a fault's text.
func (n *Names) fill(f *Fault, text string) (string, error) {
	var wrong error
	filled := place.ReplaceAllStringFunc(text, func(found string) string {
		m := place.FindStringSubmatch(found)
		switch kind, name, column := m[1], m[2], m[3]; {
		case kind == "#":
			value, known := n.number(f, name)
			if !known {
				wrong = fmt.Errorf("%s: nothing draws %s", f.Name, found)
			}
			return value
		case kind == "~":
			return n.fresh(f.Name + " " + name)
		case column != "":
			given := n.given[name+column]
			if given == "" {
				wrong = fmt.Errorf("%s: the base has no %s", f.Name, found)
			}
			return given
		case name == "i":
			return found // of \repeat
		default:
			return n.named(f, name)
		}
	})
	return filled, wrong
}

func (n *Names) named(f *Fault, name string) string {
	if _, of := relations[name]; of {
		return n.Schema + "." + n.given[name]
	}
	special := map[string]string{"schema": n.Schema, "role": n.Role(f), "user": n.User, "database": n.Database}
	if found := special[name]; found != "" {
		return found
	}
	return n.Schema + "." + n.fresh(f.Name+" "+name)
}

// number that a fault draws: small ones as likely as large ones.
func (n *Names) number(f *Fault, name string) (string, bool) {
	i := slices.IndexFunc(f.draws, func(d draw) bool { return d.name == name })
	if i < 0 {
		return "", false
	}
	key := "number " + f.Name + " " + name
	if n.given[key] == "" {
		d := f.draws[i]
		x := d.low * math.Pow(d.high/d.low, n.rng.Float64())
		n.given[key] = strconv.FormatInt(int64(math.Round(x)), 10)
	}
	return n.given[key], true
}
