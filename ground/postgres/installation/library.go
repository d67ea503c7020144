package installation

import (
	"os"
	"path/filepath"
)

// HasLibrary says whether the server finds a library by its name alone.
func (s Server) HasLibrary(name string) bool {
	_, err := os.Stat(filepath.Join(s.libraryDir(), name+".so"))
	return err == nil
}

// libraryDir is the folder of PL/pgSQL, which every server has.
func (s Server) libraryDir() string {
	for _, dir := range []string{"lib/postgresql", "lib", "lib64/postgresql", "lib64"} {
		dir = filepath.Join(s.Prefix, dir)
		if _, err := os.Stat(filepath.Join(dir, "plpgsql.so")); err == nil {
			return dir
		}
	}
	return s.Prefix
}
