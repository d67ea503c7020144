package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/view/checks"
)

// gateFlags are the same for all that measure; what a gate may say is each command's own.
func gateFlags(c *cobra.Command, failIf *[]string, files *checks.Files, usage string) {
	fs := c.Flags()
	fs.StringArrayVar(failIf, "fail-if", nil, usage)
	fs.StringVar((*string)(&files.JUnit), "junit", "", "write each condition as a test case to this JUnit XML `FILE`")
	fs.StringVar((*string)(&files.Markdown), "markdown", "", "write a summary in Markdown to this `FILE`, for a pull "+
		"request or $GITHUB_STEP_SUMMARY")
	config.FlagOnly(fs, "fail-if", "junit", "markdown")
}
