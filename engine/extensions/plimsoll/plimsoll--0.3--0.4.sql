-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION plimsoll" or "ALTER EXTENSION plimsoll UPDATE" to load this file. \quit

CREATE FUNCTION plimsoll_temp_sessions(
    OUT pid integer, OUT datid oid, OUT tables bigint, OUT rows bigint, OUT bytes bigint,
    OUT frozenxid xid, OUT minmxid xid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'plimsoll_temp_catalog'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

-- The columns of 0.1 stay where they are: views of users may depend on them.
CREATE OR REPLACE VIEW plimsoll_temp_catalog AS
    SELECT c.pid, d.datname, c.tables, c.rows, c.bytes,
           c.frozenxid, pg_catalog.age(c.frozenxid) AS xid_age,
           c.minmxid, pg_catalog.mxid_age(c.minmxid) AS mxid_age
      FROM plimsoll_temp_sessions() c LEFT JOIN pg_catalog.pg_database d ON d.oid = c.datid;

DROP FUNCTION plimsoll_temp_catalog();

COMMENT ON VIEW plimsoll_temp_catalog IS
	'sessions whose temporary tables have their catalog rows in memory: tables, rows, bytes, age of what they hold';
