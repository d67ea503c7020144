# The counter of OIDs comes round again after 2^32. What the rows in a session's
# memory have, nobody else gets then, until the session lets go of it.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('oids');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nenable_temp_memory_catalog = on\ntemp_lazy_toast = off\nrestart_after_crash = on");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION plimsoll_temp');

sub begin_again
{
	$node->safe_psql('postgres', q{SELECT set_next_oid(4294967295); SELECT lo_unlink(lo_create(0)) FROM generate_series(1, 2)});
}

# The next OID for a row of this catalog, if the counter stands at $oid.
sub next_from
{
	my ($oid, $catalog) = @_;
	$catalog //= 'pg_class';
	return $node->safe_psql('postgres',
		"DO 'BEGIN PERFORM set_next_oid($oid); END'; SELECT pg_nextoid('$catalog', 'oid', '${catalog}_oid_index')");
}

sub rows_held { return $node->safe_psql('postgres', 'SELECT held_oids()'); }

# A session that has its temporary schema.
sub session
{
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_safe('CREATE TEMP TABLE first (a int); DROP TABLE first');
	return $session;
}

sub wait_for_sessions
{
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'})
	  or die 'the session does not end';
}

begin_again();

# Every row in memory that has an OID keeps it from others.
my $owner = session();
my $shape = q{(id int PRIMARY KEY, name text DEFAULT 'x' CHECK (name <> ''), amount numeric NOT NULL)};
$owner->query_safe("SELECT set_next_oid(1000000); CREATE TEMP TABLE mine $shape; CREATE INDEX ON mine (name)");
$owner->query_safe(q{INSERT INTO mine SELECT g, 'mine', 0 FROM generate_series(1, 3) g});
my %kinds;
foreach (split /\n/, $owner->query_safe(
		q{SELECT tableoid::regclass, oid FROM pg_class WHERE relpersistence = 't'
		UNION ALL SELECT tableoid::regclass, oid FROM pg_type WHERE typnamespace = pg_my_temp_schema()
		UNION ALL SELECT tableoid::regclass, oid FROM pg_constraint WHERE conrelid = 'mine'::regclass
		UNION ALL SELECT tableoid::regclass, oid FROM pg_attrdef WHERE adrelid = 'mine'::regclass}))
{
	my ($catalog, $oid) = split /\|/;
	$kinds{$catalog}++;
	isnt(next_from($oid, $catalog), $oid, "$catalog: $oid is the owner's");
	is(next_from($oid, 'pg_proc'), $oid, "... which does not matter elsewhere");
}
is_deeply(\%kinds, { pg_class => 5, pg_type => 2, pg_constraint => 4, pg_attrdef => 1 }, 'all kinds of rows were tried');

# What would come of it: the owner reads and empties the wrong table.
my $mine = $owner->query_safe(q{SELECT 'mine'::regclass::oid});
$node->safe_psql('postgres', qq{SELECT set_next_oid($mine); CREATE TABLE orders $shape;
	INSERT INTO orders SELECT g, 'orders', 0 FROM generate_series(1, 100) g});
is($owner->query('SELECT count(*), min(name) FROM orders'), '100|orders', "a permanent table is not mistaken for the owner's");
$owner->query('DELETE FROM mine');
is($owner->query('SELECT count(*), min(name) FROM orders'), '100|orders', '... nor the other way');

# Two tables in memory would share what is kept by OID in shared places, and one of them may move.
my $other = session();
$other->query_safe("SELECT set_next_oid($mine); CREATE TEMP TABLE mine $shape");
isnt($other->query_safe(q{SELECT 'mine'::regclass::oid}), $mine, "nor is another session's temporary table");
$_->quit foreach $owner, $other;
wait_for_sessions();
is(rows_held(), '0', 'sessions that have ended hold nothing');
is(next_from($mine), $mine, '... and what they had can be used again');

# What a session did; is the OID another's to take? Are there rows in memory?
my $create = 'CREATE TEMP TABLE t (id int PRIMARY KEY)';
my @deeds = (
	[ 'created', $create, 1, 1 ],
	[ 'created, not committed', "BEGIN; $create", 1, 1 ],
	[ 'not created', 'CREATE TEMP TABLE t (id int PRIMARY KEY, CHECK (nothing > 0))', 0, 0 ],
	[ 'created, and the command failed later', 'CREATE TEMP TABLE t (id) AS SELECT 1 / (g - 3) FROM generate_series(1, 5) g', 0, 0 ],
	[ 'rolled back', "BEGIN; $create; ROLLBACK", 0, 0 ],
	[ 'rolled back to a savepoint', "BEGIN; SAVEPOINT s; SAVEPOINT inner; $create; RELEASE inner; ROLLBACK TO s", 0, 0 ],
	[ 'altered', "$create; ALTER TABLE t ADD name text; CREATE INDEX ON t (name); ALTER TABLE t RENAME TO u; REINDEX TABLE u", 1, 1 ],
	[ 'altered and dropped', "$create; ALTER TABLE t ADD name text; VACUUM FULL t; TRUNCATE t; DROP TABLE t", 0, 0 ],
	[ 'dropped, not committed', "$create; BEGIN; DROP TABLE t", 1, 1 ],
	[ 'dropped, rolled back', "$create; BEGIN; DROP TABLE t; ROLLBACK", 1, 1 ],
	[ 'made and dropped in a transaction', "BEGIN; $create; DROP TABLE t; COMMIT", 0, 0 ],
	[ 'ON COMMIT DROP', "BEGIN; $create ON COMMIT DROP; COMMIT", 0, 0 ],
	[ 'DISCARD TEMP', "$create; DISCARD TEMP", 0, 0 ],
	[ 'moved to the real catalogs', "$create; CREATE VIEW v AS TABLE t", 1, 0 ],
	[ 'moved, not committed', "$create; BEGIN; CREATE VIEW v AS TABLE t", 1, 1 ],
	[ 'moved, rolled back', "$create; BEGIN; CREATE VIEW v AS TABLE t; ROLLBACK", 1, 1 ],
	[ 'moved and dropped', "$create; CREATE VIEW v AS TABLE t; DROP TABLE t CASCADE; VACUUM pg_class", 0, 0 ]);

my $base = 2000000;
foreach my $deed (@deeds)
{
	my ($name, $statements, $taken, $in_memory) = @$deed;
	my $session = session();
	$base += 1000;
	$session->query("SELECT set_next_oid($base)");
	$session->query($_) foreach split /;/, $statements;
	is(next_from($base) == $base ? 0 : 1, $taken, "$name: the OID is " . ($taken ? 'taken' : 'free'));
	is(rows_held() > 0 ? 1 : 0, $in_memory, '... and there are ' . ($in_memory ? '' : 'no ') . 'rows in memory');
	$session->quit;
	wait_for_sessions();
	is(rows_held(), '0', '... none after the session');
}

# Sessions that are ended.
my $terminate = sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend($_[0], 60000)") };
foreach my $end ([ 'when idle', $create ], [ 'in a transaction', "$create; BEGIN; CREATE TEMP TABLE u (a int, b text); DROP TABLE t" ])
{
	my ($when, $statements) = @$end;
	my $session = session();
	$session->query_safe($_) foreach split /;/, $statements;
	isnt(rows_held(), '0', "a session $when holds its OIDs");
	$terminate->($session->query_safe('SELECT pg_backend_pid()'));
	is(rows_held(), '0', '... until it is terminated');
	eval { $session->quit };
}

# Many at once.
$node->append_conf('postgresql.conf', 'max_connections = 50');
$node->restart;
begin_again();
my $script = $node->basedir . '/oids.sql';
append_to_file($script, <<'EOT');
\set n random(1, 1000)
BEGIN;
CREATE TEMP TABLE t (id int PRIMARY KEY, name text);
SAVEPOINT s;
CREATE TEMP TABLE u (id int PRIMARY KEY, name text);
CREATE INDEX ON t (name);
ROLLBACK TO s;
\if :n < 300
CREATE TEMP VIEW v AS TABLE t;
\endif
COMMIT;
\if :n < 500
BEGIN;
DROP TABLE t CASCADE;
ROLLBACK;
\endif
DROP TABLE t CASCADE;
EOT
$node->command_ok([ 'pgbench', '--no-vacuum', '--client' => 8, '--transactions' => 50, '--file' => $script, 'postgres' ],
	'sessions make and drop tables beside each other');
wait_for_sessions();
is(rows_held(), '0', '... and nothing remains');

# A session that is killed takes shared memory along.
my $killed = session();
$killed->query_safe($create);
my $pid = $killed->query_safe('SELECT pg_backend_pid()');
kill 'KILL', $pid or die "no process $pid";
eval { $killed->quit };
# Until the server has noticed, it still answers.
$node->wait_for_log(qr/all server processes terminated; reinitializing/);
$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
is(rows_held(), '0', 'nothing is held after a crash');

unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'nothing else crashed');
$node->stop;
done_testing();
