# Upstream's source: which one this build uses, and that it is what it claims to be.
#
# Afterwards: SOURCE_PATH (archive or folder), SOURCE_VERSION, SOURCE_ID (what the key depends on), SOURCE_ORIGIN.

CHECKSUMS=$ENGINE/source.sha256

# developed_on: the version that the first recorded checksum belongs to.
developed_on() { sed -n '1s/.*postgresql-\([0-9.]*\)\.tar.*/\1/p' "$CHECKSUMS"; }

recorded() { grep -q "^$1  " "$CHECKSUMS"; }

# version_in DIR reads the version from a source tree.
version_in() { sed -n "s/^PACKAGE_VERSION='\(.*\)'$/\1/p" "$1/configure" 2>/dev/null; }

# find_source determines the source without the network; false when there is none yet.
find_source() {
	local id
	if [[ -n ${SOURCE:-} ]]; then
		use_named
		return
	fi
	while read -r id _; do
		! use_stored "$id" || return 0
	done <"$CHECKSUMS"
	for id in $(stored_from_package); do
		! use_stored "$id" || return 0
	done
	return 1
}

# require_source determines the source, over the network if necessary.
require_source() {
	if ! find_source; then
		take_lock source
		if ! find_source; then fetch_source; find_source; fi
	fi
	drop_lock
}

# stored_from_package prints the sources that the package manager vouched for, the newest version first.
stored_from_package() {
	local dir
	for dir in "$SOURCES"/*/; do
		[[ $(cat "$dir/origin" 2>/dev/null) == package* ]] || continue
		printf '%s %s\n' "$(<"$dir/version")" "$(basename "$dir")"
	done | sort -rV | cut -d' ' -f2
}

use_stored() {
	local dir=$SOURCES/$1
	[[ -e $dir/archive ]] || return
	SOURCE_PATH=$dir/archive SOURCE_ID=$1 SOURCE_VERSION=$(<"$dir/version") SOURCE_ORIGIN=$(<"$dir/origin")
}

# use_named takes what the user names: an archive must match a checksum, a folder is trusted.
use_named() {
	local id
	if [[ -d $SOURCE ]]; then
		use_folder
		return
	fi
	[[ -f $SOURCE && -r $SOURCE ]] || fail usage "cannot read the source $SOURCE" \
		"name a PostgreSQL $MAJOR tarball or an unpacked folder"
	id=$(sha256sum <"$SOURCE" | cut -d' ' -f1)
	use_stored "$id" && return
	check_named "$id"
	store_archive "$SOURCE" "$id" "archive $(basename "$SOURCE")"
	use_stored "$id"
}

# check_named ID: recorded here, or in the file that upstream publishes with each archive.
check_named() {
	recorded "$1" && return
	[[ -f $SOURCE.sha256 && $(cut -d' ' -f1 <"$SOURCE.sha256") == "$1" ]] && return
	fail environment "checksum mismatch: $SOURCE has sha256 $1, which is not recorded" \
		"fetch the archive again; for another PostgreSQL $MAJOR release put upstream's .sha256 file next to it"
}

use_folder() {
	SOURCE_PATH=$(realpath "$SOURCE") SOURCE_VERSION=$(version_in "$SOURCE")
	check_version "$SOURCE" "$SOURCE_VERSION"
	SOURCE_ORIGIN="folder $SOURCE_PATH"
	SOURCE_ID=$(cd "$SOURCE" && find . -path ./.git -prune -o -type f -printf '%P %s %T@\n' |
		LC_ALL=C sort | short_hash)
}

check_version() {
	[[ $2 == "$MAJOR".* || $2 == "$MAJOR"[a-z]* ]] ||
		fail usage "$1 is ${2:+PostgreSQL $2, }not a PostgreSQL $MAJOR source tree" \
			"name a PostgreSQL $MAJOR tarball or an unpacked folder"
}

# store_archive FILE ID ORIGIN keeps a verified archive, whole or not at all.
store_archive() {
	local dir=$SOURCES/.$$-$2 version
	take_lock source
	TEMPORARY+=("$dir")
	mkdir -p "$dir/head"
	# The first that fits is all: what comes behind it need not be unpacked.
	tar -xf "$1" -C "$dir/head" --strip-components=1 --occurrence --wildcards --no-wildcards-match-slash \
		'*/configure' 2>/dev/null || true
	version=$(version_in "$dir/head")
	check_version "$1" "$version"
	rm -rf "$dir/head"
	cp "$1" "$dir/archive" && printf '%s\n' "$version" >"$dir/version" && printf '%s\n' "$3" >"$dir/origin" ||
		fail environment "cannot store $1 in $SOURCES" "is its disk full?"
	rm -rf "${SOURCES:?}/$2"
	mv -T "$dir" "$SOURCES/$2"
}
