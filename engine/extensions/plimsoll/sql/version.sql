-- Two expected files: version.out is a patched server, version_1.out a stock one.

-- nothing of ours before the extension is there
SELECT to_regproc('plimsoll_version') IS NULL AS absent;

CREATE EXTENSION plimsoll;

-- the module says what the catalog says
SELECT plimsoll_version() ~ ('^plimsoll ' || replace(extversion, '.', '\.') || ' \(') AS same_version
  FROM pg_extension WHERE extname = 'plimsoll';

-- the patchset it names is the server's setting; a stock server is called one
SELECT regexp_replace(plimsoll_version(), '[0-9.]+', 'N', 'g') AS version;
SELECT coalesce(plimsoll_version() LIKE '%(patchset ' || current_setting('plimsoll_patchset', true) || ')',
                plimsoll_version() LIKE '%(no patchset: stock PostgreSQL)') AS true_to_the_server;

-- read-only, and sent to clients without being asked for
SET plimsoll_patchset = 0;
SELECT context FROM pg_settings WHERE name = 'plimsoll_patchset';

-- an ordinary user may ask
CREATE ROLE regress_plimsoll_reader;
SET ROLE regress_plimsoll_reader;
SELECT plimsoll_version() IS NOT NULL AS answered;
RESET ROLE;
DROP ROLE regress_plimsoll_reader;

DROP EXTENSION plimsoll;
