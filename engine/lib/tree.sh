# The source tree of a build: upstream's archive or folder, and for a patched flavour the overlay and the series.

# unpack_source DIR lays upstream's tree out in DIR.
unpack_source() {
	mkdir -p "$1"
	if [[ -d $SOURCE_PATH ]]; then
		tar -C "$SOURCE_PATH" --exclude=./.git -cf - . | tar -C "$1" -xf -
		[[ ! -e $1/config.status ]] || make -s -C "$1" distclean
	else
		tar -xf "$SOURCE_PATH" -C "$1" --strip-components=1
	fi
}

# patch_source DIR adds our files and applies the series. A hunk may have moved, but its surroundings
# must be as they were when the patch was written.
patch_source() {
	local patch
	cp -R "$OVERLAY/." "$1/"
	for patch in $(series); do
		echo "applying $patch"
		patch -d "$1" -p1 --forward --batch --fuzz=0 --no-backup-if-mismatch <"$PATCHES/$patch" || return
	done
}
