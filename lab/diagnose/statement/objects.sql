-- Tables that have one of these names, directly or through a view of such a name, and what else runs when somebody
-- reads or writes them: triggers, row security policies, and the functions that both call; functions in checks, in the
-- expressions of indexes, in defaults and generated columns. A table comes with its partitions. Then functions that
-- have one of these names; for each of their turns, a loop with a block that catches errors makes a subtransaction. A
-- table comes with the view that adds it up, and says whether it is foreign, and whether a materialized view is
-- between. What else tells why a statement takes time: how functions are declared, which clauses the query of a view
-- has, what generated columns and indexes compute, and columns of numeric without a precision.
--
-- Bounds: of relations with the same name, and of what is below a name, those with most traffic ($2 and $3); a name
-- alone does not tell the schema, and a table may have ten thousand partitions. Views can be below each other in a
-- circle, which UNION ends. The text of a view's rule is read once for each name, though it depends on each column.
WITH RECURSIVE here AS (
    SELECT c.oid, c.relname::text AS named, row_number() OVER (PARTITION BY c.relname ORDER BY
        pg_stat_get_tuples_returned(c.oid) + pg_stat_get_tuples_fetched(c.oid) + pg_stat_get_tuples_inserted(c.oid)
        + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid) DESC, c.oid) AS place
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = ANY ($1::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
), used AS (
    SELECT oid, named, 0::oid AS sums, false AS kept FROM here WHERE place <= $2::int8
    UNION SELECT o.oid, u.named, o.sums, o.kept FROM used u CROSS JOIN LATERAL (
        SELECT d.oid, CASE WHEN r.adds THEN u.oid ELSE u.sums END AS sums, u.kept OR r.kept AS kept
        FROM (
            SELECT w.oid, v.relkind = 'm' AS kept, v.relkind = 'v' AND
                (strpos(w.ev_action::text, ':hasAggs true') > 0 OR
                strpos(w.ev_action::text, ':hasWindowFuncs true') > 0) AS adds
            FROM pg_rewrite w JOIN pg_class v ON v.oid = w.ev_class WHERE w.ev_class = u.oid OFFSET 0
        ) r CROSS JOIN LATERAL (
            SELECT DISTINCT refobjid AS oid FROM pg_depend WHERE classid = 'pg_rewrite'::regclass AND objid = r.oid
                AND refclassid = 'pg_class'::regclass AND refobjid <> u.oid
        ) d
        UNION ALL SELECT inhrelid, u.sums, u.kept FROM pg_inherits WHERE inhparent = u.oid
    ) o
), bounded AS (
    SELECT * FROM used LIMIT 20000
), placed AS (
    SELECT b.*, row_number() OVER (PARTITION BY b.named ORDER BY pg_stat_get_tuples_returned(b.oid)
        + pg_stat_get_tuples_fetched(b.oid) + pg_stat_get_tuples_inserted(b.oid) + pg_stat_get_tuples_updated(b.oid)
        + pg_stat_get_tuples_deleted(b.oid) DESC, b.oid) AS place FROM bounded b
), tables AS MATERIALIZED (
    SELECT u.named, u.sums, u.kept, c.oid, n.nspname || '.' || c.relname AS name, c.relowner, c.relrowsecurity,
        c.relforcerowsecurity, c.relkind
    FROM placed u JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind <> 'v' AND u.place <= $3::int8
)
SELECT named, name, 'table' AS kind, coalesce((SELECT relname::text FROM pg_class WHERE oid = sums), '') AS object,
    CASE relkind WHEN 'f' THEN 'foreign' ELSE '' END AS events, '' AS function, 0::oid AS owner, '' AS detail, kept,
    '{}'::int8[] AS roles
FROM tables WHERE relkind IN ('r', 'p', 'm', 'f')
UNION ALL
SELECT t.named, t.name, 'trigger', g.tgname,
    CASE WHEN g.tgtype & 4 <> 0 THEN 'INSERT ' ELSE '' END || CASE WHEN g.tgtype & 8 <> 0 THEN 'DELETE ' ELSE '' END
        || CASE WHEN g.tgtype & 16 <> 0 THEN 'UPDATE ' ELSE '' END,
    n.nspname || '.' || p.proname, 0, CASE WHEN g.tgtype & 1 <> 0 THEN 'for each row' ELSE 'for each statement' END,
    t.kept, '{}'
FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal AND g.tgenabled IN ('O', 'A')
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
    left(coalesce(pg_get_expr(y.polqual, y.polrelid), pg_get_expr(y.polwithcheck, y.polrelid), ''), 300), t.kept,
    ARRAY(SELECT r.oid::int8 FROM pg_roles r WHERE r.oid::int8 = ANY ($4::int8[]) AND EXISTS (
        SELECT FROM unnest(y.polroles) p WHERE p = 0 OR pg_has_role(r.oid, p, 'USAGE')))
FROM tables t JOIN pg_policy y ON y.polrelid = t.oid WHERE t.relrowsecurity
UNION ALL
SELECT t.named, t.name, w.kind, w.object, 'INSERT UPDATE COPY MERGE', n.nspname || '.' || p.proname, 0,
    'for each row', t.kept, '{}'
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
(SELECT v.relname::text, n.nspname || '.' || v.relname, 'view', v.relname::text,
    concat_ws(' ', 'joins=' || (length(q.tree) - length(replace(q.tree, '{JOINEXPR ', ''))) / length('{JOINEXPR '),
        'outer=' || (length(q.tree) - length(regexp_replace(q.tree, '\{JOINEXPR :jointype [123]', '', 'g')))
            / length('{JOINEXPR :jointype 1'),
        CASE WHEN strpos(q.tree, ':distinctClause (') > 0 THEN 'distinct' END,
        CASE WHEN strpos(q.tree, ':hasAggs true') > 0 OR strpos(q.tree, ':groupClause (') > 0 THEN 'adds' END,
        CASE WHEN strpos(q.tree, ':hasWindowFuncs true') > 0 THEN 'windows' END,
        CASE WHEN strpos(q.tree, ':setOperations {') > 0 THEN 'sets' END), '', 0, '', false, '{}'
FROM here h JOIN pg_class v USING (oid) JOIN pg_namespace n ON n.oid = v.relnamespace
    CROSS JOIN LATERAL (SELECT w.ev_action::text AS tree FROM pg_rewrite w WHERE w.ev_class = v.oid AND w.ev_type = '1'
        OFFSET 0) q
WHERE h.place <= $2::int8 AND v.relkind = 'v' LIMIT 200)
UNION ALL
(SELECT t.named, t.name, w.kind, w.object, 'INSERT UPDATE COPY MERGE', '', 0, left(w.expression, 300), t.kept, '{}'
FROM tables t CROSS JOIN LATERAL (
        SELECT 'generated column' AS kind, a.attname::text AS object, pg_get_expr(f.adbin, f.adrelid) AS expression
        FROM pg_attrdef f JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        WHERE f.adrelid = t.oid AND a.attgenerated = 's'
        UNION ALL SELECT 'expression of an index', x.relname::text, pg_get_expr(i.indexprs, i.indrelid)
        FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = t.oid AND i.indexprs IS NOT NULL
    ) w LIMIT 500)
UNION ALL
(SELECT t.named, t.name, 'numeric', a.attname::text, '', '', 0, '', t.kept, '{}'
FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    AND a.atttypid = 'pg_catalog.numeric'::regtype AND a.atttypmod = -1
WHERE a.attname = ANY ($1::text[]) LIMIT 500)
UNION ALL
(SELECT p.proname::text, n.nspname || '.' || p.proname, 'function', p.proname::text,
    concat_ws(' ', l.lanname, CASE p.provolatile WHEN 'v' THEN 'volatile' END,
        CASE WHEN p.proconfig IS NOT NULL THEN 'set' END, CASE WHEN p.prosecdef THEN 'definer' END,
        CASE WHEN l.lanname <> 'sql' AND p.prosrc ~* '\mexecute\M' THEN 'execute' END,
        CASE WHEN p.prosrc ~* '\mloop\M' THEN 'loop' END,
        CASE WHEN p.prosrc ~* '\mexception\s+when\M' THEN 'exception' END,
        'rows=' || p.prorows::numeric, 'cost=' || p.procost::numeric),
    n.nspname || '.' || p.proname, 0,
    CASE WHEN p.prosrc ~* '\mloop\M.*\mexception\s+when\M' THEN 'catches' ELSE '' END, false, '{}'
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
WHERE p.proname = ANY ($1::text[]) AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND l.lanname NOT IN ('internal', 'c') LIMIT 100)
