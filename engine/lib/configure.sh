# The configuration of PostgreSQL: what this machine lets us build in. Both flavours get the same flags.

# pkg NAME: is the library's development package installed?
pkg() { pkg-config --exists "$1" 2>/dev/null; }

# configure_flags FLAVOUR prints the flags, one a line, and nothing that differs between two runs.
configure_flags() {
	[[ $1 != "$DEB_FLAVOUR" ]] || { deb_flags; return; }
	echo --with-icu
	! pkg openssl || echo --with-ssl=openssl
	pkg readline || echo --without-readline
	! pkg libxml-2.0 || echo --with-libxml
	! { pkg libxml-2.0 && pkg libxslt; } || echo --with-libxslt
	! pkg liblz4 || echo --with-lz4
	! pkg libzstd || echo --with-zstd
	! pkg liburing || echo --with-liburing
	! pkg numa || echo --with-libnuma
	! perl -MIPC::Run -MTest::More -e 1 2>/dev/null || echo --enable-tap-tests
	[[ $1 != *-assert ]] || printf '%s\n' --enable-cassert --enable-debug --enable-injection-points
}

# missing_tools prints what a build cannot do without and this machine lacks.
missing_tools() {
	local tool
	for tool in make bison flex perl patch pkg-config tar bzip2; do
		command -v "$tool" >/dev/null || echo "$tool"
	done
	command -v "${CC:-gcc}" >/dev/null || command -v cc >/dev/null || echo "a C compiler"
	! command -v pkg-config >/dev/null || pkg icu-i18n || echo "ICU's development files"
	! command -v pkg-config >/dev/null || pkg zlib || echo "zlib's development files"
}

require_tools() {
	local missing
	missing=$(missing_tools | paste -sd , | sed 's/,/, /g')
	[[ -z $missing ]] ||
		fail environment "cannot build PostgreSQL: this machine lacks $missing" "run setup/install engine"
}
