# Cleaning: builds that no checkout uses and that are not the newest, and leftovers of killed runs.

command_clean() {
	local prefix
	make_dirs
	forget_checkouts
	clean_work
	for prefix in "$BUILDS"/[0-9]*-*-*/; do
		[[ -d $prefix ]] && ! is_current "$prefix" || continue
		if in_use "$prefix"; then
			say "kept ${prefix%/}: a server runs from it"
		elif remove_build "${prefix%/}"; then
			say "removed ${prefix%/}"
		else
			say "kept ${prefix%/}: it is being built"
		fi
	done
	# The objects of engine/build develop and suite; the next one compiles from the start.
	rm -rf "$BUILDS/develop"
	clean_suite
	find "$LOGS" -name '*.log' -mtime +30 -delete
}

# forget_checkouts drops the links of those that are gone.
forget_checkouts() {
	local dir path
	for dir in "$CHECKOUTS"/*/; do
		[[ -d $dir ]] || continue
		path=$(cat "$dir/.path" 2>/dev/null) || path=
		[[ -e $path/engine/build ]] || rm -rf "$dir"
	done
}

# clean_work removes the work folders of builds that are not running.
clean_work() {
	local dir
	for dir in "$BUILDS"/work/*/; do
		[[ ! -d $dir ]] || flock -n "$LOCKS/$(basename "$dir")" rm -rf "$dir" || true
	done
}

# remove_build PREFIX, unless somebody is building it: a build has no link before it is done.
remove_build() {
	local name
	name=$(basename "$1")
	flock -n "$LOCKS/${name#*-}" rm -rf "$1"
}

clean_suite() {
	[[ -d $BUILDS/suite ]] || return 0
	if flock -n "$BUILDS/suite/lock" rm -rf "$BUILDS"/suite/*-*; then say "removed the trees of the suites"
	else say "kept $BUILDS/suite: a run of the suites is using it"; fi
}

is_current() {
	local link
	for link in "$BUILDS"/current/* "$CHECKOUTS"/*/*; do
		[[ ! $link -ef $1 ]] || return 0
	done
	return 1
}

# in_use PREFIX: does a process that we can see run from it?
in_use() {
	local exe
	while read -r exe; do
		[[ $exe != "$1"* ]] || return 0
	done < <(find /proc/[0-9]*/exe -maxdepth 0 -printf '%l\n' 2>/dev/null)
	return 1
}
