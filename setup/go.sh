# Go: the one on PATH if it is new enough, or new enough to fetch the toolchain that go.mod asks for.

# Go 1.21 is the first that can fetch a newer toolchain.
GO_FETCHES_TOOLCHAINS=1.21

# go_wanted prints the version of go.mod.
go_wanted() { sed -n 's/^go //p' "$SETUP/../go.mod"; }

go_installed() { (cd / && GOTOOLCHAIN=local go version 2>/dev/null) | sed -n 's/^go version go\([0-9.]*\).*/\1/p'; }

# at_least VERSION LEAST
at_least() { [[ -n $1 && $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1) == "$2" ]]; }

go_can_fetch() { at_least "$(go_installed)" "$GO_FETCHES_TOOLCHAINS"; }

# go_is_met looks without fetching anything.
go_is_met() {
	at_least "$(go_installed)" "$(go_wanted)" || { go_can_fetch && GOPROXY=off go_toolchain >/dev/null 2>&1; }
}

# go_toolchain has Go fetch the toolchain of go.mod, unless it is there. Distributions turn that off by
# default; the Makefile exports the same GOTOOLCHAIN.
go_toolchain() { (cd "$SETUP/.." && GOTOOLCHAIN=auto go version); }

# install_go takes the release's Go, or, where that is too old, the newer one of its backports; then the toolchain.
install_go() {
	local said
	if ! go_can_fetch; then
		if at_least "$(go_offered)" "$GO_FETCHES_TOOLCHAINS"; then
			run_apt install -y --no-install-recommends golang-go || go_not_found
		else
			go_from_backports || go_not_found
		fi
		hash -r
	fi
	! go_is_met || return 0
	say "setup: having Go $(go_installed) fetch Go $(go_wanted)"
	said=$(go_toolchain 2>&1) ||
		fail environment "Go $(go_installed) cannot fetch Go $(go_wanted): ${said##*$'\n'}" \
			"install Go $(go_wanted) or newer from its own site and put its bin folder on PATH"
}

# go_offered prints the version that the configured packages have.
go_offered() { apt-cache policy golang-go 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*:\)\{0,1\}\([0-9.]*\).*/\2/p'; }

# go_from_backports installs with package lists of our own, so that the machine's package configuration
# stays as it was.
go_from_backports() {
	local dir codename status=0
	codename=$(os_release VERSION_CODENAME)
	[[ $(os_release ID) == debian && -n $codename ]] || return
	say "setup: this release's Go is too old; taking it from $codename-backports (package configuration unchanged)"
	dir=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll-apt.XXXXXX")
	chmod 755 "$dir"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	apt_entries >"$dir/all"
	{
		grep -a '^deb	' "$dir/all"
		apt_own_entry <"$dir/all" | awk -F'\t' -v OFS='\t' -v s="$codename-backports" '{ $1 = "deb"; $2 = s; print }'
	} | apt_write >"$dir/entries.sources"
	apt_configuration "$dir" "$dir/entries.sources" >"$dir/apt.conf"
	run_apt -c "$dir/apt.conf" update &&
		run_apt -c "$dir/apt.conf" install -y --no-install-recommends -t "$codename-backports" golang-go || status=$?
	"${AS_ROOT[@]}" rm -rf "$dir"
	return "$status"
}

go_not_found() {
	fail environment "Go $(go_wanted) or newer is not on PATH, and this system's packages offer none" \
		"install Go from its own site and put its bin folder on PATH"
}
