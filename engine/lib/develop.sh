# The short loop of work on the core: a tree compiled where only what changed is compiled again, with
# assertions, installed as the flavour plimsoll-develop. Its key is the word develop: nothing is promised of it.

command_develop() {
	local objects flags
	set_tree
	require_tree
	make_dirs
	require_tools
	take_lock develop
	SOURCE_VERSION=$(version_in "$TREE") SOURCE_ID=develop SOURCE_ORIGIN="tree $TREE"
	PREFIX=$BUILDS/$SOURCE_VERSION-plimsoll-develop
	objects=$BUILDS/develop/$(short_hash <<<"$TREE")
	LOG=$LOGS/plimsoll-develop.log
	: >"$LOG"
	mkdir -p "$objects"
	mapfile -t flags < <(configure_flags plimsoll-assert)
	[[ -e $objects/config.status && ! $TREE/configure -nt $objects/config.status ]] ||
		run_step "develop: configure" 0 in_dir "$objects" "$TREE/configure" -q --prefix="$PREFIX" \
			--enable-depend "${flags[@]}"
	run_step "develop: compile" 0 make -C "$objects" -j"${JOBS:-$(nproc)}" world-bin
	run_step "develop: install" 0 make -C "$objects" -j"${JOBS:-$(nproc)}" install-world-bin
	finish_develop
}

finish_develop() {
	local name
	for name in $(extensions); do build_extension "$name" develop "$PREFIX"; done
	write_manifest plimsoll-develop develop "$PREFIX"
	make_current plimsoll-develop "$PREFIX"
	printf 'plimsoll-develop: %s\n' "$PREFIX"
}
