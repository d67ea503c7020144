package cli

import (
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
)

// labelOptions are what a person says of a result that is about to be made.
type labelOptions struct {
	tags []string
	note string
}

func labelFlags(fs *pflag.FlagSet, o *labelOptions) {
	fs.StringArrayVar(&o.tags, "tag", nil, "`TAG` of the stored result, to find it by; may be repeated")
	fs.StringVar(&o.note, "note", "", "`TEXT` to remember about the stored result")
	config.FlagOnly(fs, "tag", "note")
}

// label of a result that begins.
func (o labelOptions) label() kept.Label { return kept.Label{}.With(o.tags, nil, &o.note) }

// add to the label of a search or a comparison that was continued: it has that of its beginning.
func (o labelOptions) add(folder kept.Folder, id string) error {
	if o.label().IsEmpty() || id == "" || !dirExists(folder.Dir(id)) {
		return nil
	}
	l, err := folder.Label(id)
	if err != nil {
		return err
	}
	var note *string
	if o.note != "" {
		note = &o.note
	}
	return folder.SetLabel(id, l.With(o.tags, nil, note))
}
