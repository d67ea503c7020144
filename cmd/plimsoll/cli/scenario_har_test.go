package cli

import (
	"strings"
	"testing"

	"plimsoll/lab/recorded/har"
	"plimsoll/test/files"
)

// recording of a log-in with a token, what is done with it, and a picture.
const recording = `{"log":{"creator":{"name":"test","version":"1"},"entries":[
{"startedDateTime":"2026-03-01T09:00:00Z","time":5,"request":{"method":"POST","url":"http://127.0.0.1:9/api/login",
 "headers":[],"postData":{"mimeType":"application/json","text":"{\"name\":\"ann\",\"password\":\"my s3cret\"}"}},
 "response":{"status":200,"headers":[],"content":{"mimeType":"application/json",
 "text":"{\"token\":\"0123456789abcdef0123\"}"}}},
{"startedDateTime":"2026-03-01T09:00:05Z","time":5,"request":{"method":"GET","url":"http://127.0.0.1:9/api/items",
 "headers":[{"name":"authorization","value":"Bearer 0123456789abcdef0123"}]},
 "response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":"[]"}}},
{"startedDateTime":"2026-03-01T09:00:06Z","time":5,"request":{"method":"GET","url":"http://127.0.0.1:9/a.png",
 "headers":[]},"response":{"status":200,"headers":[],"content":{"mimeType":"image/png"}}}]}}`

func TestScenario_OfARecording(t *testing.T) {
	freshState(t)
	file := files.Write(t, t.TempDir(), "shop.har", recording)
	o := plimsoll(t, "scenario", "--from-har", file, "--name", "My shop")
	o.want(t, ExitOK, "2 requests of 3: 1 operation and the log-in, 1 value from answers",
		"left out 1: static files (/a.png); --keep static",
		"{{token}}: token of POST /api/login, used in GET /api/items",
		"not written: user_password")
	for _, part := range []string{`title = "My shop"`, `user_name = "ann"`, "[login]", `extract = { token = "token" }`,
		`Authorization = "Bearer {{token}}"`, `'{"name":"{{user_name}}","password":"{{user_password}}"}'`} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("lacks %s:\n%s", part, o.stdout)
		}
	}
	if strings.Contains(o.stdout+o.stderr, "s3cret") || strings.Contains(o.stdout+o.stderr, "0123456789abcdef0123") {
		t.Errorf("a secret is shown:\n%s%s", o.stdout, o.stderr)
	}
	own := files.Write(t, t.TempDir(), "own.toml", o.stdout)
	plimsoll(t, "scenario", own).want(t, ExitOK)

	var s har.Scenario
	plimsoll(t, "scenario", "--from-har", file, "--with-secrets", "--json").decode(t, &s)
	if !s.Login || s.Operations != 1 || s.LeftOut[0].Requests != 1 || s.Values[0].Variable != "token" ||
		!strings.Contains(s.TOML, `user_password = "my s3cret"`) {
		t.Errorf("%+v", s)
	}
}

func TestScenario_OfARecording_Mistakes(t *testing.T) {
	freshState(t)
	file := files.Write(t, t.TempDir(), "shop.har", recording)
	wrong := files.Write(t, t.TempDir(), "wrong.har", `{"log":{"entries":[{}]}}`)
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"NoFile": {[]string{"--from-har", file + "x"}, []string{"--from-har: open ",
			"hint: save one in the browser's"}},
		"NoHAR":    {[]string{"--from-har", wrong}, []string{wrong + ": entry 1: ", "hint: save it once more"}},
		"WithFile": {[]string{"own.toml", "--from-har", file}, []string{"FILE is one to check"}},
		"Keep": {[]string{"--from-har", file, "--keep", "statik"}, []string{`there is no kind "statik"`,
			"did you mean static"}},
		"Gap":     {[]string{"--from-har", file, "--gap", "0s"}, []string{"must be at least 1ms"}},
		"OneGap":  {[]string{"--from-har", file, "--gap", "1m"}, []string{"ends with the log-in", "see --gap"}},
		"Without": {[]string{"--keep", "static"}, []string{"--keep applies only to --from-har", "hint: leave it out"}},
	} {
		t.Run(name, func(t *testing.T) {
			plimsoll(t, append([]string{"scenario"}, c.args...)...).want(t, ExitUsage, c.says...)
		})
	}
}
