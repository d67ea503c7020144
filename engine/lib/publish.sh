# A finished build: its name, its manifest, and which build of a flavour is the current one.

# The manifest is written last: a prefix without it was never finished.
MANIFEST=plimsoll-engine.json

# prefix_of FLAVOUR KEY
prefix_of() { printf '%s\n' "$BUILDS/$SOURCE_VERSION-$1-$2"; }

# current_prefix FLAVOUR prints this checkout's build, else the newest of any, or nothing.
current_prefix() {
	local links
	for links in "$CHECKOUT" "$BUILDS/current"; do
		[[ ! -e $links/$1/$MANIFEST ]] || { realpath "$links/$1"; return; }
	done
}

# patchset_of FLAVOUR reads the number where the server's code gets it from, the overlay or a tree; 0 is stock.
patchset_of() {
	[[ $1 == plimsoll* ]] || { echo 0; return; }
	sed -n 's/^#define PLIMSOLL_PATCHSET \([0-9]*\).*/\1/p' "${TREE:-$OVERLAY}/src/include/plimsoll/patchset.h"
}

has_extension() { grep -qsxE "[[:space:]]*\"$2\": \"$3\",?" "$1/$MANIFEST"; }

# told_flavour FLAVOUR is what those who find an installation call it: the packages' build is none of its own there.
told_flavour() { echo "${1%-deb}"; }

# write_manifest FLAVOUR KEY PREFIX
write_manifest() {
	local name list=
	for name in $(extensions); do
		list+="${list:+,}"$'\n'"    \"$name\": \"$(extension_key "$name" "$2")\""
	done
	cat >"$3/$MANIFEST.new" <<-JSON
	{
	  "version": "$SOURCE_VERSION",
	  "flavour": "$(told_flavour "$1")",
	  "key": "$2",
	  "patchset": $(patchset_of "$1"),
	  "source": "$SOURCE_ORIGIN $SOURCE_ID",
	  "built_at": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
	  "extensions": {$list
	  }
	}
	JSON
	mv -f "$3/$MANIFEST.new" "$3/$MANIFEST"
}

# make_current FLAVOUR PREFIX: the build of this checkout, and the newest of any.
make_current() {
	mkdir -p "$CHECKOUT"
	dirname "$ENGINE" >"$CHECKOUT/.path"
	swap_link "../../$(basename "$2")" "$CHECKOUT" "$1"
	swap_link "../$(basename "$2")" "$BUILDS/current" "$1"
}

# swap_link TARGET DIR NAME in one step.
swap_link() {
	ln -sfn "$1" "$2/.$3.$$"
	mv -fT "$2/.$3.$$" "$2/$3"
}
