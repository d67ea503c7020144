# The whole build: what Debian's own server has.

every_extension() {
	local name
	for name in $(sql 18.0/main "select name from pg_available_extensions order by 1"); do
		echo "$name"
		sql 18.0/main whole "create extension if not exists \"$name\" cascade"
	done
	sql 18.0/main whole "select count(*) from pg_extension"
}

links() { has "$(ldd /usr/lib/postgresql/18.0/bin/postgres; ldd /usr/lib/postgresql/18.0/lib/libpq.so.5)" "$1"; }
flags() { has "$(sql 18.0/main "select setting from pg_config where name = 'CONFIGURE'")" "$1"; }

check "a database for it" sql 18.0/main "create database whole"
check "every extension of contrib, of the languages and of ours is created" every_extension
for library in libicu libssl libldap libgssapi_krb5 libpam libsystemd liblz4 libzstd libxml2 liburing libnuma; do
	check "linked: $library" links "$library"
done
check "no library is missing" not grep -r 'not found' <(find /usr/lib/postgresql/18.0 -name '*.so*' -type f \
	-exec ldd {} +)
check "PL/Python runs" equal "$(sql 18.0/main whole "create function p() returns text language plpython3u as
	\$\$ import sys; return str(sys.version_info[0]) \$\$; select p()")" 3
check "PL/Perl runs" equal "$(sql 18.0/main whole "create function q() returns text language plperl as
	\$\$ return 'perl' \$\$; select q()")" perl
check "PL/Tcl runs" equal "$(sql 18.0/main whole "create function r() returns text language pltcl as
	\$\$ return tcl \$\$; select r()")" tcl
check "JIT compiles" has "$(sql 18.0/main "set jit = on; set jit_above_cost = 0; set jit_inline_above_cost = 0;
	explain (analyze) select sum(i * 2) from generate_series(1, 1000) i")" 'Functions:'
check "ICU orders" equal "$(sql 18.0/main "select string_agg(v, '' order by v collate \"und-x-icu\")
	from (values ('б'), ('А'), ('а')) x (v)")" аАб
check "XML, uuid, LZ4" equal "$(sql 18.0/main whole "
	select xml_is_well_formed('<a/>'), length(uuid_generate_v4()::text);
	create table z (t text compression lz4)")" "t|36"
check "messages are translated" has "$(sql 18.0/main "set lc_messages = 'C'" && find /usr/share/postgresql/18.0/locale \
	-name 'postgres-18.mo' | wc -l)" '^[1-9][0-9]'
check "TLS, LDAP, GSSAPI, PAM, systemd are configured" flags \
	'--with-ssl=openssl.*--with-ldap.*--with-gssapi.*--with-pam.*--with-systemd'
check "debug symbols lie apart" has "$(find /usr/lib/debug/.build-id -name '*.debug' | wc -l)" '^[1-9][0-9]+$'
check "... not in the programs" not grep -q '\.debug_info' /usr/lib/postgresql/18.0/bin/postgres
