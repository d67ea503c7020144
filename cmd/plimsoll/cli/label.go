package cli

import (
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
)

// labelFlags are what a person says of a result that is about to be made.
func labelFlags(fs *pflag.FlagSet, l *kept.Label) {
	fs.StringArrayVar(&l.Tags, "tag", nil, "`TAG` of the stored result, to find it by; may be repeated")
	fs.StringVar(&l.Note, "note", "", "`TEXT` to remember about the stored result")
	config.FlagOnly(fs, "tag", "note")
}
