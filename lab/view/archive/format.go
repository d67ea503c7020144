package archive

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// format of a file.
type format interface {
	write(w io.Writer, files []file) error
	read(f *os.File, take taker) error
}

// taker is given each entry of a file; it decides whether it may be one.
type taker func(name string, regular bool, content io.Reader) error

func formatOf(name string) format {
	switch {
	case strings.HasSuffix(name, ".tar.zst"):
		return tarZst{}
	case strings.HasSuffix(name, ".zip"):
		return zipped{}
	}
	return nil
}

// readFiles into memory, within the limits.
func readFiles(name string) (map[string][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	files, total := map[string][]byte{}, int64(0)
	take := func(name string, regular bool, content io.Reader) error {
		switch _, twice := files[name]; {
		case !regular:
			return fmt.Errorf("%.100q is not a plain file: links and folders are refused", name)
		case name != manifestFile && !named.MatchString(name):
			return fmt.Errorf("%.100q is no name of an archive's file", name)
		case twice:
			return fmt.Errorf("%q is there twice", name)
		case len(files) == filesMost:
			return fmt.Errorf("it has more than %d files", filesMost)
		}
		text, err := io.ReadAll(io.LimitReader(content, fileMost+1))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if total += int64(len(text)); len(text) > fileMost || total > totalMost {
			return fmt.Errorf("%s: it is larger than any result", name)
		}
		files[name] = text
		return nil
	}
	return files, formatOf(name).read(f, take)
}

type tarZst struct{}

func (tarZst) write(w io.Writer, files []file) error {
	z, err := zstd.NewWriter(w)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text)), ModTime: noTime,
			Format: tar.FormatPAX}); err != nil {
			return err
		}
		if _, err := t.Write(f.text); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// noTime: equal results make equal archives.
var noTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// decoderMemory bounds what a frame may ask for.
const decoderMemory = 64 << 20

func (tarZst) read(f *os.File, take taker) error {
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(totalMost),
		zstd.WithDecoderMaxWindow(decoderMemory))
	if err != nil {
		return err
	}
	defer z.Close()
	// Whatever the tar reader skips counts too: padding that never ends, or a header that says so.
	t := tar.NewReader(io.LimitReader(z, 2*totalMost))
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(h.Name, h.Typeflag == tar.TypeReg, t); err != nil {
			return err
		}
	}
}

type zipped struct{}

func (zipped) write(w io.Writer, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		one, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: noTime})
		if err != nil {
			return err
		}
		if _, err := one.Write(f.text); err != nil {
			return err
		}
	}
	return z.Close()
}

func (zipped) read(f *os.File, take taker) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return err
	}
	for _, one := range z.File {
		err := func() error {
			content, err := one.Open()
			if err != nil {
				return err
			}
			defer content.Close()
			return take(one.Name, one.Mode().IsRegular(), content)
		}()
		if err != nil {
			return err
		}
	}
	return nil
}
