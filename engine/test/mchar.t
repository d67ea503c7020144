# mchar and fulleq where one database is not enough: dumps restored elsewhere, other encodings, another ICU, and values
# at the limit.
#
#   PREFIX=DIR    the server to test; defaults to the built plimsoll flavour
#   VANILLA=DIR   the one to exchange dumps with; defaults to the built vanilla flavour
#   HUGE=yes      also values of half a gigabyte: some minutes, and 8 GB of memory
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
chomp(my $vanilla = $ENV{VANILLA} // `$engine/build path vanilla`);
my %server = (plimsoll => Plimsoll::Server->new($prefix), vanilla => Plimsoll::Server->new($vanilla));
sub ask { my ($name, @what) = @_; return $server{$name}->psql(@what) }

my $tables = <<'END';
CREATE EXTENSION mchar; CREATE EXTENSION fulleq; CREATE EXTENSION amcheck;
CREATE TABLE goods (id int, v mvarchar(50), c mchar(20) DEFAULT 'пусто', n mvarchar CHECK (n <> 'нет'));
INSERT INTO goods SELECT g, 'Товар ' || g % 500 || repeat(' ', g % 3), 'К' || g, nullif(md5(g::text), md5('7'))
    FROM generate_series(1, 2000) g;
INSERT INTO goods VALUES (0, '', '', '😀'), (-1, '   ', '  ', NULL);
CREATE INDEX goods_v ON goods (v); CREATE INDEX goods_case ON goods (c mchar_case_ops);
CREATE INDEX goods_hash ON goods USING hash (n);
CREATE INDEX goods_parts ON goods USING gin (v mvarchar_trigram_ops);
CREATE INDEX goods_fill ON goods USING hash (n mvarchar_fill_ops);
CREATE VIEW chosen AS SELECT * FROM goods WHERE v LIKE 'товар 1%' ESCAPE '#' AND c = 'к1'::mvarchar AND n == NULL;
CREATE VIEW similar_ones AS SELECT id FROM goods WHERE v SIMILAR TO 'товар (1|2)';
CREATE MATERIALIZED VIEW counted AS SELECT v, count(*) FROM goods GROUP BY v;
END
my $look = <<'END';
SET enable_seqscan = off;
SELECT count(*), sum(length(v)), md5(string_agg(id || v::text || c::text || coalesce(n::text, '-'), '|' ORDER BY id))
    FROM goods;
SELECT count(*) FROM goods WHERE v = 'ТОВАР 17'; SELECT count(*) FROM goods WHERE c &= 'К17';
SELECT count(*) FROM goods WHERE n = upper(md5('8'))::mvarchar;
SELECT count(*) FROM goods WHERE v LIKE '%ВАР 49%'; SELECT count(*) FROM goods WHERE v LIKE 'ТОВАР 49%';
SELECT count(*) FROM chosen;
SELECT count(*) FROM similar_ones; SELECT count(*) FROM counted;
SELECT bt_index_check(c, true) FROM unnest(ARRAY['goods_v'::regclass, 'goods_case']) c;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'goods'::regclass AND attnum > 1;
SELECT version = mchar_collation_version() FROM mchar_collation;
END
my $made = "CREATE DATABASE one TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';";
for my $from (sort keys %server)
{
	my ($to) = grep { $_ ne $from } sort keys %server;
	ask($from, 'postgres', $made);
	is(ask($from, 'one', $tables), '', "$from has tables");
	my $there = ask($from, 'one', $look);
	unlike($there, qr/ERROR|WARNING/, '... that answer') or diag $there;
	like($there, qr/^2002\|.*\n4\n1\n1\n44\n44\n/, '... what is expected') or diag $there;
	for my $how ('', '--column-inserts', '-Fc')
	{
		my $dump = "$server{$from}{dir}/dump";
		ask($to, 'postgres', "DROP DATABASE IF EXISTS two;
		CREATE DATABASE two TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';");
		is(system("$server{$from}{bin}/pg_dump -h $server{$from}{dir} -U probe $how -f $dump one"), 0, "dumped $how");
		my $restore = $how eq '-Fc' ? "$server{$to}{bin}/pg_restore -h $server{$to}{dir} -U probe -e -d two $dump"
			: "$server{$to}{bin}/psql -h $server{$to}{dir} -U probe -XAtq -v ON_ERROR_STOP=1 -f $dump two";
		my $said = `$restore 2>&1`;
		is($?, 0, "... restored on $to") or diag $said;
		is(ask($to, 'two', $look), $there, '... and is the same');
	}
	ask($from, 'postgres', 'DROP DATABASE one;');
}

# A server whose encoding is another, and one that has none.
for my $encoding (qw(WIN1251 KOI8R LATIN1 SQL_ASCII))
{
	ask('plimsoll', 'postgres', "CREATE DATABASE enc TEMPLATE template0 ENCODING '$encoding' LOCALE 'C';");
	my $said = ask('plimsoll', 'enc', <<'END');
SET client_encoding = 'UTF8';
CREATE EXTENSION mchar;
CREATE TABLE t (v mvarchar(7), c mchar(7)); INSERT INTO t VALUES ('Zug ab', 'Zug ab');
SELECT v, upper(c) || '|', v = 'ZUG AB ', v LIKE '%G A%', v ~ '^zug', length(v), mvarchar_send(v) FROM t;
\set VERBOSITY sqlstate
INSERT INTO t VALUES ('Жук', 'Жук');
SELECT v, c || '|', v LIKE '%УК', v ~ '^ЖУ' FROM t WHERE v = 'ЖУК';
SELECT '😀'::mvarchar;
END
	like($said, qr/^Zug ab\|ZUG AB \|\|t\|t\|t\|6\|\\x5a0075006700200061006200$/m, "$encoding: letters of ASCII");
	like($said, $encoding eq 'LATIN1' ? qr/ERROR:  22P05/ : qr/^Жук\|Жук    \|\|t\|[tf]$/m,
		'... Cyrillic as far as it has any')
		or diag $said;
	like($said, $encoding eq 'SQL_ASCII' ? qr/\xf0\x9f\x98\x80/ : qr/ERROR:  22P05/, '... and emoji') or diag $said;
	ask('plimsoll', 'postgres', 'DROP DATABASE enc;');
}
ask('plimsoll', 'postgres', "CREATE DATABASE enc TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C';");
like(ask('plimsoll', 'enc', "CREATE EXTENSION mchar; SELECT E'a\\xff'::mvarchar;
SELECT convert_from('\\xc3', 'SQL_ASCII')::mchar;"),
	qr/(?:invalid byte sequence|not valid UTF-8).*(?:invalid byte sequence|not valid UTF-8)/s,
		'bytes that are no characters are refused');

# The version of ICU is told once, by whatever a session does first.
ask('vanilla', 'postgres', $made);
ask('vanilla', 'one', $tables . "UPDATE mchar_collation SET version = 'root 1.0, Unicode 1.0';");
for my $first ("SELECT 'a'::mvarchar", "SELECT count(*) FROM goods WHERE v LIKE '%x%'",
    'SELECT v FROM goods ORDER BY v LIMIT 1',
	'PREPARE p(text) AS SELECT $1::mchar; EXECUTE p(7)')
{
	my $said = ask('vanilla', 'one', "$first; SELECT v FROM goods ORDER BY v LIMIT 1; SELECT 'x'::mchar;");
	is(scalar(() = $said =~ /WARNING:  mchar: ICU has changed/g), 1, "told once: $first") or diag $said;
}
like(ask('vanilla', 'one', "SELECT mchar_refresh_collation() IS NOT NULL;"), qr/^t$/m, 'recorded anew');
unlike(ask('vanilla', 'one', "SELECT 'a'::mvarchar"), qr/WARNING/, '... and silent');
# Who locks the table stops nobody.
{
	my $said = ask('vanilla', 'one', "BEGIN;
	LOCK TABLE mchar_collation;\n\\! psql -XAtc \"SELECT 'other'::mvarchar\"\nROLLBACK;");
	like($said, qr/^other$/m, 'a locked table is not waited for');
}

# pg_upgrade keeps data, indexes and what was recorded of ICU. engine/build leaves it out unless it builds all of
# PostgreSQL.
SKIP:
{
	my $lacking = grep { !-x "$prefix/bin/$_" } qw(pg_upgrade pg_resetwal vacuumdb);
	diag 'SKIPPED: pg_upgrade, which engine/build --whole builds' if $lacking;
	skip 'no pg_upgrade', 3 if $lacking;
	my $server = $server{upgraded} = Plimsoll::Server->new($vanilla);
	my ($dir, $options) = ($server->{dir}, "-k $server->{dir} -c listen_addresses= -c fsync=off");
	ask('upgraded', 'postgres', $made);
	ask('upgraded', 'one', $tables . "UPDATE mchar_collation SET version = 'root 1.0, Unicode 1.0';");
	my $there = ask('upgraded', 'one', $look);
	$server->as_user("$vanilla/bin/pg_ctl", '-D', "$dir/data", '-m', 'fast', '-w', 'stop');
	$server->as_user("$prefix/bin/initdb", '-D', "$dir/new", '-U', 'probe', '-A', 'trust', '--no-sync');
	ok($server->as_user('sh', '-c', "cd $dir && $prefix/bin/pg_upgrade -U probe -b $vanilla/bin -B $prefix/bin \\
		-d $dir/data -D $dir/new --socketdir $dir >upgrade.log 2>&1"), 'pg_upgrade')
		or diag $server->slurp('upgrade.log');
	$server->as_user('mv', "$dir/data", "$dir/old") and $server->as_user('mv', "$dir/new", "$dir/data");
	$server->{bin} = "$prefix/bin";
	$server->as_user("$prefix/bin/pg_ctl", '-D', "$dir/data", '-l', "$dir/log", '-w', '-o', $options, 'start');
	($server->{postmaster}) = $server->slurp('data/postmaster.pid') =~ /^(\d+)/;
	is(ask('upgraded', 'one', $look) =~ s/in\.\d+/in/r, $there =~ s/in\.\d+/in/r, '... keeps all of it');
	like($there, qr/WARNING:  mchar: ICU has changed/, '... the version, too');
}

SKIP:
{
	skip 'values of half a gigabyte (HUGE=yes)', 6 unless $ENV{HUGE};
	ask('plimsoll', 'postgres', $made);
	my $limit = qr/ERROR:  (?:value is too long|requested length too large|invalid memory alloc request size)/;
	ask('plimsoll', 'one', 'CREATE EXTENSION mchar;');
	like(ask('plimsoll', 'one', "SELECT repeat('x', 1073741819)::mvarchar IS NULL;"), $limit,
		'a billion characters are refused');
	like(ask('plimsoll', 'one', "SELECT length(repeat('x', 536870000)::mvarchar);"), qr/^536870000$/,
		'half a billion fit');
	like(ask('plimsoll', 'one', "SELECT repeat('x', 536870000)::mvarchar LIKE '%Y%';"), qr/^f$/,
		'... and can be searched');
	like(ask('plimsoll', 'one', "SELECT length(a || a) FROM (SELECT repeat('x', 300000000)::mvarchar AS a) v;"),
		$limit, 'too much put together');
	like(ask('plimsoll', 'one', "SELECT length(upper(repeat('ß', 300000000)::mvarchar));"), $limit,
		'too much in capitals');
	like(ask('plimsoll', 'one', "SELECT length((a || a)::text) FROM (SELECT repeat('€', 200000000)::mvarchar AS a) v;"),
		$limit, 'too much for a string');
}
unlike($_->log, qr/TRAP|was terminated by signal|PANIC/, 'nothing crashed') for values %server;
done_testing();
