# The distribution's source package, fetched with lists and cache folders of our own: the machine's
# package configuration is read and never changed. The proof is apt's own signature check.

# Releases that carry postgresql-18, by distribution; the name of a release outlives its alias.
declare -rA LATER_SUITES=([debian]="unstable forky" [ubuntu]="resolute devel")

# apt_source DIR downloads the source package and prints the path of upstream's archive in it.
apt_source() {
	local entry
	mkdir -p "$1/entries"
	apt_candidates "$1/entries"
	for entry in "$1"/entries/*.sources; do
		[[ -s $entry ]] || continue
		echo "trying $(basename "$entry" .sources)" >>"$LOG"
		apt_download "$1" "$entry" >>"$LOG" 2>&1 || continue
		find "$1/package" -name "postgresql-${MAJOR}_*.orig.tar.*" ! -name '*.asc' | head -n1
		return 0
	done
	return 1
}

# apt_candidates DIR writes one file of source entries per attempt: what the machine has configured,
# then its distribution's own address with a suite that carries our major version.
apt_candidates() {
	local suite n=0
	apt_entries >"$1/all"
	{
		grep -a '^deb-src' "$1/all" || true
		# The lists we have tell for free whether the configured suites carry it.
		! apt-cache show "postgresql-$MAJOR" >/dev/null 2>&1 || sed -n 's/^deb\t/deb-src\t/p' "$1/all"
	} | sort -u | apt_write >"$1/0-configured.sources"
	for suite in $(apt_later_suites); do
		n=$((n + 1))
		apt_own_entry <"$1/all" | awk -F'\t' -v OFS='\t' -v s="$suite" '{ $1 = "deb-src"; $2 = s; print }' |
			apt_write >"$1/$n-$suite.sources"
	done
}

# apt_entries prints the machine's entries, wherever its configuration says they are.
apt_entries() {
	local SOURCE_LIST= SOURCE_PARTS=
	eval "$(apt-config shell SOURCE_LIST Dir::Etc::sourcelist/f SOURCE_PARTS Dir::Etc::sourceparts/d)"
	{
		find "$SOURCE_LIST" "${SOURCE_PARTS%/}" -maxdepth 1 -type f \( -name '*.list' -o -name '*.sources' \) \
			-print0 2>/dev/null || true
	} |
		sort -z | xargs -0r awk -f "$ENGINE/lib/apt_entries.awk"
}

# os_release NAME... prints the first of the fields that is set.
os_release() {
	(
		. "${OS_RELEASE:-/etc/os-release}"
		for name in "$@"; do [[ -z ${!name:-} ]] || { echo "${!name}"; break; }; done
	)
}

apt_later_suites() {
	local id
	for id in $(os_release ID) $(os_release ID_LIKE); do
		[[ -z ${LATER_SUITES[$id]:-} ]] || { echo "${LATER_SUITES[$id]}"; return; }
	done
}

# apt_own_entry picks the distribution's main archive among the entries: that of its own release.
apt_own_entry() {
	awk -F'\t' -v codename="$(os_release UBUNTU_CODENAME VERSION_CODENAME)" '
		$4 !~ /(^| )main( |$)/ { next }
		$2 == codename { print; found = 1; exit }
		$2 ~ /^(stable|oldstable|testing|unstable|sid)$/ && other == "" { other = $0 }
		END { if (!found && other != "") print other }' | awk -F'\t' -v OFS='\t' '{ $4 = "main"; print }'
}

# apt_write turns entries into apt's deb822 format.
apt_write() {
	awk -F'\t' '{
		print "Types: " $1 "\nURIs: " $3 "\nSuites: " $2
		if ($4 != "") print "Components: " $4
		if ($5 != "") { gsub("\034", "\n", $5); print "Signed-By: " $5 }
		print ""
	}'
}

# apt_download DIR ENTRY fetches the package into DIR/package.
apt_download() {
	rm -rf "$1/package" "$1/apt"
	mkdir -p "$1/package" "$1/apt/lists/partial" "$1/apt/cache/archives/partial"
	apt_configuration "$1/apt" "$2" >"$1/apt/apt.conf"
	(unlocked apt-get -q -c "$1/apt/apt.conf" update) || return
	(unlocked in_dir "$1/package" apt-get -q -c "$1/apt/apt.conf" source --download-only "postgresql-$MAJOR")
}

# apt_configuration DIR ENTRY: ours alone, no hooks of the machine, no way round the signatures.
apt_configuration() {
	cat <<-CONF
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Default-Release;
		Dir::Etc::sourcelist "$2";
		Dir::Etc::sourceparts "/dev/null";
		Dir::State::lists "$1/lists";
		Dir::Cache "$1/cache";
		APT::Get::AllowUnauthenticated "false";
		Acquire::AllowInsecureRepositories "false";
		Acquire::AllowWeakRepositories "false";
		Acquire::AllowDowngradeToInsecureRepositories "false";
		Acquire::Retries "2";
	CONF
}
