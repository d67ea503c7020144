# Cleaning: builds that no link names any more, and what killed runs left.

command_clean() {
	local prefix
	make_dirs
	take_lock
	for prefix in "$BUILDS"/[0-9]*-*-*/; do
		[[ -d $prefix ]] && ! is_current "$prefix" || continue
		if in_use "$prefix"; then
			say "kept ${prefix%/}: a server runs from it"
		else
			rm -rf "$prefix"
			say "removed ${prefix%/}"
		fi
	done
	# The objects of engine/build develop and suite; the next one compiles from the start.
	rm -rf "$BUILDS/develop"
	clean_suite
	find "$LOGS" -name '*.log' -mtime +30 -delete
}

clean_suite() {
	[[ -d $BUILDS/suite ]] || return 0
	if flock -n "$BUILDS/suite/lock" rm -rf "$BUILDS"/suite/*-*; then say "removed the trees of the suites"
	else say "kept $BUILDS/suite: a run of the suites is at work there"; fi
}

is_current() {
	local link
	for link in "$BUILDS"/current/*; do
		[[ ! $link -ef $1 ]] || return 0
	done
	return 1
}

# in_use PREFIX: does a process that we can see run from it?
in_use() {
	local exe
	for exe in /proc/[0-9]*/exe; do
		[[ $(readlink "$exe" 2>/dev/null) != "$1"* ]] || return 0
	done
	return 1
}
