package scenario

import (
	"fmt"
	"mime"
	"os"
	"path/filepath"

	"plimsoll/ground/human"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/request"
)

const (
	// fileMax bounds a file that requests send: it is kept in memory, and travels to each agent.
	fileMax  = 16 << 20
	pathHint = "a path is taken from the folder of the scenario file"
)

// pathOf a file that the scenario names.
func (r *reader) pathOf(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(r.file.Path), name)
}

// fileOf reads the file that a key names.
func (r *reader) fileOf(e tomlfile.Entry) (path string, content []byte, err error) {
	name, _ := e.Raw.(string)
	if name == "" {
		return "", nil, r.wrong(e, fmt.Sprintf("takes the path of a file, not %v", e.Raw), pathHint)
	}
	path = r.pathOf(name)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name)
	}
	if err == nil && info.Size() > fileMax {
		err = fmt.Errorf("%s has %s: at most %s", name, human.Bytes(info.Size()), human.Bytes(int64(fileMax)))
	}
	if err == nil {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		return "", nil, r.wrong(e, fmt.Sprintf("read file: %v", err), pathHint)
	}
	return path, content, nil
}

// sentFile is one that requests send.
func (r *reader) sentFile(e tomlfile.Entry) (request.File, error) {
	path, content, err := r.fileOf(e)
	kind := mime.TypeByExtension(filepath.Ext(path))
	if kind == "" {
		kind = "application/octet-stream"
	}
	return request.File{Name: filepath.Base(path), Type: kind, Text: content}, err
}
