package agents

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/platform/problem"
)

// authority signs certificates of a test.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (a *authority) issue(t *testing.T, name string) (cert, key string) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
		parent, signer, a.key = c, own, own
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, own.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
	}
	private, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return a.write(t, name+".pem", "CERTIFICATE", der), a.write(t, name+".key", "EC PRIVATE KEY", private)
}

func TestEncryptedWithCertificatesOfBothSides(t *testing.T) {
	a, strangers := &authority{dir: t.TempDir()}, &authority{dir: t.TempDir()}
	ca, _ := a.issue(t, "ca")
	server, serverKey := a.issue(t, "server")
	client, clientKey := a.issue(t, "client")
	strangers.issue(t, "ca")
	alien, alienKey := strangers.issue(t, "client")
	s, err := listen("127.0.0.1:0", Access{Token: "secret", CA: ca, Cert: server, Key: serverKey})
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
			conn, err := dial(s.ClientURL(), "test", c.access)
			if err == nil {
				conn.Close()
			}
			if (err == nil) != c.good {
				t.Errorf("%v", err)
			}
		})
	}
	for name, wrong := range map[string]Access{"NoKey": {Cert: server}, "NoFile": {CA: "/nowhere", Cert: server, Key: serverKey}, "NoCertificates": {CA: serverKey, Cert: server, Key: serverKey}} {
		if _, err := listen("127.0.0.1:0", wrong); err == nil || problem.ClassOf(err) != problem.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
