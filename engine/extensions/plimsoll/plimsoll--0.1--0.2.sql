-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION plimsoll" or "ALTER EXTENSION plimsoll UPDATE" to load this file. \quit

CREATE FUNCTION plimsoll_temp_references(
    OUT pid integer, OUT datid oid, OUT classid oid, OUT objid oid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'plimsoll_temp_references'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

-- An object of another database has no description here; a role belongs to none.
CREATE VIEW plimsoll_temp_references AS
    SELECT r.pid, d.datname, r.classid::pg_catalog.regclass, r.objid,
           CASE WHEN r.datid = 0 OR d.datname = pg_catalog.current_database()
                THEN pg_catalog.pg_describe_object(r.classid, r.objid, 0) END AS object
      FROM plimsoll_temp_references() r LEFT JOIN pg_catalog.pg_database d ON d.oid = r.datid;

GRANT SELECT ON plimsoll_temp_references TO PUBLIC;

COMMENT ON VIEW plimsoll_temp_references IS
	'what temporary tables with their catalog rows in memory depend on, by session: it cannot be dropped meanwhile';
