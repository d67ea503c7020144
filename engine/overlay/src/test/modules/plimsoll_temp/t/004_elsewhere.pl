# What commands that reach beyond one session make of temporary tables:
# PREPARE TRANSACTION, VACUUM, REINDEX, dumps, DROP OWNED, a superuser who
# names another session's table, a standby.  With everything off, which is
# stock, and with everything on: never a crash, errors as clear, and what the
# owner has is whole.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf(
	'postgresql.conf', q{
max_prepared_transactions = 2
autovacuum = off
});
$node->start;
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

sub everything
{
	my $value = shift;
	return join ' ', map { "-c $_=$value" } 'enable_temp_memory_catalog',
	  map { "temp_$_" } qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast);
}

# The error that one statement brings, or nothing.
sub error_of
{
	my $stderr = shift;
	my ($error) = $stderr =~ /ERROR:  (.*)/ or return '';
	return $error =~ s/pg_temp_\d+/pg_temp_N/gr;
}

sub elsewhere
{
	my ($statement, $where) = @_;
	my ($code, $out, $err) = ($where // $node)->psql('postgres', $statement);
	return error_of($err);
}

sub in_session
{
	my ($session, $statement) = @_;
	$session->{stderr} = '';
	$session->query($statement);
	return error_of($session->{stderr});
}

# Named by another session: what stock says.  To a session that cannot see a
# table in its owner's memory, it does not exist.
my @named = (
	[ 'SELECT * FROM THEIRS.mine', 'cannot access temporary tables of other sessions' ],
	[ 'COPY THEIRS.mine TO STDOUT', 'cannot access temporary tables of other sessions' ],
	[ q{INSERT INTO THEIRS.mine VALUES (1000, 'x')}, 'cannot access temporary tables of other sessions' ],
	[ 'DELETE FROM THEIRS.mine', 'cannot access temporary tables of other sessions' ],
	[ 'TRUNCATE THEIRS.mine', 'cannot truncate temporary tables of other sessions' ],
	[ 'CLUSTER THEIRS.mine USING mine_pkey', 'cannot cluster temporary tables of other sessions' ],
	[ 'REINDEX TABLE THEIRS.mine', 'cannot reindex temporary tables of other sessions' ],
	[ 'CREATE INDEX ON THEIRS.mine (name)', 'cannot create indexes on temporary tables of other sessions' ],
	[ 'ALTER TABLE THEIRS.mine ALTER id TYPE bigint', 'cannot alter temporary tables of other sessions' ],
	[ 'CREATE TEMP TABLE child () INHERITS (THEIRS.mine)', 'cannot inherit from temporary relation of another session' ],
	[ 'VACUUM THEIRS.mine', '' ],
	[ 'ANALYZE THEIRS.mine', '' ],
	[ 'LOCK TABLE THEIRS.mine', '' ],
	[ q{COMMENT ON TABLE THEIRS.mine IS 'not mine'}, '' ]);

# By OID nothing fails, whether or not there is a row.
my $by_oid = q{SELECT pg_relation_size(OID), pg_total_relation_size(OID), pg_table_is_visible(OID),
	has_table_privilege(OID, 'select'), pg_relation_filepath(OID), OID::regclass, obj_description(OID, 'pg_class'),
	pg_describe_object('pg_class'::regclass, OID, 0), pg_relation_is_publishable(OID)};

my @whole_database = ('VACUUM', 'VACUUM FULL', 'VACUUM (FREEZE)', 'ANALYZE', 'CLUSTER',
	'REINDEX DATABASE postgres', 'REINDEX SYSTEM postgres', 'REINDEX (CONCURRENTLY) DATABASE postgres');

my @own = ('VACUUM mine', 'VACUUM FULL mine', 'VACUUM (FREEZE, ANALYZE) mine', 'ANALYZE mine', 'CLUSTER mine USING mine_pkey',
	'REINDEX TABLE mine', 'REINDEX INDEX mine_pkey', 'REINDEX (CONCURRENTLY) TABLE mine');

my @unpreparable = ('CREATE TEMP TABLE more (a int)', 'SELECT * FROM mine', 'DELETE FROM mine', 'DROP TABLE mine',
	'TRUNCATE mine', 'ALTER TABLE mine ADD extra int', 'CREATE INDEX ON mine (name)', 'SAVEPOINT s; DROP TABLE mine; ROLLBACK TO s');

foreach my $value ('off', 'on')
{
	local $ENV{PGOPTIONS} = everything($value);
	my $on = $value eq 'on';
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_safe(
		q{CREATE TEMP TABLE mine (id int PRIMARY KEY, name text);
		  INSERT INTO mine SELECT g, repeat('x', g) FROM generate_series(1, 100) g});
	my $schema = $session->query_safe('SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()');
	my $oid = $session->query_safe(q{SELECT 'mine'::regclass::oid});
	my $whole = sub {
		is( $session->query(
				q{SET enable_seqscan = off; SELECT count(*), sum(id) FROM mine WHERE id > 0; RESET enable_seqscan;
				  SELECT count(*) FROM pg_attribute WHERE attrelid = 'mine'::regclass AND attnum > 0}),
			"100|5050\n2",
			"$value: $_[0]: the owner's table is whole");
	};

	foreach my $statement (@unpreparable)
	{
		is( in_session($session, "BEGIN; $statement; PREPARE TRANSACTION 'p'"),
			'cannot PREPARE a transaction that has operated on temporary objects',
			"$value: PREPARE TRANSACTION after $statement");
		in_session($session, 'ROLLBACK');
	}
	is($session->query('SELECT count(*) FROM pg_prepared_xacts'), '0', "$value: nothing is prepared");

	# GRANT changes the table's row without opening the table.
	is( in_session($session, "BEGIN; GRANT SELECT ON mine TO PUBLIC; PREPARE TRANSACTION 'granted'"),
		$value eq 'on' ? 'cannot PREPARE a transaction that has operated on temporary objects' : '',
		"$value: PREPARE TRANSACTION after GRANT");
	in_session($session, $value eq 'on' ? 'ROLLBACK' : "ROLLBACK PREPARED 'granted'");
	$whole->('PREPARE TRANSACTION');

	is(in_session($session, $_), '', "$value: $_ by the owner") foreach @own;
	$whole->('maintenance by the owner');
	foreach my $statement (@whole_database)
	{
		is(in_session($session, $statement), '', "$value: $statement by the owner");
		is(elsewhere($statement), '', "$value: $statement elsewhere");
	}
	$whole->('maintenance of the database');
	$node->command_ok([ 'vacuumdb', '--all', '--analyze' ], "$value: vacuumdb");
	$node->command_ok([ 'reindexdb', '--all' ], "$value: reindexdb");

	foreach my $dump ([ 'pg_dump', 'postgres' ], ['pg_dumpall'])
	{
		my ($out, $err) = run_command([ @$dump, '--no-sync', '--host' => $node->host, '--port' => $node->port ]);
		like($out, qr/PostgreSQL database( cluster)? dump complete/, "$value: $dump->[0]");
		unlike($out, qr/mine/, '... without the temporary table');
		is($err, '', '... and without a word');
	}

	foreach my $case (@named)
	{
		my ($statement, $error) = @$case;
		$error = 'relation "pg_temp_N.mine" does not exist' if $on;
		is(elsewhere("BEGIN; $statement; ROLLBACK" =~ s/^BEGIN; (VACUUM.*); ROLLBACK$/$1/r =~ s/THEIRS/$schema/r),
			$error, "$value: a superuser's $statement");
	}
	is(elsewhere("CREATE TABLE $schema.more (a int)"),
		'cannot create relations in temporary schemas of other sessions',
		"$value: a superuser's table in another's schema");
	is(elsewhere($by_oid =~ s/\bOID\b/$oid/gr), '', "$value: a superuser's questions by OID");
	$whole->('a superuser');

	# A standby knows of the table what the primary's catalogs do, and makes none.
	$node->wait_for_catchup($standby);
	is(elsewhere("SELECT * FROM $schema.mine", $standby),
		$on ? 'relation "pg_temp_N.mine" does not exist' : 'cannot access temporary or unlogged relations during recovery',
		"$value: a standby cannot read it");
	is(elsewhere('CREATE TEMP TABLE t (a int)', $standby),
		'cannot execute CREATE TABLE in a read-only transaction',
		"$value: no temporary table on a standby");
	is(elsewhere('SELECT 1 AS a INTO TEMP t', $standby),
		'cannot execute SELECT INTO in a read-only transaction',
		"$value: ... in no other way");

	# Roles
	$node->safe_psql('postgres', 'CREATE ROLE owner; CREATE ROLE heir; GRANT TEMP ON DATABASE postgres TO owner');
	my $of_role = 'SET ROLE owner; CREATE TEMP TABLE owned (a int PRIMARY KEY, b text); RESET ROLE';
	my $owner_is = q{SELECT relowner::regrole FROM pg_class WHERE relname IN ('owned', 'owned_pkey') GROUP BY 1};
	$session->query_safe($of_role);
	is(elsewhere('DROP ROLE owner'), 'role "owner" cannot be dropped because some objects depend on it', "$value: DROP ROLE elsewhere");
	is(in_session($session, 'REASSIGN OWNED BY owner TO heir'), '', "$value: REASSIGN OWNED by the session");
	is($session->query($owner_is), 'heir', '... its table included');
	is(in_session($session, 'DROP OWNED BY heir'), '', "$value: DROP OWNED by the session");
	is($session->query($owner_is), '', '... its table included');
	$session->query_safe($of_role);
	is(elsewhere('REASSIGN OWNED BY owner TO heir'), '', "$value: REASSIGN OWNED elsewhere");
	is($session->query($owner_is), $on ? 'owner' : 'heir', $on ? '... passes over a table in memory' : '... its table included');
	is(elsewhere('DROP OWNED BY owner, heir CASCADE'), '', "$value: DROP OWNED elsewhere");
	is($session->query($owner_is), $on ? 'owner' : '', $on ? '... passes over a table in memory' : '... its table included');
	is(elsewhere('DROP ROLE owner'), $on ? 'role "owner" cannot be dropped because some objects depend on it' : '', "$value: DROP ROLE");
	$whole->('roles');

	# The last: the owner does not outlive his schema by more than he has.
	my $dropped = elsewhere("DROP TABLE $schema.mine");
	if ($on)
	{
		is($dropped, 'table "mine" does not exist', "$value: DROP TABLE elsewhere");
		is(elsewhere("DROP SCHEMA $schema CASCADE"), '', "$value: DROP SCHEMA elsewhere");
		$whole->('DROP SCHEMA');
	}
	else
	{
		is($dropped, '', "$value: DROP TABLE elsewhere");
		is(in_session($session, 'SELECT * FROM mine'), 'relation "mine" does not exist', '... and it is gone');
	}
	$session->quit;
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'})
	  or die 'the session does not end';
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relpersistence = 't'}), '0', "$value: no row is left");
	$node->safe_psql('postgres', 'DROP ROLE IF EXISTS owner; DROP ROLE heir');
}

# A standby that takes over has what the primary's catalogs had; autovacuum
# removes it, as after a crash.
my $session = $node->background_psql('postgres');
$session->query_safe(q{SET enable_temp_memory_catalog = off; CREATE TEMP TABLE mine (a int PRIMARY KEY, b text); INSERT INTO mine VALUES (1, 'x')});
$node->wait_for_catchup($standby);
$standby->append_conf('postgresql.conf', "autovacuum = on\nautovacuum_naptime = 1s");
$standby->promote;
$standby->reload;
$standby->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_class WHERE relpersistence = 't'})
  or die 'orphaned rows stay';
pass('a promoted standby gets rid of the rows of temporary tables');
is( $standby->safe_psql('postgres', q{CREATE TEMP TABLE mine (a int); INSERT INTO mine VALUES (1); TABLE mine}),
	'1', '... and makes its own');
$session->quit;

unlike(slurp_file($_->logfile), qr/TRAP|PANIC|was terminated by signal/, 'nothing crashed on ' . $_->name) foreach $node, $standby;
$standby->stop;
$node->stop;
done_testing();
