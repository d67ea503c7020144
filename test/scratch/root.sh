# A root folder with the distribution's packages that ours depend on, and no others: for tests and for images.

# lay_out_root DIR DEBS [PACKAGE…] fills DIR; what was fetched is kept in the cache.
lay_out_root() {
	local dir=$1 debs=$2 packages key kept
	shift 2
	packages=$({ dependencies "$debs"; printf '%s\n' "$@"; } | sort -u | sed '/^$/d' | paste -sd ,)
	key=$({ echo "$packages"; (. /etc/os-release && echo "$ID $VERSION_ID"); date +%G-%V; } | sha256sum | cut -c1-12)
	kept=$(realpath -m -- "$(cache_dir)")/root/$key.tar
	if [[ ! -e $kept ]]; then
		say "root: fetching the distribution's packages"
		mkdir -p "$(dirname "$kept")"
		rm -f "$(dirname "$kept")"/*.tar
		bootstrap "$packages" "$kept.new" || {
			rm -f "$kept.new"
			fail environment "cannot lay out a root folder with mmdebstrap" "see above; does apt reach its sources?"
		}
		mv "$kept.new" "$kept"
	fi
	mkdir -p "$dir"
	tar -xpf "$kept" -C "$dir" --numeric-owner
}

# bootstrap PACKAGES FILE
bootstrap() {
	(
		. /etc/os-release
		sources=$(mktemp)
		trap 'rm -f "$sources"' EXIT
		apt_main_sources >"$sources"
		mmdebstrap --quiet --format=tar --variant=minbase --mode=root --include="$1" \
			--dpkgopt='path-exclude=/usr/share/locale/*' \
			"$VERSION_CODENAME" "$2" - <"$sources" >&2
	)
}

# apt_main_sources prints the distribution's own entries of this machine, as one-line entries.
apt_main_sources() {
	local entry
	. "$ENGINE/lib/apt.sh"
	apt_entries | awk -F'\t' '$1 == "deb" && $4 ~ /(^| )main( |$)/ {
		key = $5 != "" && $5 !~ /\034/ ? "[signed-by=" $5 "] " : ""
		print "deb " key $3 " " $2 " main" }' | grep -F "$(. /etc/os-release && echo "$VERSION_CODENAME")"
}

# dependencies DEBS prints the names of packages that those in a folder depend on and that are not among them; of
# alternatives the first.
dependencies() {
	local deb own
	own=$(for deb in "$1"/*.deb; do dpkg-deb -f "$deb" Package; done)
	for deb in "$1"/*.deb; do
		dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/:any//; s/ //g'
	done | sort -u | grep -vxF "$own"
}

# distribution_server prints the package of the distribution's own PostgreSQL, if it is older than ours.
distribution_server() {
	local major
	for major in 17 16 15; do
		! apt-cache show "postgresql-$major" >/dev/null 2>&1 || { echo "postgresql-$major"; return; }
	done
}
