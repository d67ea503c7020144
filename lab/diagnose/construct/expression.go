package construct

import (
	"strings"

	"plimsoll/ground/postgres/sqltext"
)

// place of an expression.
type place struct {
	q               *query
	inside          map[string]string // tables, by what columns are called by
	list, where, or bool
}

// walk an expression.
func (r *reader) walk(all []token, at place) {
	for i, t := range all {
		switch {
		case t.text == "(" && isQuery(t.inner):
			r.subquery(t.inner, all[:i], all[i+1:], at)
			continue
		case t.text == "(" && i > 0 && all[i-1].name != "" && !reserved[all[i-1].word]:
			r.call(all, i-1, at)
		case t.text == "(" && (wordAt(all, i-1) == "in" || wordAt(all, i-1) == "values"):
			r.listed(t.inner)
		case t.text == "[":
			r.listed(t.inner)
		case t.word == "case":
			r.cases(all[i:])
		default:
			r.sign(all, i, at)
		}
		r.walk(t.inner, at)
	}
}

func (r *reader) listed(inner []token) {
	goesOn := len(inner) > 0 && inner[len(inner)-1].text == sqltext.CutMark
	if goesOn || len(split(inner, ",")) >= listLeast {
		r.add(longList)
	}
}

// whensLeast make a CASE a table.
const whensLeast = 10

func (r *reader) cases(all []token) {
	depth, n := 0, 0
	for _, t := range all {
		switch t.word {
		case "case":
			depth++
		case "end":
			depth--
		case "when":
			if depth == 1 {
				n++
			}
		}
		if depth == 0 {
			break
		}
	}
	if n >= whensLeast {
		r.add(longCase)
	}
}

var (
	arithmetic = words("+ - * / || ^")
	aggregates = words(`count sum avg min max bool_and bool_or every array_agg string_agg json_agg jsonb_agg
		json_object_agg jsonb_object_agg xmlagg bit_and bit_or`)
	documents = words(`json_agg jsonb_agg json_object_agg jsonb_object_agg xmlagg json_arrayagg json_objectagg
		row_to_json to_jsonb to_json json_build_object jsonb_build_object xmlelement xmlforest`)
	lists = words("array_agg string_agg range_agg")

	// invertible are aggregates that take a row out of a frame again.
	invertible = words(`count sum avg stddev stddev_pop stddev_samp variance var_pop var_samp bool_and bool_or every`)
	// ranking functions of windows that look at no frame, or at its ends alone.
	ranking = words(`row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`)

	makesRows = words(`generate_series unnest regexp_split_to_table regexp_matches string_to_table generate_subscripts
		json_array_elements jsonb_array_elements json_array_elements_text jsonb_array_elements_text json_each jsonb_each
		json_each_text jsonb_each_text json_object_keys jsonb_object_keys jsonb_path_query json_to_recordset
		jsonb_to_recordset ts_stat`)
)

// families of functions that are built in or come with PostgreSQL.
var families = []struct {
	kind kind
	has  map[string]bool
}{
	{regularExpression, words(`regexp_match regexp_matches regexp_replace regexp_split_to_table regexp_split_to_array
		regexp_count regexp_like regexp_instr regexp_substr`)},
	{textSearch, words("to_tsvector ts_rank ts_rank_cd ts_headline ts_stat strip setweight")},
	{likeness, words(`similarity word_similarity strict_word_similarity levenshtein levenshtein_less_equal soundex
		metaphone dmetaphone dmetaphone_alt daitch_mokotoff difference unaccent`)},
	{encryption, words(`crypt gen_salt digest hmac encrypt decrypt encrypt_iv decrypt_iv pgp_sym_encrypt pgp_sym_decrypt
		pgp_pub_encrypt pgp_pub_decrypt sha224 sha256 sha384 sha512`)},
	{powers, words("power pow exp ln log log10 sqrt cbrt factorial gcd lcm erf erfc")},
	{arraySearch, words("array_position array_positions array_remove array_replace array_cat array_append array_sort")},
	{hashes, words("md5 hashtext hashtextextended encode decode convert_from convert_to")},
	{texts, words(`repeat lpad rpad format replace translate concat concat_ws reverse overlay split_part
		string_to_array array_to_string initcap normalize quote_literal quote_ident`)},
	{dates, words("to_char to_date to_timestamp to_number date_trunc date_part date_bin extract age timezone")},
}

// call of a function.
func (r *reader) call(all []token, i int, at place) {
	name, args, next := all[i].name, all[i+1].inner, i+2
	switch {
	case at.list && makesRows[name] && at.q != nil && at.q.verb == "select":
		r.add(rowsInList, name)
	case documents[name]:
		r.add(buildsDocument, name)
	case lists[name]:
		r.add(buildsList, name)
	case strings.HasPrefix(name, "json") || strings.HasPrefix(name, "xml") || strings.HasPrefix(name, "xpath"):
		r.document(at)
	}
	for _, family := range families {
		if family.has[name] {
			r.add(family.kind, name)
		}
	}
	if wordAt(all, next) == "within" {
		r.add(orderedSet, name)
		next += 3
	}
	if wordAt(args, 0) == "distinct" && at.q != nil {
		at.q.counted = append(at.q.counted, tablesOf(args))
	}
	if wordAt(all, next) == "filter" {
		next += 2
	}
	if wordAt(all, next) == "over" && next+1 < len(all) {
		r.window(name, all[next+1], at.q)
	} else if has(args, "order") {
		r.add(orderedAggregate, name)
	}
}

// document taken apart, in a condition or for what is shown.
func (r *reader) document(at place) {
	if at.where {
		r.add(jsonCondition)
	} else {
		r.add(jsonFields)
	}
}

// sign or word that works by itself.
func (r *reader) sign(all []token, i int, at place) {
	switch t := all[i]; {
	case t.text == "~" && i > 0 && operand(all[i-1]), t.text == "~*" || t.text == "!~" || t.text == "!~*",
		t.word == "similar":
		r.add(regularExpression, t.text)
	case t.text == "->" || t.text == "->>" || t.text == "#>" || t.text == "#>>" || t.text == "@?":
		r.document(at)
	case t.text == "^" || t.text == "|/":
		r.add(powers, t.text)
	case t.text == "||":
		r.add(texts, t.text)
	case t.word == "zone" && wordAt(all, i-2) == "at":
		r.add(dates, "AT TIME ZONE")
	case t.word == "ilike" || t.word == "like" || t.text == "~~" || t.text == "~~*":
		if at.where && (t.word == "ilike" || t.text == "~~*" || wildcard(all[i+1:])) {
			r.add(anyPart, strings.ToUpper(t.text))
		} else if at.where {
			r.add(like)
		}
	case (t.word == "any" || t.word == "some") && at.where && i+1 < len(all) && all[i+1].text == "(" &&
		!isQuery(all[i+1].inner) && len(columns(all[i+1].inner)) > 0:
		r.add(arraySearch, "ANY (column)")
	}
}

// wildcard begins a pattern, or may do so: it is put together.
func wildcard(pattern []token) bool {
	if len(pattern) == 0 {
		return false
	}
	if strings.HasPrefix(pattern[0].text, "'%") || strings.HasPrefix(pattern[0].text, "'_") {
		return true
	}
	return pattern[0].value && len(pattern) > 1 && pattern[1].text == "||"
}

// subquery, by what stands before it.
func (r *reader) subquery(inner, left, right []token, at place) {
	s := parse(inner)
	last := len(left) - 1
	switch word := wordAt(left, last); {
	case word == "in" && wordAt(left, last-1) == "not", word == "all" && last > 0 && left[last-1].text == "<>":
		r.add(notIn)
	case at.or && (word == "in" || word == "exists" || word == "any" || word == "some"):
		r.add(orSubquery)
	case word == "in" || word == "any" || word == "some" || word == "all":
		r.add(inSelect)
	case word == "exists":
		r.add(exists)
	case at.where && counts(s) && compared(left, right):
		r.add(countCompared)
	case runs(s, inner, at.inside):
		r.add(runningTotal)
	case isCorrelated(s, inner, at.inside):
		r.add(correlated)
	default:
		r.add(scalar)
	}
	r.statement(&s, at.inside, false)
}

// counts says that a subquery returns a count of rows.
func counts(s statement) bool {
	return len(s.queries) == 1 && len(s.queries[0].list) == 2 && s.queries[0].list[0].name == "count"
}

// compared with something that stands on one side of it.
func compared(left, right []token) bool {
	sign := func(t token) bool { return t.text == "=" || ranges[t.text] }
	return len(right) > 0 && sign(right[0]) || len(left) > 0 && sign(left[len(left)-1])
}

// aliases of a statement, of subqueries in FROM, too.
func (s *statement) aliases(into map[string]bool) {
	for _, c := range s.common {
		c.inner.aliases(into)
	}
	for _, q := range s.queries {
		for _, one := range q.items {
			if into[one.alias] = true; one.inner != nil {
				one.inner.aliases(into)
			}
		}
	}
}

// isCorrelated says that a subquery names a table of a query around it.
func isCorrelated(s statement, inner []token, inside map[string]string) bool {
	own := map[string]bool{}
	s.aliases(own)
	for table := range tablesOf(inner) {
		if _, is := inside[table]; is && !own[table] {
			return true
		}
	}
	return false
}

// runs over the rows before the one of the same table outside: a running total.
func runs(s statement, inner []token, inside map[string]string) bool {
	if !isCorrelated(s, inner, inside) || len(s.queries) != 1 || len(s.queries[0].items) != 1 {
		return false
	}
	q := s.queries[0]
	for _, c := range conjuncts(q.where) {
		if !before(c) {
			continue
		}
		for alias := range tablesOf(c) {
			if alias != q.items[0].alias && inside[alias] == q.items[0].table {
				return true
			}
		}
	}
	return false
}

// window of a function: its frame, and whether it is of all rows.
func (r *reader) window(name string, over token, q *query) {
	spec := over.inner
	if q != nil {
		q.windowed = true
		if over.name != "" {
			spec = q.windowNamed(over.name)
		} else if first := wordAt(spec, 0); first != "" && first != "partition" && first != "order" {
			spec = append(append([]token{}, q.windowNamed(first)...), spec...)
		}
	}
	if !has(spec, "partition") {
		r.add(windowAll)
	}
	frame := -1
	for i, t := range spec {
		if t.word == "rows" || t.word == "range" || t.word == "groups" {
			frame = i + 1
		}
	}
	switch {
	case frame > 0 && slides(spec[frame:]) && !ranking[name]:
		if invertible[name] {
			r.add(windowSliding, name)
		} else {
			r.add(slidingExtreme, name)
		}
	case has(spec, "order") && !ranking[name]:
		r.add(windowRunning, name)
	default:
		r.add(window, name)
	}
}

// windowNamed in the clause WINDOW.
func (q *query) windowNamed(name string) []token {
	for i, t := range q.windows {
		if t.name == name && wordAt(q.windows, i+1) == "as" && i+2 < len(q.windows) {
			return q.windows[i+2].inner
		}
	}
	return nil
}

// slides says that a frame begins anywhere but with the first row.
func slides(frame []token) bool {
	i := 0
	if wordAt(frame, 0) == "between" {
		i++
	}
	return !(wordAt(frame, i) == "unbounded" && wordAt(frame, i+1) == "preceding")
}
