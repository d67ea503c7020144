-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION plimsoll" or "ALTER EXTENSION plimsoll UPDATE" to load this file. \quit

CREATE FUNCTION plimsoll_waits(
    OUT pid integer, OUT wait_event_type text, OUT wait_event text, OUT waits bigint, OUT wait_time double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'plimsoll_waits'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

CREATE VIEW plimsoll_waits AS
    SELECT w.pid, w.wait_event_type, w.wait_event, w.waits, w.wait_time FROM plimsoll_waits() w;

GRANT SELECT ON plimsoll_waits TO PUBLIC;

COMMENT ON VIEW plimsoll_waits IS
	'waits of each process by event, timed by track_wait_timing: number, milliseconds; no pid: ended processes';
