#!/usr/bin/env bash
# Prints the SQL script of the extension: the same for each type of fulleq_types.h.
set -euo pipefail

cat <<'SQL'
-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION fulleq" to load this file. \quit
SQL
sed -n 's/^FULLEQ(\([a-z0-9]*\),.*/\1/p' "$(dirname "${BASH_SOURCE[0]}")/fulleq_types.h" | while read -r type; do
	# char is a type of the standard; the one of a byte is written in quotes.
	name=$type
	[[ $name != char ]] || name='"char"'
	cat <<-SQL

		CREATE FUNCTION isfulleq_$type($name, $name) RETURNS boolean
		    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;
		CREATE FUNCTION fullhash_$type($name) RETURNS integer
		    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
		CREATE OPERATOR == (LEFTARG = $name, RIGHTARG = $name, FUNCTION = isfulleq_$type,
		    COMMUTATOR = ==, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES);
		CREATE OPERATOR CLASS ${type}_fill_ops FOR TYPE $name USING hash AS
		    OPERATOR 1 ==, FUNCTION 1 fullhash_$type($name);
	SQL
done
