package secret

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/test/files"
)

func TestFile(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"Line":           {"correct horse\n", "correct horse"},
		"Windows":        {"correct horse\r\n", "correct horse"},
		"NoEnd":          {"correct horse", "correct horse"},
		"SpacesAreOfIt":  {" correct horse \n", " correct horse "},
		"TooShort":       {"short\n", ""},
		"Empty":          {"", ""},
		"SeveralLines":   {"correct horse\nbattery staple\n", ""},
		"TooLong":        {strings.Repeat("x", LengthMax+1), ""},
		"NotText":        {"\xff\xfe correct horse", ""},
		"ManyEmptyLines": {"correct horse\n\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := files.Write(t, t.TempDir(), "secret", c.text)
			got, err := File(path)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%q, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), "horse") {
				t.Errorf("the error shows it: %v", err)
			}
		})
	}
}

func TestFile_MustNotBeForEverybody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o604: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := File(path); (err == nil) != want {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

func TestHeld(t *testing.T) {
	const want = "the right token"
	for name, c := range map[string]struct {
		header, want string
		held         bool
	}{
		"Right": {"Bearer " + want, want, true}, "AnyCase": {"bearer " + want, want, true},
		"Wrong": {"Bearer wrong", want, false}, "None": {"", want, false}, "Basic": {"Basic " + want, want, false},
		"NothingIsSecret": {"Bearer ", "", false}, "Beginning": {"Bearer the right", want, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Authorization", c.header)
			if Held(r, c.want) != c.held {
				t.Errorf("held: %v", !c.held)
			}
			w := httptest.NewRecorder()
			Required(c.want, http.NotFoundHandler()).ServeHTTP(w, r)
			if (w.Code == http.StatusNotFound) != c.held {
				t.Errorf("status %d", w.Code)
			}
		})
	}
}
