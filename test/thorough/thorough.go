// Package thorough owns the choice between the tests of `make test`, which must fit in ten minutes, and those of
// `make test-full`, which try everything: more random cases, more values, one thing at a time.
package thorough

import (
	"flag"
	"os"
	"strconv"
)

// Variable asks for everything when it is set; `test/go rest` sets it.
const Variable = "PLIMSOLL_TEST_THOROUGH"

// Asked says whether everything is to be tried.
func Asked() bool { return os.Getenv(Variable) != "" }

// Or gives all when everything is to be tried, and few otherwise.
func Or(all, few int) int {
	if Asked() {
		return all
	}
	return few
}

// Part gives all of them when everything is to be tried, and otherwise every fourth, beginning with another one for
// each n: who goes through many n tries all.
func Part[T any](all []T, n int) (part []T) {
	every := Or(1, 4)
	for i := n % every; i < len(all); i += every {
		part = append(part, all[i])
	}
	return part
}

// Checks is for TestMain, after flag.Parse, of a package whose properties are tried on a real server: unless everything
// is to be tried or -rapid.checks was given, each is tried on few cases.
func Checks(few int) {
	checks := flag.Lookup("rapid.checks")
	if !Asked() && checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set(strconv.Itoa(few))
	}
}
