# Getting upstream's source over the network: the distribution's source package first, then upstream's own site.

# fetch_source stores a verified archive.
fetch_source() {
	mkdir -p "$WORK/fetch"
	LOG=$LOGS/fetch.log
	: >"$LOG"
	fetch_package || fetch_upstream ||
		fail environment "cannot get PostgreSQL $MAJOR's source: $PACKAGE_PROBLEM; $UPSTREAM_PROBLEM" \
			"name a tarball: SOURCE=/path/to/postgresql-$(developed_on).tar.bz2, or use an installed one: ENGINE=system"
	rm -rf "$WORK/fetch"
}

# fetch_package: the package manager's signatures are the proof, so a newer minor than ours is welcome.
fetch_package() {
	local archive id version
	PACKAGE_PROBLEM="this machine does not use Debian packages"
	command -v apt-get >/dev/null || return
	say "source: asking the distribution for its source package"
	archive=$(apt_source "$WORK/fetch") || {
		PACKAGE_PROBLEM="the distribution's package sources have no reachable postgresql-$MAJOR (log: $LOG)"
		return 1
	}
	id=$(sha256sum <"$archive" | cut -d' ' -f1)
	version=$(basename "$archive" | sed 's/.*_\([^_]*\)\.orig.*/\1/')
	recorded "$id" || series_fits "$archive" || {
		PACKAGE_PROBLEM="the series does not fit the distribution's PostgreSQL $version (log: $LOG)"
		say "source: $PACKAGE_PROBLEM"
		return 1
	}
	store_archive "$archive" "$id" "package postgresql-$MAJOR $version"
	say "source: PostgreSQL $version from the distribution's source package, signature verified"
}

# series_fits ARCHIVE tries the series on a version that we did not develop on.
series_fits() {
	mkdir -p "$WORK/fetch/fit"
	tar -xf "$1" -C "$WORK/fetch/fit" --strip-components=1 && patch_source "$WORK/fetch/fit" >>"$LOG" 2>&1
}

# fetch_upstream: only the recorded checksum is proof.
fetch_upstream() {
	local version file id want
	version=$(developed_on)
	file=$WORK/fetch/postgresql-$version.tar.bz2
	say "source: asking upstream's download site for PostgreSQL $version"
	UPSTREAM_PROBLEM="upstream's download site cannot be reached"
	download "https://ftp.postgresql.org/pub/source/v$version/postgresql-$version.tar.bz2" "$file" || return
	id=$(sha256sum <"$file" | cut -d' ' -f1)
	want=$(cut -d' ' -f1 "$CHECKSUMS" | head -n1)
	if [[ $id != "$want" ]]; then
		rm -rf "$WORK/fetch"
		fail environment \
			"checksum mismatch: the download of postgresql-$version.tar.bz2 has sha256 $id, recorded is $want" \
			"try again; if it still differs, name a tarball you trust: SOURCE=/path"
	fi
	store_archive "$file" "$id" "upstream postgresql-$version.tar.bz2"
}

download() {
	if command -v curl >/dev/null; then
		curl -fsSL --retry 2 --connect-timeout 10 --max-time 600 -o "$2" "$1" >>"$LOG" 2>&1
	elif command -v wget >/dev/null; then
		wget -q --tries=2 --timeout=30 -O "$2" "$1" >>"$LOG" 2>&1
	else
		UPSTREAM_PROBLEM="neither curl nor wget is installed"
		return 1
	fi
}
