package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/request"
)

func TestMasked_HasNoSecretAndShowsTheRest(t *testing.T) {
	s := Default()
	source, err := request.ParseSource("data.token")
	if err != nil {
		t.Fatal(err)
	}
	s.Own.Base = "http://ann:S3cret1@shop.example/"
	s.Own.Variables = map[string]string{"password": "S3cret2", "api_key": "S3cret3", "accounts": "50"}
	s.Own.Login = &custom.Action{Request: &request.Request{Method: "POST", URL: "/login?token=S3cret4&next=home",
		Headers: map[string]string{"Authorization": "Bearer S3cret5", "Cookie": "sid=S3cret6", "Accept": "text/html"},
		Body:    `{"user": "ann", "password": "S3cret7"}`, Extract: map[string]request.Source{"token": source}}}
	s.Operations[0].Action = &custom.Action{SQL: "ALTER ROLE ann PASSWORD 'S3cret8'; SELECT 1",
		Request: &request.Request{URL: "/orders", Headers: map[string]string{"Authorization": "Bearer {{token}}"}}}
	text, err := s.Masked()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "S3cret") {
		t.Errorf("a secret shows:\n%s", text)
	}
	for _, want := range []string{"shop.example", `"accounts": "50"`, "next=home", `"Accept": "text/html"`,
		`"token": "data.token"`, `"Authorization": "Bearer {{token}}"`, "SELECT 1", s.Operations[1].ID} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if err := json.Unmarshal(text, new(Scenario)); err != nil {
		t.Error(err)
	}
}
