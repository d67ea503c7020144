-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION plimsoll" to load this file. \quit

CREATE FUNCTION plimsoll_version()
RETURNS text
AS 'MODULE_PATHNAME', 'plimsoll_version'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION plimsoll_version() IS
	'version of the extension, and the patchset of the server or that it has none';

CREATE FUNCTION plimsoll_temp_catalog(
    OUT pid integer, OUT datid oid, OUT tables bigint, OUT rows bigint, OUT bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'plimsoll_temp_catalog'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

CREATE VIEW plimsoll_temp_catalog AS
    SELECT c.pid, d.datname, c.tables, c.rows, c.bytes
      FROM plimsoll_temp_catalog() c LEFT JOIN pg_catalog.pg_database d ON d.oid = c.datid;

GRANT SELECT ON plimsoll_temp_catalog TO PUBLIC;

COMMENT ON VIEW plimsoll_temp_catalog IS
	'sessions whose temporary tables have their catalog rows in memory: tables, rows, bytes';
