# Debian packages of the engine and of plimsoll: all of PostgreSQL, with what Debian's own server has, at the paths that
# postgresql-common knows; then debhelper. engine/debian holds what packages need beside the files.

# The name by which postgresql-common knows our server. It takes digits with at most one dot (pg_ctlcluster: one digit
# behind it), orders versions as numbers, and compares one with the data directory's PG_VERSION as a number. Debian
# names folders by the major version alone, so that N.0 is nobody else's; it equals N, so that a data directory of
# stock PostgreSQL is taken as it is (docs/design/047).
DEB_VERSION=$MAJOR.0
DEB_PREFIX=/usr/lib/postgresql/$DEB_VERSION
DEB_FLAVOUR=plimsoll-deb

# Objects with debug information and LLVM's bitcode, and the packages.
DEB_ROOM_MB=4000
DEB_COMPILATIONS=2500

# command_deb DIR makes the packages in DIR, where `make engine-deb` has put the program plimsoll.
command_deb() {
	local out
	((${#ARGUMENTS[@]} <= 1)) || misused "deb takes one folder"
	out=$(realpath -m -- "${ARGUMENTS[0]:-$ENGINE/../build/deb}")
	[[ -x $out/plimsoll ]] || fail usage "there is no program $out/plimsoll to put into a package" "make engine-deb"
	make_dirs
	require_source
	require_deb_tools
	WHOLE=yes ROOM_MB=$DEB_ROOM_MB COMPILATIONS=$DEB_COMPILATIONS
	ensure_flavour "$DEB_FLAVOUR"
	pack_debs "$out"
	time_table
}

require_deb_tools() {
	local missing
	missing=$("$ENGINE/../setup/install" --check engine deb 2>&1) || fail environment "${missing%%$'\n'*}" \
		"setup/install engine deb"
}

# deb_flags prints the flags of configure: what Debian's server of this version has, and its folders.
deb_flags() {
	local llvm
	llvm=$(llvm-config --bindir 2>/dev/null || true)
	printf '%s\n' --prefix="$DEB_PREFIX" --datadir=/usr/share/postgresql/"$DEB_VERSION" \
		--localedir=/usr/share/postgresql/"$DEB_VERSION"/locale --includedir=/usr/include/postgresql/"$DEB_VERSION" \
		--sysconfdir=/etc/postgresql-common --with-system-tzdata=/usr/share/zoneinfo \
		--with-icu --with-ssl=openssl --with-libxml --with-libxslt --with-lz4 --with-zstd --with-liburing \
		--with-libnuma --with-ldap --with-gssapi --with-pam --with-systemd --with-selinux --with-uuid=e2fs \
		--with-libcurl --with-python --with-perl --with-tcl --with-llvm --enable-nls --enable-dtrace --enable-debug \
		PYTHON=/usr/bin/python3 LLVM_CONFIG="$llvm/llvm-config" CLANG="$llvm/clang" \
		CFLAGS="$(build_flags CFLAGS)" CPPFLAGS="$(build_flags CPPFLAGS)" LDFLAGS="$(build_flags LDFLAGS)"
}

# build_flags NAME prints the distribution's hardening, without the folder that happens to be compiled in.
build_flags() {
	local options=hardening=+all,reproducible=-fixfilepath,-fixdebugpath
	DEB_BUILD_MAINT_OPTIONS=$options dpkg-buildflags --get "$1" 2>/dev/null || true
}

# place_socket DIR: clients without a host look where the distribution's servers listen, not in /tmp.
place_socket() {
	[[ -e $1/src/include/pg_config_manual.h ]] || return 0 # a test's tree has none
	sed -i 's|^#define DEFAULT_PGSOCKET_DIR  "/tmp"|#define DEFAULT_PGSOCKET_DIR  "/var/run/postgresql"|' \
		"$1/src/include/pg_config_manual.h"
}

# inner_prefix FLAVOUR PREFIX prints where the programs' bin is: packages hold a tree of their own in the prefix.
inner_prefix() { if [[ $1 == "$DEB_FLAVOUR" ]]; then echo "$2$DEB_PREFIX"; else echo "$2"; fi; }

# pack_debs DIR
pack_debs() {
	local version release files
	take_lock deb
	LOG=$LOGS/deb.log
	: >"$LOG"
	release=$("$1/plimsoll" version | sed -n 's/^plimsoll \([0-9.]*[0-9]\).*/\1/p')
	# A later commit is a later package.
	release+=.$(git -C "$ENGINE" rev-list --count HEAD 2>/dev/null || echo 0)
	version=$SOURCE_VERSION+plimsoll$release+$(os_release ID)$(os_release VERSION_ID)
	mkdir -p "$WORK/pack/debian"
	run_step "deb: lay out the files" 0 lay_out_debs "$WORK/pack" "$1" "$version"
	run_step "deb: strip, find dependencies, pack" 0 in_dir "$WORK/pack" call_debhelper "$release"
	rm -f "$1"/*.deb
	mv "$WORK"/*.deb "$1/"
	drop_lock
	files=("$1"/*.deb)
	printf '%s\n' "${files[@]}"
}

# lay_out_debs DIR OUT VERSION
lay_out_debs() {
	local debian=$1/debian file name
	for file in "$ENGINE"/debian/*; do
		name=$(basename "$file")
		sed "s/@MAJOR@/$MAJOR/g; s/@VERSION@/$DEB_VERSION/g" "$file" >"$debian/${name/-MAJOR/-$MAJOR}"
	done
	deb_changelog "$3" >"$debian/changelog"
	cp -a "$PREFIX/usr" "$1/"
	tidy_root "$1/usr"
	assign_files "$1"
	lay_out_plimsoll "$debian/plimsoll" "$2"
	mkdir -p "$debian/plimsoll-postgresql-$MAJOR$DEB_PREFIX"
	cp "$PREFIX/$MANIFEST" "$debian/plimsoll-postgresql-$MAJOR$DEB_PREFIX/"
}

# tidy_root DIR removes what names the folders of this machine.
tidy_root() {
	local global=$1/lib/postgresql/$DEB_VERSION/lib/pgxs/src/Makefile.global
	[[ ! -e $global ]] || sed -i 's|^\(abs_top_[a-z]*dir\) = .*|\1 = /nonexistent|' "$global"
}

# assign_files DIR puts each file of DIR/usr into its package, by the first line of the layout that fits.
assign_files() {
	local file part name lines
	local -A files=()
	mapfile -t lines < <(layout_lines "$1/debian/layout")
	while IFS= read -r -d '' file; do
		part=$(part_of "$file" "${lines[@]}")
		[[ -n $part ]] || { echo "engine/debian/layout has no package for $file"; return 1; }
		files[$part]+=$file$'\n'
	done < <(cd "$1" && find usr \( -type f -o -type l \) -print0 | LC_ALL=C sort -z)
	unset 'files[none]'
	for part in "${!files[@]}"; do
		name=$1/debian/$(deb_name "$part")
		mkdir -p "$name"
		printf %s "${files[$part]}" | tar -C "$1" -cf - -T - | tar -C "$name" -xf -
	done
	rm -rf "$1/usr"
}

# layout_lines FILE prints the layout: our own extensions first, whatever they are.
layout_lines() {
	local name
	for name in $(extensions); do
		printf 'extensions %s\n' "lib/$name.so" "share/extension/$name.control" "share/extension/$name--*"
	done
	sed '/^#/d; /^$/d' "$1"
}

# part_of FILE LINE… prints the part that the first fitting line names. A pattern begins at the folder of programs,
# libraries, data (share) or headers (include).
part_of() {
	local line key=${1#usr/lib/postgresql/"$DEB_VERSION"/}
	key=${key/#usr\/share\/postgresql\/$DEB_VERSION/share}
	key=${key/#usr\/include\/postgresql\/$DEB_VERSION/include}
	shift
	for line; do
		[[ $key != ${line#* } ]] || { echo "${line%% *}"; return; }
	done
}

# deb_name PART
deb_name() {
	if [[ $1 == server ]]; then echo "plimsoll-postgresql-$MAJOR"; else echo "plimsoll-postgresql-$1-$MAJOR"; fi
}

# lay_out_plimsoll DIR OUT: the program, its pages and completions, and the library for flushes of a known latency,
# which it would otherwise compile where it runs.
lay_out_plimsoll() {
	local shim=$ENGINE/../ground/postgres/storage/shim/shim.c program=$2/plimsoll
	install -D -m 755 "$program" "$1/usr/bin/plimsoll"
	mkdir -p "$1/usr/share/man/man1" "$1/usr/share/bash-completion/completions" "$1/usr/lib/plimsoll" \
		"$1/usr/share/zsh/vendor-completions" "$1/usr/share/fish/vendor_completions.d" \
		"$1/usr/share/doc/plimsoll/engine"
	"$program" man "$1/usr/share/man/man1"
	"$program" completion bash >"$1/usr/share/bash-completion/completions/plimsoll"
	"$program" completion zsh >"$1/usr/share/zsh/vendor-completions/_plimsoll"
	"$program" completion fish >"$1/usr/share/fish/vendor_completions.d/plimsoll.fish"
	"${CC:-gcc}" -std=gnu11 -O2 -g -Wall -shared -fPIC -o "$1/usr/lib/plimsoll/storage-$(short_hash <"$shim").so" \
		"$shim" -ldl -pthread
	cp "$ENGINE"/../docs/engine/*.md "$1/usr/share/doc/plimsoll/engine/"
}

# deb_changelog VERSION
deb_changelog() {
	printf 'plimsoll (%s) unstable; urgency=medium\n\n  * PostgreSQL %s with patchset %s; see CHANGELOG.md.\n\n' \
		"$1" "$SOURCE_VERSION" "$(patchset_of plimsoll)"
	printf ' -- %s  %s\n' "$(sed -n 's/^Maintainer: //p' "$ENGINE/debian/control")" \
		"$(date -u -R -d "$(git -C "$ENGINE" log -1 --format=%cI 2>/dev/null || date -u -Iseconds)")"
}

# call_debhelper RELEASE: the steps of `dh binary` that have something to do here. A package without a server of its own
# version has the release's.
call_debhelper() {
	local release=$1 lib=debian/plimsoll-postgresql-client-$MAJOR$DEB_PREFIX/lib
	dh_installdocs
	dh_installchangelogs
	dh_compress
	dh_fixperms
	dh_strip -Xusr/bin/plimsoll
	# Our libpq, newer than the distribution's, lies beside the server; nobody else finds it, and ours need no other.
	dh_shlibdeps -l"$PWD/$lib" -- --ignore-missing-info -xlibpq5
	dh_installdeb
	dh_gencontrol -Nplimsoll
	dh_gencontrol -pplimsoll -- -v"$release"
	dh_md5sums
	dh_builddeb -- -Zxz -z3
}
