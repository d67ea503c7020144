-- Tables that have one of these names, directly or through a view of such a name, and what else runs when somebody
-- reads or writes them: triggers, row security policies, and the functions that both call; functions in checks, in the
-- expressions of indexes, in defaults and generated columns. A table comes with its partitions. Then functions that
-- have one of these names; for each of their turns, a loop with a block that catches errors makes a subtransaction. A
-- table comes with the view that adds it up, and says whether it is foreign.
WITH RECURSIVE used AS (
    (SELECT c.oid, c.relname::text AS named, 0::oid AS sums
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = ANY ($1::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_' LIMIT 300)
    UNION SELECT o.oid, u.named, o.sums FROM used u CROSS JOIN LATERAL (
        SELECT d.refobjid AS oid, CASE WHEN v.relkind = 'v' AND r.ev_action::text ~ ':has(Aggs|WindowFuncs) true'
            THEN v.oid ELSE u.sums END AS sums
        FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass
            AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> u.oid
            JOIN pg_class v ON v.oid = r.ev_class WHERE r.ev_class = u.oid
        UNION ALL SELECT inhrelid, u.sums FROM pg_inherits WHERE inhparent = u.oid
    ) o
), tables AS (
    SELECT u.named, u.sums, c.oid, n.nspname || '.' || c.relname AS name, c.relowner, c.relrowsecurity,
        c.relforcerowsecurity, c.relkind
    FROM used u JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind <> 'v'
)
SELECT named, name, 'table' AS kind, coalesce((SELECT relname::text FROM pg_class WHERE oid = sums), '') AS object,
    CASE relkind WHEN 'f' THEN 'foreign' ELSE '' END AS events, '' AS function, 0::oid AS owner, '' AS detail
FROM tables
UNION ALL
SELECT t.named, t.name, 'trigger', g.tgname,
    CASE WHEN g.tgtype & 4 <> 0 THEN 'INSERT ' ELSE '' END || CASE WHEN g.tgtype & 8 <> 0 THEN 'DELETE ' ELSE '' END
        || CASE WHEN g.tgtype & 16 <> 0 THEN 'UPDATE ' ELSE '' END,
    n.nspname || '.' || p.proname, 0, CASE WHEN g.tgtype & 1 <> 0 THEN 'for each row' ELSE 'for each statement' END
FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D'
        AND g.tgparentid = 0
    JOIN pg_proc p ON p.oid = g.tgfoid JOIN pg_namespace n ON n.oid = p.pronamespace
UNION ALL
SELECT t.named, t.name, 'policy', y.polname,
    CASE y.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE'
        ELSE 'SELECT INSERT UPDATE DELETE' END,
    coalesce((SELECT string_agg(n.nspname || '.' || p.proname, ' ') FROM pg_depend d
        JOIN pg_proc p ON p.oid = d.refobjid
        JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE d.classid = 'pg_policy'::regclass AND d.objid = y.oid AND d.refclassid = 'pg_proc'::regclass), ''),
    CASE WHEN t.relforcerowsecurity THEN 0 ELSE t.relowner END,
    left(coalesce(pg_get_expr(y.polqual, y.polrelid), pg_get_expr(y.polwithcheck, y.polrelid), ''), 300)
FROM tables t JOIN pg_policy y ON y.polrelid = t.oid WHERE t.relrowsecurity
UNION ALL
SELECT t.named, t.name, w.kind, w.object, 'INSERT UPDATE COPY MERGE', n.nspname || '.' || p.proname, 0, 'for each row'
FROM tables t CROSS JOIN LATERAL (
        SELECT 'check constraint' AS kind, k.conname::text AS object, 'pg_constraint'::regclass AS catalog, k.oid
        FROM pg_constraint k WHERE k.conrelid = t.oid AND k.contype = 'c'
        UNION ALL SELECT 'index on an expression', x.relname::text, 'pg_class'::regclass, x.oid
        FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = t.oid AND i.indexprs IS NOT NULL
        UNION ALL SELECT 'default', a.attname::text, 'pg_attrdef'::regclass, f.oid
        FROM pg_attrdef f JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum WHERE f.adrelid = t.oid
    ) w JOIN pg_depend d ON d.classid = w.catalog AND d.objid = w.oid AND d.refclassid = 'pg_proc'::regclass
    JOIN pg_proc p ON p.oid = d.refobjid JOIN pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_language l ON l.oid = p.prolang
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND l.lanname NOT IN ('internal', 'c')
UNION ALL
(SELECT p.proname, n.nspname || '.' || p.proname, 'function', p.proname, '', n.nspname || '.' || p.proname, 0,
    CASE WHEN p.prosrc ~* '\mloop\M.*\mexception\s+when\M' THEN 'catches' ELSE '' END
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
WHERE p.proname = ANY ($1::text[]) AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND l.lanname NOT IN ('internal', 'c') LIMIT 100)
