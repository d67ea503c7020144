package request

import (
	"net/http"
	"strings"
	"testing"
)

func TestSources_MadeOfOthers(t *testing.T) {
	head := http.Header{"Location": {"/callback?code=a1-b2&state=x"}, "Set-Cookie": {"t=a%2Bb%3D; Path=/"}}
	body := `{"link":"/items/17?tok=c%20d","script":"a\u002Bb \/ c","n":12}<p title="">`
	for source, want := range map[string]string{
		`header:Location regex:code=([^&]+)`:           "a1-b2",
		`urldecode:cookie:t`:                           "a+b=",
		`link regex:/items/([0-9]+)`:                   "17",
		`urldecode:link regex:tok=(.*)`:                "c d",
		`jsondecode:regex:"script":"([^"]+)"`:          "a+b / c",
		`htmldecode:header:Location regex:([a-z]+)\?c`: "callback",
	} {
		s, err := ParseSource(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := s.In(head, []byte(body)); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", source, got, err, want)
		}
		if text, err := s.MarshalText(); err != nil || string(text) != source {
			t.Errorf("%s is written as %s, %v", source, text, err)
		}
	}
}

func TestSources_MadeOfOthersThatAreWrong(t *testing.T) {
	for source, says := range map[string]string{
		`header:Location regex:code=(`:    "missing closing )",
		`header:Location regex:code=`:     "no group in parentheses",
		`urldecode:`:                      "nothing is named",
		`urldecode:cokie:t`:               "no kind of source",
		`header:A B regex:(.)`:            "no name of a header",
		`jsondecode:urldecode:css:[regex`: "selector",
	} {
		if _, err := ParseSource(source); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", source, err, says)
		}
	}
	for source, says := range map[string]string{
		`header:Location regex:token=(.)`: "the answer has no header:Location",
		`urldecode:header:Odd`:            "the answer has no urldecode:header:Odd",
	} {
		s, err := ParseSource(source)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.In(http.Header{"Location": {"/"}, "Odd": {"%zz"}}, nil)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", source, err, says)
		}
	}
}
