# A flavour is ready when its core, its extensions and its link are what the sources say.

# ensure_flavour FLAVOUR builds what is missing and nothing else; PREFIX is then its folder.
ensure_flavour() {
	local key
	key=$(core_key "$1")
	PREFIX=$(prefix_of "$1" "$key")
	is_ready "$1" "$key" && return
	take_lock "$1-$key"
	# Another build may have done it while we waited.
	is_ready "$1" "$key" || make_ready "$1" "$key"
	drop_lock
}

is_ready() {
	[[ -e $PREFIX/$MANIFEST && $CHECKOUT/$1 -ef $PREFIX && -z $(stale_extensions "$2") ]]
}

stale_extensions() {
	local name
	for name in $(extensions); do
		has_extension "$PREFIX" "$name" "$(extension_key "$name" "$1")" || echo "$name"
	done
}

make_ready() {
	local name
	LOG=$LOGS/$1-$2.log
	[[ -e $PREFIX/$MANIFEST ]] || build_core "$1" "$2"
	for name in $(stale_extensions "$2"); do
		build_extension "$name" "$1" "$PREFIX"
	done
	write_manifest "$1" "$2" "$PREFIX"
	make_current "$1" "$PREFIX"
}
