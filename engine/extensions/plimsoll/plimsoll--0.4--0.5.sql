-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION plimsoll" or "ALTER EXTENSION plimsoll UPDATE" to load this file. \quit

CREATE FUNCTION plimsoll_temp_statistics(
    OUT relid oid, OUT attnum integer, OUT rows bigint, OUT null_frac real, OUT avg_width integer, OUT n_distinct real)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'plimsoll_temp_statistics'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

CREATE VIEW plimsoll_temp_statistics AS
    SELECT c.relname AS tablename, a.attname, s.rows, s.null_frac, s.avg_width, s.n_distinct
      FROM plimsoll_temp_statistics() s
           JOIN pg_catalog.pg_class c ON c.oid = s.relid
           JOIN pg_catalog.pg_attribute a ON a.attrelid = s.relid AND a.attnum = s.attnum AND NOT a.attisdropped;

GRANT SELECT ON plimsoll_temp_statistics TO PUBLIC;

COMMENT ON VIEW plimsoll_temp_statistics IS
	'what temp_live_statistics has counted of this session''s temporary tables; n_distinct as in pg_stats';
