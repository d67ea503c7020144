package tally

import "regexp"

var (
	// The port of this side's end of a connection is another one each time: "read tcp HOST:PORT->HOST:PORT".
	ownPort = regexp.MustCompile(`([0-9\]]):[0-9]+->`)
	anyID   = regexp.MustCompile(`\b[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\b`)
)

// comparableText is an error's text without ports and ids, which differ each time, so that equal errors are counted
// together.
func comparableText(text string) string {
	return anyID.ReplaceAllString(ownPort.ReplaceAllString(text, "$1->"), "ID")
}
