# Keys: what a build depends on, boiled down to a name. Equal key, equal build.

short_hash() { sha256sum | cut -c1-12; }

# series prints the patches' file names in order.
series() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$PATCHES/series"; }

# hash_overlay prints name and checksum of every file in it, but for tests: nothing of them is installed.
hash_overlay() {
	(cd "$OVERLAY" && find . -path ./src/test -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
}

# core_key FLAVOUR: source, flags, parts, what compiles and links it; for a patched flavour the patches and the overlay.
core_key() {
	{
		echo "source $SOURCE_ID"
		configure_flags "$1"
		needed_parts
		machine
		if [[ $1 == plimsoll* ]]; then
			(cd "$PATCHES" && series | xargs -d '\n' -r sha256sum)
			hash_overlay
		fi
	} | short_hash
}

# machine: a build is useless on a machine with another compiler, C library or ICU.
machine() {
	uname -m
	(. /etc/os-release && echo "$ID ${VERSION_ID:-}")
	"${CC:-gcc}" -dumpfullversion 2>/dev/null || true
	echo "${CC:-} ${CFLAGS:-} ${CPPFLAGS:-} ${LDFLAGS:-}"
	pkg-config --modversion icu-i18n 2>/dev/null || true
}

# extension_key NAME CORE_KEY
extension_key() {
	{
		echo "core $2"
		(cd "$EXTENSIONS/$1" && extension_sources | xargs -0r sha256sum)
	} | short_hash
}

# extension_sources lists the files of the extension in the current folder, without what a make in it has left. A file
# that two extensions share is a link in one of them.
extension_sources() {
	find -L . \( -name results -o -name tmp_check -o -name output_iso \) -prune -o \
		-type f ! -name '*.o' ! -name '*.so' ! -name '*.bc' ! -name 'regression.*' -print0 | LC_ALL=C sort -z
}
