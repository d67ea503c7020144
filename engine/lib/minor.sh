# Minor releases: is a newer source to be had, does the series fit it, and what of it does not.

# command_newer asks the distribution and ends with 1 if it has a newer source than the one we develop on.
command_newer() {
	local version entry
	((${#ARGUMENTS[@]} == 0)) || misused "newer takes no argument"
	make_dirs
	ask_newest
	if is_newer "$version"; then
		echo "PostgreSQL $version is to be had ($(basename "$entry" .sources)), newer than $(developed_on)"
		say "hint: engine/build minor takes it"
		exit "${EXIT_CODES[failure]}"
	fi
	echo "the newest source to be had is PostgreSQL $version; the engine is developed on $(developed_on)"
}

# ask_newest sets version and entry of the caller: the newest source package that the distribution's suites offer.
ask_newest() {
	command -v apt-get >/dev/null || fail environment "this machine does not use Debian packages" \
		"name a tarball: engine/build minor --source /path/to/postgresql-$MAJOR.N.tar.bz2"
	take_lock source
	LOG=$LOGS/newer.log
	: >"$LOG"
	mkdir -p "$WORK/fetch/entries"
	say "minor: asking the distribution for its source packages"
	read -r version entry < <(apt_offers "$WORK/fetch" | sort -V | tail -n 1) ||
		fail environment "the distribution's package sources have no reachable postgresql-$MAJOR (log: $LOG)" \
			"try again, or name a tarball: engine/build minor --source PATH"
}

is_newer() { [[ $1 != "$(developed_on)" && $(printf '%s\n' "$1" "$(developed_on)" | sort -V | tail -n 1) == "$1" ]]; }

# apt_offers DIR prints version and entry of each source package of the major version, in every suite that we look at.
apt_offers() {
	local entry
	apt_candidates "$1/entries"
	for entry in "$1"/entries/*.sources; do
		[[ -s $entry ]] || continue
		rm -rf "$1/apt"
		mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial"
		apt_configuration "$1/apt" "$entry" >"$1/apt/apt.conf"
		(unlocked apt-get -q -c "$1/apt/apt.conf" update) >>"$LOG" 2>&1 || continue
		apt-cache -c "$1/apt/apt.conf" showsrc --only-source "postgresql-$MAJOR" 2>>"$LOG" |
			sed -n 's/^Version: //p' | upstream_versions | sed "s|\$| $entry|"
	done
}

# upstream_versions strips what the distribution added: 1:18.7-1+deb13u1 is 18.7.
upstream_versions() { sed -E 's/^[0-9]+://; s/-[^-]*$//; s/[+].*$//'; }

# command_minor tries the series on a newer source, reports patch by patch, and takes the source if everything fits.
command_minor() {
	local status=0
	((${#ARGUMENTS[@]} == 0)) || misused "minor takes --source, no argument"
	make_dirs
	find_minor || return 0
	take_lock minor
	LOG=$LOGS/minor.log
	: >"$LOG"
	rm -rf "$WORK/tree"
	unpack_source "$WORK/tree"
	echo "PostgreSQL $SOURCE_VERSION ($SOURCE_ORIGIN), series developed on $(developed_on)"
	report_series "$WORK/tree" || status=1
	((status == 0)) || fail failure "the series does not fit PostgreSQL $SOURCE_VERSION as it is" \
		"engine/build tree --source … NEW lays out what fits; then git am -3 of the patch that it names"
	[[ -z $LIST ]] || return 0
	take_source
}

# find_minor determines the source: the one named, or the newest to be had; false if that is none.
find_minor() {
	local version entry archive id
	if [[ -n ${SOURCE:-} ]]; then
		# How far the series is from the next major version can be looked at, too.
		[[ -z $LIST || $(version_in "$SOURCE") != "$((MAJOR + 1))"[.a-z]* ]] || MAJOR=$((MAJOR + 1))
		use_named
		return
	fi
	ask_newest
	if ! is_newer "$version"; then
		echo "no newer source than PostgreSQL $(developed_on) is to be had"
		return 1
	fi
	apt_download "$WORK/fetch" "$entry" >>"$LOG" 2>&1 ||
		fail environment "cannot fetch PostgreSQL $version (log: $LOG)" "try again"
	archive=$(find "$WORK/fetch/package" -name "postgresql-${MAJOR}_*.orig.tar.*" ! -name '*.asc' | head -n1)
	id=$(sha256sum <"$archive" | cut -d' ' -f1)
	store_archive "$archive" "$id" "package postgresql-$MAJOR $version"
	use_stored "$id"
}

# report_series DIR tries each patch on the tree and prints a line for each: clean (it may have moved), fuzz (lines
# around it differ: look at it), conflict. What fits of a patch is applied, so that later ones are judged, too.
report_series() {
	local patch file word detail
	local -A count=([clean]=0 [fuzz]=0 [conflict]=0)
	while IFS= read -r -d '' file; do
		[[ -e $1/$file ]] || continue
		count[conflict]=$((count[conflict] + 1))
		fit_line overlay conflict "${file#./} is upstream's, too"
	done < <(cd "$OVERLAY" && find . -type f -print0)
	cp -R "$OVERLAY/." "$1/"
	for patch in $(series); do
		IFS=$'\t' read -r word detail < <(fit_patch "$1" "$PATCHES/$patch")
		count[$word]=$((count[$word] + 1))
		fit_line "${patch%.patch}" "$word" "$detail"
	done
	echo "${count[clean]} clean, ${count[fuzz]} fuzz, ${count[conflict]} conflict"
	((count[fuzz] + count[conflict] == 0))
}

fit_line() { printf '%-20s %-9s %s\n' "$@"; }

# fit_patch DIR PATCH prints result and detail.
fit_patch() {
	local said moved
	if said=$(try_patch "$1" "$2" 0 --dry-run); then
		try_patch "$1" "$2" 0 >/dev/null
		moved=$(grep -c 'offset' <<<"$said") || true
		printf 'clean\t%s\n' "$( ((moved == 0)) || echo "$moved hunks have moved")"
	elif said=$(try_patch "$1" "$2" 3 --dry-run); then
		try_patch "$1" "$2" 3 >/dev/null
		printf 'fuzz\t%s\n' "$(fit_files 'with fuzz' <<<"$said")"
	else
		try_patch "$1" "$2" 3 --reject-file=- >/dev/null || true
		printf 'conflict\t%s\n' "$(fit_files 'FAILED at|find file to patch|ignored' <<<"$said")"
	fi
}

# try_patch DIR PATCH FUZZ [OPTION]
try_patch() { patch -d "$1" -p1 --forward --batch --fuzz="$3" --no-backup-if-mismatch "${@:4}" <"$2" 2>&1; }

# fit_files PATTERN reads what patch said and names the files with such hunks, and their number.
fit_files() {
	awk -v pattern="$1" '
		/^(checking|patching) file / { file = $3 }
		$0 ~ pattern { n[file == "" ? "a missing file" : file]++ }
		END { for (f in n) print f " (" n[f] ")" }' | sort | paste -sd ' '
}

# take_source records the checksum: the first one is what we develop on.
take_source() {
	[[ -f $SOURCE_PATH ]] || { say "minor: a folder has no checksum: name its tarball to take it" && return; }
	if ! recorded "$SOURCE_ID" || [[ $(developed_on) != "$SOURCE_VERSION" ]]; then
		{
			echo "$SOURCE_ID  postgresql-$SOURCE_VERSION.tar.bz2"
			grep -v "^$SOURCE_ID  " "$CHECKSUMS" || true
		} >"$CHECKSUMS.new"
		mv "$CHECKSUMS.new" "$CHECKSUMS"
	fi
	say "minor: the engine is developed on PostgreSQL $SOURCE_VERSION now (engine/source.sha256)"
	say "next: engine/build tree && engine/build patches, make engine-test, make engine-test-full, CHANGELOG.md"
}
