#!/usr/bin/env bash
# Prints the SQL script of the extension: most of it is the same for each type and pairing of types.
set -euo pipefail

# function_ NAME ARGUMENTS RESULT [C-NAME [ATTRIBUTES]]
function_() {
	printf "CREATE FUNCTION %s(%s) RETURNS %s AS 'MODULE_PATHNAME', '%s' LANGUAGE C IMMUTABLE %s PARALLEL SAFE;\n" \
		"$1" "$2" "$3" "${4:-$1}" "${5:-STRICT}"
}

# operator NAME LEFT RIGHT FUNCTION [CLAUSE…]
operator() {
	local clause clauses=
	for clause in "${@:5}"; do clauses+=", $clause"; done
	printf 'CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s%s);\n' "$1" "$2" "$3" "$4" "$clauses"
}

# create_type NAME
create_type() {
	cat <<-SQL

		CREATE TYPE $1;
		CREATE FUNCTION $1_in(cstring, oid, integer) RETURNS $1
		    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
		CREATE FUNCTION $1_recv(internal, oid, integer) RETURNS $1
		    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
		CREATE FUNCTION $1_out($1) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
		CREATE FUNCTION $1_send($1) RETURNS bytea AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
		CREATE TYPE $1 (INPUT = $1_in, OUTPUT = $1_out, RECEIVE = $1_recv, SEND = $1_send,
		    TYPMOD_IN = mchartypmod_in, TYPMOD_OUT = mchartypmod_out,
		    INTERNALLENGTH = VARIABLE, STORAGE = extended, ALIGNMENT = int4, CATEGORY = 'S');
	SQL
}

# cast FROM TO FUNCTION CONTEXT
cast() { echo "CREATE CAST ($1 AS $2) WITH FUNCTION $3 AS $4;"; }

casts() {
	local t
	function_ mchar 'mchar, integer, boolean' mchar
	function_ mvarchar 'mvarchar, integer, boolean' mvarchar
	function_ mvarchar_mchar 'mvarchar, integer, boolean' mchar
	function_ mchar_mvarchar 'mchar, integer, boolean' mvarchar
	cast mchar mchar 'mchar(mchar, integer, boolean)' IMPLICIT
	cast mvarchar mvarchar 'mvarchar(mvarchar, integer, boolean)' IMPLICIT
	cast mvarchar mchar 'mvarchar_mchar(mvarchar, integer, boolean)' IMPLICIT
	cast mchar mvarchar 'mchar_mvarchar(mchar, integer, boolean)' IMPLICIT
	for t in mchar mvarchar; do
		function_ ${t}_from_text 'text, integer, boolean' $t
		function_ ${t}_from_bpchar 'bpchar, integer, boolean' $t
		function_ ${t}_to_text $t text
		cast text $t "${t}_from_text(text, integer, boolean)" ASSIGNMENT
		cast varchar $t "${t}_from_text(text, integer, boolean)" ASSIGNMENT
		cast bpchar $t "${t}_from_bpchar(bpchar, integer, boolean)" ASSIGNMENT
		cast $t text "${t}_to_text($t)" ASSIGNMENT
		cast $t varchar "${t}_to_text($t)" ASSIGNMENT
		cast $t bpchar "${t}_to_text($t)" ASSIGNMENT
	done
}

strings() {
	local t
	for t in mchar mvarchar; do
		function_ length $t integer ${t}_length
		function_ upper $t $t ${t}_upper
		function_ lower $t $t ${t}_lower
		function_ substr "$t, integer" $t ${t}_substr_no_length
		function_ substr "$t, integer, integer" $t ${t}_substr
	done
	function_ mchar_concat 'mchar, mchar' mchar
	function_ mvarchar_concat 'mvarchar, mvarchar' mvarchar
	function_ mchar_mvarchar_concat 'mchar, mvarchar' mvarchar
	function_ mvarchar_mchar_concat 'mvarchar, mchar' mvarchar
	operator '||' mchar mchar mchar_concat
	operator '||' mvarchar mvarchar mvarchar_concat
	operator '||' mchar mvarchar mchar_mvarchar_concat
	operator '||' mvarchar mchar mvarchar_mchar_concat
}

# pairings prints the prefix of a pairing's functions, and its types.
pairings() {
	printf '%s\n' 'mchar mchar mchar' 'mvarchar mvarchar mvarchar' 'mc_mv mchar mvarchar' 'mv_mc mvarchar mchar'
}

# comparisons CASE SIGN [HASHES]: the operators are = and so on with the sign in front.
comparisons() {
	local prefix left right name
	while read -r prefix left right; do
		prefix+=_$1
		for name in eq ne lt le gt ge; do function_ ${prefix}_$name "$left, $right" boolean; done
		function_ ${prefix}_cmp "$left, $right" integer
	done < <(pairings)
	while read -r prefix left right; do
		prefix+=_$1
		operator "$2=" $left $right ${prefix}_eq "COMMUTATOR = $2=" "NEGATOR = $2<>" 'RESTRICT = eqsel' \
			'JOIN = eqjoinsel' MERGES ${3:+"$3"}
		operator "$2<>" $left $right ${prefix}_ne "COMMUTATOR = $2<>" "NEGATOR = $2=" 'RESTRICT = neqsel' \
			'JOIN = neqjoinsel'
		operator "$2<" $left $right ${prefix}_lt "COMMUTATOR = $2>" "NEGATOR = $2>=" 'RESTRICT = scalarltsel' \
			'JOIN = scalarltjoinsel'
		operator "$2<=" $left $right ${prefix}_le "COMMUTATOR = $2>=" "NEGATOR = $2>" 'RESTRICT = scalarlesel' \
			'JOIN = scalarlejoinsel'
		operator "$2>" $left $right ${prefix}_gt "COMMUTATOR = $2<" "NEGATOR = $2<=" 'RESTRICT = scalargtsel' \
			'JOIN = scalargtjoinsel'
		operator "$2>=" $left $right ${prefix}_ge "COMMUTATOR = $2<=" "NEGATOR = $2<" 'RESTRICT = scalargesel' \
			'JOIN = scalargejoinsel'
	done < <(pairings)
}

# family CASE SIGN DEFAULT: btree classes of both types and what goes across.
family() {
	local t prefix left right
	echo "CREATE OPERATOR FAMILY $1_ops USING btree;"
	for t in mchar mvarchar; do
		cat <<-SQL
			CREATE FUNCTION ${t}_$1_sortsupport(internal) RETURNS void
			    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
			CREATE OPERATOR CLASS ${t}_$1_ops $3 FOR TYPE $t USING btree FAMILY $1_ops AS
			    OPERATOR 1 $2<, OPERATOR 2 $2<=, OPERATOR 3 $2=, OPERATOR 4 $2>=, OPERATOR 5 $2>,
			    FUNCTION 1 ${t}_$1_cmp($t, $t), FUNCTION 2 ${t}_$1_sortsupport(internal);
		SQL
	done
	while read -r prefix left right; do
		[[ $left != "$right" ]] || continue
		cat <<-SQL
			ALTER OPERATOR FAMILY $1_ops USING btree ADD
			    OPERATOR 1 $2< ($left, $right), OPERATOR 2 $2<= ($left, $right), OPERATOR 3 $2= ($left, $right),
			    OPERATOR 4 $2>= ($left, $right), OPERATOR 5 $2> ($left, $right),
			    FUNCTION 1 ($left, $right) ${prefix}_$1_cmp($left, $right);
		SQL
	done < <(pairings)
}

hashing() {
	local t
	echo 'CREATE OPERATOR FAMILY icase_ops USING hash;'
	for t in mchar mvarchar; do
		function_ ${t}_hash $t integer
		function_ ${t}_hash_extended "$t, bigint" bigint
		cat <<-SQL
			CREATE OPERATOR CLASS ${t}_icase_ops DEFAULT FOR TYPE $t USING hash FAMILY icase_ops AS
			    OPERATOR 1 =, FUNCTION 1 ${t}_hash($t), FUNCTION 2 ${t}_hash_extended($t, bigint);
		SQL
	done
	cat <<-SQL
		ALTER OPERATOR FAMILY icase_ops USING hash ADD
		    OPERATOR 1 = (mchar, mvarchar), OPERATOR 1 = (mvarchar, mchar);
	SQL
}

# The same with NULL equal to NULL; fulleq has it for other types.
full_equality() {
	local t
	for t in mchar mvarchar; do
		function_ isfulleq_$t "$t, $t" boolean isfulleq_$t 'CALLED ON NULL INPUT'
		function_ fullhash_$t $t integer ${t}_hash
		operator '==' $t $t isfulleq_$t 'COMMUTATOR = ==' 'RESTRICT = eqsel' 'JOIN = eqjoinsel' HASHES
		echo "CREATE OPERATOR CLASS ${t}_fill_ops FOR TYPE $t USING hash AS OPERATOR 1 ==, FUNCTION 1 fullhash_$t($t);"
	done
}

aggregates() {
	local t
	for t in mchar mvarchar; do
		function_ ${t}_larger "$t, $t" $t
		function_ ${t}_smaller "$t, $t" $t
		cat <<-SQL
			CREATE AGGREGATE max($t)
			    (SFUNC = ${t}_larger, STYPE = $t, SORTOP = >, COMBINEFUNC = ${t}_larger, PARALLEL = safe);
			CREATE AGGREGATE min($t)
			    (SFUNC = ${t}_smaller, STYPE = $t, SORTOP = <, COMBINEFUNC = ${t}_smaller, PARALLEL = safe);
		SQL
	done
}

patterns() {
	local t p prefix
	for t in mchar mvarchar; do
		cat <<-SQL
			CREATE FUNCTION ${t}_like_support(internal) RETURNS internal
			    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
		SQL
		for p in mvarchar text; do
			prefix=$t
			[[ $p != text ]] || prefix+=_text
			function_ ${prefix}_like "$t, $p" boolean ${prefix}_like "STRICT SUPPORT ${t}_like_support"
			function_ ${prefix}_notlike "$t, $p" boolean
			operator '~~' $t $p ${prefix}_like 'NEGATOR = !~~' 'RESTRICT = matchingsel' 'JOIN = matchingjoinsel'
			operator '!~~' $t $p ${prefix}_notlike 'NEGATOR = ~~' 'RESTRICT = nlikesel' 'JOIN = nlikejoinsel'
		done
	done
	while read -r prefix t p; do
		function_ ${prefix}_regexeq "$t, $p" boolean
		function_ ${prefix}_regexne "$t, $p" boolean
		operator '~' $t $p ${prefix}_regexeq 'NEGATOR = !~' 'RESTRICT = matchingsel' 'JOIN = matchingjoinsel'
		operator '!~' $t $p ${prefix}_regexne 'NEGATOR = ~' 'RESTRICT = regexnesel' 'JOIN = regexnejoinsel'
	done < <(pairings; printf '%s\n' 'mchar_text mchar text' 'mvarchar_text mvarchar text')

	# What the grammar makes of LIKE … ESCAPE and SIMILAR TO is looked for there alone.
	function_ pg_catalog.like_escape 'mvarchar, mvarchar' mvarchar like_escape_mvarchar
	function_ pg_catalog.similar_to_escape mvarchar mvarchar mvarchar_similar_escape
	function_ pg_catalog.similar_to_escape 'mvarchar, mvarchar' mvarchar mvarchar_similar_escape
	for t in mchar mvarchar; do
		function_ similar_escape "$t, $t" $t ${t}_similar_escape 'CALLED ON NULL INPUT'
	done
}

trigrams() {
	local t
	for t in mchar mvarchar; do
		function_ ${t}_trigrams "$t, internal, internal" internal
		function_ ${t}_trigram_query "$t, internal, smallint, internal, internal, internal, internal" internal \
			mchar_trigram_query
		function_ ${t}_trigram_consistent "internal, smallint, $t, integer, internal, internal, internal, internal" \
			boolean mchar_trigram_consistent
		function_ ${t}_trigram_triconsistent "internal, smallint, $t, integer, internal, internal, internal" \
			'"char"' mchar_trigram_triconsistent
		cat <<-SQL
			CREATE OPERATOR CLASS ${t}_trigram_ops FOR TYPE $t USING gin AS
			    OPERATOR 1 ~~ ($t, mvarchar), OPERATOR 2 ~~ ($t, text),
			    FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 ${t}_trigrams($t, internal, internal),
			    FUNCTION 3 ${t}_trigram_query($t, internal, smallint, internal, internal, internal, internal),
			    FUNCTION 4 ${t}_trigram_consistent(internal, smallint, $t, integer,
			        internal, internal, internal, internal),
			    FUNCTION 6 ${t}_trigram_triconsistent(internal, smallint, $t, integer, internal, internal, internal),
			    STORAGE bigint;
		SQL
	done
}

collation() {
	cat <<-'SQL'

		-- The version of ICU with which the indexes of this database were made (mchar_collate.c).
		CREATE FUNCTION mchar_collation_version() RETURNS text
		    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
		CREATE TABLE mchar_collation (version text NOT NULL);
		INSERT INTO mchar_collation VALUES (@extschema@.mchar_collation_version());
		GRANT SELECT ON mchar_collation TO PUBLIC;

		CREATE FUNCTION mchar_refresh_collation() RETURNS text
		    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
		    AS 'UPDATE @extschema@.mchar_collation SET version = @extschema@.mchar_collation_version()
		        RETURNING version';
		REVOKE ALL ON FUNCTION mchar_refresh_collation() FROM PUBLIC;

		-- Indexes whose order or keys depend on ICU.
		CREATE FUNCTION mchar_indexes() RETURNS SETOF regclass
		    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
		    AS $$ SELECT DISTINCT i.indexrelid::regclass
		            FROM pg_index i CROSS JOIN unnest(i.indclass) AS k (opclass)
		                 JOIN pg_opclass c ON c.oid = k.opclass
		           WHERE c.opcintype IN ('@extschema@.mchar'::regtype, '@extschema@.mvarchar'::regtype) $$;

		COMMENT ON FUNCTION mchar_collation_version() IS 'locale, collation and Unicode of mchar and mvarchar now';
		COMMENT ON FUNCTION mchar_refresh_collation() IS 'records that all indexes were made with the ICU of now';
		COMMENT ON FUNCTION mchar_indexes() IS 'indexes to rebuild when ICU has changed';
	SQL
}

echo '-- complain if script is sourced in psql, rather than via CREATE EXTENSION'
echo '\echo Use "CREATE EXTENSION mchar" to load this file. \quit'
echo
function_ mchartypmod_in 'cstring[]' integer
function_ mchartypmod_out integer cstring
create_type mchar
create_type mvarchar
casts
strings
comparisons icase '' HASHES
comparisons case '&'
family icase '' DEFAULT
family case '&' ''
hashing
full_equality
aggregates
patterns
trigrams
collation
