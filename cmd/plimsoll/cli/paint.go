package cli

import (
	"os"

	"golang.org/x/term"

	"plimsoll/lab/prove/claims"
)

// paint colours a verdict where a person looks at it on a terminal and has not
// asked for none (https://no-color.org).
func (a *app) paint(v claims.Verdict, text string) string {
	f, ok := a.rawOut.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return text
	}
	colour := map[claims.Verdict]string{claims.Confirmed: "32", claims.InDirection: "36",
		claims.SmallScale: "36", claims.Refuted: "31", claims.Inconclusive: "33"}[v]
	if colour == "" {
		return text
	}
	return a.stdout.Colour(colour, text)
}
