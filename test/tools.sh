# The programs of others that the suites use. Each is built once for all clones on this machine and kept in the cache:
# `go run PACKAGE@VERSION` asks the network each time, even for what it has.
. engine/lib/dirs.sh

# The newest that Go 1.26 builds.
GOTESTSUM=gotest.tools/gotestsum@v1.13.0
GOVULNCHECK=golang.org/x/vuln/cmd/govulncheck@v1.9.0
GOLANGCI=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# tool PACKAGE@VERSION prints the path of the program, and builds it first if need be.
tool() {
	local name folder program
	name=${1%@*} name=${name##*/}
	folder=$(realpath -m -- "$(cache_dir)")/tools
	program=$folder/$name-${1##*@}-$(go env GOVERSION) || return
	if [ ! -x "$program" ]; then
		mkdir -p "$folder" || return
		local made
		made=$(mktemp -d "$folder/new.XXXXXX") || return
		GOBIN=$made go install "$1" >&2 && mv -f "$made/$name" "$program"
		local status=$?
		rm -rf "$made"
		[ "$status" -eq 0 ] || return "$status"
	fi
	echo "$program"
}
