package human_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/ground/human"
)

func TestRedact(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"URL", "connect postgres://ann:s3cret@db:5432/erp: refused",
			"connect postgres://ann:***@db:5432/erp: refused"},
		{"URLWithAtSignInPassword", "postgres://ann:s3@cret@db/erp", "postgres://ann:***@db/erp"},
		{"URLWithSlashInPassword", "postgres://ann:s3/cret@db/erp", "postgres://ann:***@db/erp"},
		{"URLWithoutUser", "postgres://:s3cret@db/erp", "postgres://:***@db/erp"},
		{"URLParameter", "postgres://db/erp?user=ann&password=s3cret&sslmode=disable",
			"postgres://db/erp?user=ann&password=***&sslmode=disable"},
		{"Keyword", "host=db user=ann password=s3cret dbname=erp", "host=db user=ann password=*** dbname=erp"},
		{"QuotedKeyword", `host=db password='s3 \'cret' dbname=erp`, "host=db password=*** dbname=erp"},
		{"SpacedKeyword", "host=db password = s3cret", "host=db password = ***"},
		{"OtherPasswords", "sslpassword=a PGPASSWORD=b", "sslpassword=*** PGPASSWORD=***"},
		{"JSON", `{"password": "s3cret"}`, `{"password": ***}`},
		{"Bearer", "Authorization: Bearer abc.def", "Authorization: Bearer ***"},
		{"PlainURLStays", "http://127.0.0.1:8080/v1/documents", "http://127.0.0.1:8080/v1/documents"},
		{"PlainTextStays", "password authentication failed for user \"ann\"",
			"password authentication failed for user \"ann\""},
		{"TimesStay", "at 12:30 user@host", "at 12:30 user@host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := human.Redact(c.in); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{"password": true, "db_pass": true, "PASSWD": true, "PGPWD": true,
		"client_secret": true, "X-Api-Key": true, "apikey": true, "csrf_token": true, "sessionid": true, "Cookie": true,
		"Set-Cookie": true, "Authorization": true, "X-Amz-Signature": true, "aws_credentials": true,
		"passport": false, "compass_point": false, "key": false, "author": false, "accounts": false, "Accept": false} {
		if human.SecretName(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}

func TestRedact_HidesThePasswordInTheDriversOwnErrors(t *testing.T) {
	const secret = "Zx9QqSecret"
	for _, dsn := range []string{
		"postgres://ann:" + secret + "@127.0.0.1:notaport/erp",
		"postgres://ann:" + secret + "@@127.0.0.1:1/erp%zz",
		"host=127.0.0.1 port=notaport user=ann password=" + secret,
		"host=127.0.0.1 password=" + secret + " sslmode=perhaps",
		"host=127.0.0.1 password='" + secret + " sslmode=disable",
	} {
		_, err := pgx.ParseConfig(dsn)
		if err == nil {
			t.Fatalf("%q parses", dsn)
		}
		if got := human.Redact(err.Error()); strings.Contains(got, secret) {
			t.Errorf("the password shows: %s", got)
		}
		if got := human.Redact("open " + dsn); strings.Contains(got, secret) {
			t.Errorf("the password shows: %s", got)
		}
	}
}

func TestRedact_LeavesNoPasswordWhateverItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := "S3" + rapid.StringMatching(`[A-Za-z0-9@/:?#%!$^*()+-]{3,20}`).Draw(t, "secret")
		if got := human.Redact("open postgres://ann:" + secret + "@db:5432/erp: refused"); strings.Contains(got,
			secret) {
			t.Errorf("the password shows: %s", got)
		}
	})
}
