package agents

import (
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/id"
	"plimsoll/test/certificate"
)

func TestEncryptedWithCertificatesOfBothSides(t *testing.T) {
	a, strangers := certificate.New(t), certificate.New(t)
	ca := a.File
	server, serverKey := a.Issue(t, "server")
	client, clientKey := a.Issue(t, "client")
	alien, alienKey := strangers.Issue(t, "client")
	s, err := listen("127.0.0.1:0", Access{Token: "secret", CA: ca, Cert: server, Key: serverKey}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	for name, c := range map[string]struct {
		access Access
		good   bool
	}{
		"BothAreSigned":    {Access{Token: "secret", CA: ca, Cert: client, Key: clientKey}, true},
		"NoCertificate":    {Access{Token: "secret", CA: ca}, false},
		"AlienCertificate": {Access{Token: "secret", CA: ca, Cert: alien, Key: alienKey}, false},
		"UnknownServer":    {Access{Token: "secret", Cert: client, Key: clientKey}, false},
		"NotEncrypted":     {Access{Token: "secret"}, false},
		"WrongToken":       {Access{Token: "guess", CA: ca, Cert: client, Key: clientKey}, false},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := dial(s.ClientURL(), id.New().String(), c.access)
			if err == nil {
				conn.Close()
			}
			if (err == nil) != c.good {
				t.Errorf("error %v, want a connection: %t", err, c.good)
			}
		})
	}
	for name, wrong := range map[string]Access{"NoKey": {Cert: server},
		"NoFile":         {CA: "/nowhere", Cert: server, Key: serverKey},
		"NoCertificates": {CA: serverKey, Cert: server, Key: serverKey}} {
		if _, err := listen("127.0.0.1:0", wrong, ""); err == nil || problem.ClassOf(err) != problem.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
