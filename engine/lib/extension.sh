# Our extensions: built with PGXS against a finished core, each on its own key.

extensions() {
	local makefile
	for makefile in "$EXTENSIONS"/*/Makefile; do
		[[ ! -e $makefile ]] || basename "$(dirname "$makefile")"
	done
}

# build_extension NAME FLAVOUR PREFIX compiles in a copy of the sources and puts the results in place.
build_extension() {
	local copy=$WORK/extension/$1 root=$WORK/extension/root-$1
	copy_extension "$1" "$copy"
	run_step "$2: extension $1" 0 make -C "$copy" PG_CONFIG="$(inner_prefix "$2" "$3")/bin/pg_config" install \
		DESTDIR="$root"
	install_files "$root$3" "$3"
	rm -rf "$copy" "$root"
}

# copy_extension NAME DIR
copy_extension() {
	mkdir -p "$2"
	(cd "$EXTENSIONS/$1" && extension_sources | tar --null -T - -chf -) | tar -xf - -C "$2"
}

# install_files FROM TO replaces file by file through a rename, so that a running server
# keeps the library it has mapped.
install_files() {
	local file
	while IFS= read -r -d '' file; do
		mkdir -p "$2/$(dirname "$file")"
		cp -p "$1/$file" "$2/$file.new"
		mv -f "$2/$file.new" "$2/$file"
	done < <(cd "$1" && find . -type f -print0)
}
