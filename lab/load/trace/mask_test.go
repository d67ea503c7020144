package trace

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"plimsoll/ground/human"
)

func pointer(text string) *string { return &text }

func TestMask_HidesSecretsWhereverTheyOccur(t *testing.T) {
	for name, c := range map[string]struct {
		event  Event
		secret string
	}{
		"Bearer": {Event{Request: &Request{Headers: http.Header{"Authorization": {"Bearer abcd1234"}},
			Answer: &Answer{Body: `{"t":"abcd1234"}`}}}, "abcd1234"},
		"Basic":       {Event{Request: &Request{Headers: http.Header{"Authorization": {"Basic dTpw"}}}}, "dTpw"},
		"ShortHeader": {Event{Request: &Request{Headers: http.Header{"X-Api-Key": {"q7"}}}}, "q7"},
		"Cookie": {Event{Request: &Request{Headers: http.Header{"Cookie": {"lang=en; sessionid=s3cr3t"}}}},
			"s3cr3t"},
		"SetCookie": {Event{Request: &Request{Answer: &Answer{Body: "<p>s3cr3t",
			Headers: http.Header{"Set-Cookie": {"sessionid=s3cr3t; Path=/"}}}}}, "s3cr3t"},
		"Form":    {Event{Request: &Request{Body: "user=a&password=two+words", URL: "/x"}}, "two+words"},
		"JSON":    {Event{Request: &Request{Body: `{"user":"a","client_secret":"shh\"quoted"}`}}, `shh\"quoted`},
		"CutJSON": {Event{Request: &Request{Answer: &Answer{Body: `{"items":[1],"token":"endless`}}}, "endless"},
		"HiddenField": {Event{Request: &Request{Answer: &Answer{
			Body: `<input type=hidden name="csrf_token" value="v4lue">`}}}, "v4lue"},
		"Query":     {Event{Request: &Request{URL: "http://localhost/?token=quer%21", Method: "GET"}}, "quer%21"},
		"UserOfURL": {Event{Request: &Request{URL: "http://u:hidden@localhost/"}}, "hidden"},
		"Variable":  {Event{Sets: []Variable{{"password", "pw"}}}, "pw"},
		"Parameter": {Event{Statement: &Statement{SQL: "SELECT login('geheim')",
			Parameters: []Parameter{{"password", pointer("geheim")}}}}, "geheim"},
		"Column": {Event{Statement: &Statement{Results: []Result{{Columns: []string{"password_hash"},
			Values: [][]*string{{pointer("md5x")}}}}}}, "md5x"},
	} {
		t.Run(name, func(t *testing.T) {
			said := "failed at " + c.secret
			Mask([]*Trace{{Events: []Event{c.event}}}, &said)
			text, err := json.Marshal(c.event)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), inJSON(c.secret)) || !strings.Contains(string(text), human.Masked) {
				t.Errorf("shown: %s", text)
			}
			if len(c.secret) >= secretLength && strings.Contains(said, c.secret) && name != "UserOfURL" {
				t.Errorf("said: %s", said)
			}
		})
	}
}

func inJSON(text string) string {
	quoted, _ := json.Marshal(text)
	return strings.Trim(string(quoted), `"`)
}

func TestMask_LeavesTheRest(t *testing.T) {
	e := Event{Request: &Request{Method: "POST", URL: "http://localhost/items?page=2", Body: `{"item":4711}`,
		Headers: http.Header{"Content-Type": {"application/json"}, "X-Token": {"topsecret"}},
		Answer:  &Answer{Body: "item 4711 of page 2", Headers: http.Header{"Location": {"/items/4711"}}}}}
	Mask([]*Trace{{Events: []Event{e}}})
	text, _ := json.Marshal(e)
	for _, part := range []string{"/items?page=2", "4711", "application/json", "item 4711 of page 2", "/items/4711"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is hidden: %s", part, text)
		}
	}
}
