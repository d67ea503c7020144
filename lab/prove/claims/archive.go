package claims

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
)

// Archive is everything that was found on a machine, in one file for another.
type Archive struct {
	Format string `json:"format"`
	// Digest of the records as written: whoever changes one must mean it.
	Digest  string          `json:"sha256"`
	Raw     json.RawMessage `json:"records"`
	Records []Record        `json:"-"` // by claim, the newest first
}

const archiveFormat = "plimsoll claims 1"

// WriteArchive writes all findings.
func (s *Store) WriteArchive(file string) error {
	var all []Record
	for _, c := range All() {
		found, err := s.All(c.ID)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return problem.New(problem.Usage, errors.New("there are no results to write to an archive"),
			"prove claims first: 'plimsoll prove --all'")
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	err = kept.Write(file, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(Archive{Format: archiveFormat, Digest: digestOf(raw), Raw: raw})
	})
	if err != nil {
		return problem.New(problem.Environment, fmt.Errorf("write archive %s: %w", file, err), "give a file that "+
			"can be "+
			"written")
	}
	return nil
}

// ReadArchive of another machine.
func ReadArchive(file string) (a Archive, err error) {
	bad := func(err error, hint string) (Archive, error) {
		return Archive{}, problem.New(problem.Usage, fmt.Errorf("read archive %s: %w", file, err), hint)
	}
	const hint = "'plimsoll prove --all --archive FILE' writes one"
	text, err := os.ReadFile(file)
	if err != nil {
		return bad(err, hint)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return bad(err, "copy the file again")
	}
	if a.Format != archiveFormat {
		return bad(fmt.Errorf("its format is %q, not %q", a.Format, archiveFormat), hint)
	}
	if a.Digest != digestOf(a.Raw) {
		return bad(errors.New("its records differ from those that were written"), "copy the file again")
	}
	if err := json.Unmarshal(a.Raw, &a.Records); err != nil {
		return bad(err, hint)
	}
	return a, nil
}

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Last is the newest finding.
func (a Archive) Last() Record {
	return slices.MaxFunc(a.Records, func(x, y Record) int { return x.At.Compare(y.At) })
}

// Unpack keeps the findings in a store.
func (a Archive) Unpack(s *Store) error {
	for _, k := range slices.Backward(a.Records) { // the newest of a claim is kept last
		if err := s.Keep(k); err != nil {
			return err
		}
	}
	return nil
}
