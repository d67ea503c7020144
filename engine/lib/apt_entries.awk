# Reads apt's source entries in both formats (one-line .list, deb822 .sources) and prints one line for
# each type, suite and address: type, suite, address, components, keyring, separated by tabs. A keyring
# that is written into the entry keeps its line ends as \034. Options that weaken the signature check
# (trusted, allow-insecure …) are not carried over.

function emit(type, suites, uris, comps, key,    i, j, s, u, ns, nu) {
	ns = split(suites, s, /[ \t\n]+/); nu = split(uris, u, /[ \t\n]+/)
	gsub(/[ \t\n]+/, " ", comps); gsub(/\n/, "\034", key)
	for (i = 1; i <= ns; i++) for (j = 1; j <= nu; j++)
		if (s[i] != "" && u[j] != "") print type "\t" s[i] "\t" u[j] "\t" comps "\t" key
}

function stanza(    i, n, t) {
	if (field["types"] != "" && tolower(field["enabled"]) !~ /^(no|false|0|off)$/) {
		n = split(field["types"], t, /[ \t\n]+/)
		for (i = 1; i <= n; i++) if (t[i] ~ /^deb(-src)?$/)
			emit(t[i], field["suites"], field["uris"], field["components"], field["signed-by"])
	}
	delete field; last = ""
}

function one_line(    key, options) {
	sub(/[ \t]*#.*/, "")
	if ($1 !~ /^deb(-src)?$/) return
	key = ""
	if (match($0, /\[[^]]*\]/)) {
		options = substr($0, RSTART + 1, RLENGTH - 2)
		$0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
		if (match(options, /signed-by=[^ \t]+/)) key = substr(options, RSTART + 10, RLENGTH - 10)
	}
	type = $1; uri = $2; suite = $3; $1 = $2 = $3 = ""
	sub(/^[ \t]+/, "")
	emit(type, suite, uri, $0, key)
}

FNR == 1 { stanza(); deb822 = (FILENAME ~ /\.sources$/) }
!deb822 { one_line(); next }
/^#/ { next }
/^[ \t]*$/ { stanza(); next }
/^[ \t]/ { if (last != "") field[last] = field[last] "\n" $0; next }
{
	last = tolower($0); sub(/[ \t]*:.*/, "", last)
	value = $0; sub(/^[^:]*:[ \t]*/, "", value); sub(/[ \t]+$/, "", value)
	field[last] = value
}
END { stanza() }
