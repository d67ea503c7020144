-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION fasttrun" to load this file. \quit

CREATE FUNCTION fasttruncate(text)
RETURNS void
AS 'MODULE_PATHNAME', 'fasttruncate'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION fasttruncate(text) IS
	'empties a temporary table of this session at once; not transactional';
