-- What runs within other statements and reads one of these tables: functions whose body names it, with the triggers
-- that call them; policies of other tables; foreign keys, whose checks read the table that is referenced and, when a
-- row is deleted there, the one that references.
WITH hidden AS (
    SELECT c.oid, c.relname, n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n
        ON n.oid = c.relnamespace WHERE n.nspname || '.' || c.relname = ANY ($1::text[])
), functions AS (
    SELECT h.name, p.oid, n.nspname || '.' || p.proname AS function FROM hidden h JOIN pg_proc p
        ON position(lower(h.relname) IN lower(p.prosrc)) > 0 JOIN pg_namespace n ON n.oid = p.pronamespace
        JOIN pg_language l ON l.oid = p.prolang
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND l.lanname NOT IN ('internal', 'c')
)
(SELECT name, 'function ' || function AS by, '' AS within, '' AS missing FROM functions LIMIT 100)
UNION ALL
(SELECT f.name, 'trigger ' || g.tgname || ' (' || f.function || ')', r.nspname || '.' || c.relname, ''
FROM functions f JOIN pg_trigger g ON g.tgfoid = f.oid AND NOT g.tgisinternal JOIN pg_class c ON c.oid = g.tgrelid
    JOIN pg_namespace r ON r.oid = c.relnamespace LIMIT 100)
UNION ALL
(SELECT h.name, 'policy ' || y.polname, n.nspname || '.' || c.relname, '' FROM hidden h JOIN pg_depend d
    ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.oid AND d.classid = 'pg_policy'::regclass
    JOIN pg_policy y ON y.oid = d.objid JOIN pg_class c ON c.oid = y.polrelid AND c.oid <> h.oid
    JOIN pg_namespace n ON n.oid = c.relnamespace LIMIT 100)
UNION ALL
(SELECT h.name, 'foreign key ' || k.conname, n.nspname || '.' || c.relname,
    CASE WHEN k.conrelid = h.oid AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = k.conrelid AND i.indisvalid
        AND i.indkey[0] = ANY (k.conkey)) THEN (SELECT string_agg(quote_ident(a.attname), ', ') FROM pg_attribute a
            WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)) ELSE '' END
FROM hidden h JOIN pg_constraint k ON k.contype = 'f' AND h.oid IN (k.conrelid, k.confrelid)
    JOIN pg_class c ON c.oid = CASE WHEN k.conrelid = h.oid THEN k.confrelid ELSE k.conrelid END
    JOIN pg_namespace n ON n.oid = c.relnamespace LIMIT 100)
