package cli

import (
	"path/filepath"

	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/cluster"
)

// placeFlags name folders on other disks.
type placeFlags struct {
	tablespaces []string
	walDir      string
}

func (p *placeFlags) add(fs *pflag.FlagSet, when string) {
	fs.StringArrayVar(&p.tablespaces, "tablespace", nil, when+"put a tablespace into a folder on another disk: "+
		"`NAME=DIR`; may be repeated")
	fs.StringVar(&p.walDir, "wal-dir", "", when+"put the write-ahead log into a folder on another disk: `DIR`")
	config.FlagOnly(fs, "tablespace", "wal-dir")
}

func (p *placeFlags) read() (tablespaces []cluster.Tablespace, walDir string, err error) {
	for _, text := range p.tablespaces {
		t, err := cluster.ParseTablespace(text)
		if err != nil {
			return nil, "", err
		}
		tablespaces = append(tablespaces, t)
	}
	if p.walDir != "" {
		walDir, err = filepath.Abs(p.walDir)
	}
	return tablespaces, walDir, err
}
