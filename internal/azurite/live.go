package azurite

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Live starts an Azurite of its own that processes reach as they reach an account of the service: at https addresses that differ
// in the name of the service, through a proxy, with the token of a managed identity. It returns the variables that such a process needs besides its own, without the
// one that names the account; its table service is at LiveAddress. All of it ends with t. Azurite checks the claims of a token, but not its
// signature.
func Live(t testing.TB) []string {
	t.Helper()
	dir := t.TempDir()
	certificate, key := certify(t, dir)
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	s := site{
		installDir: filepath.Join(cache, "azurite-"+hash(packageLock)), runDir: filepath.Join(dir, "run"), grace: grace,
		args: []string{"--disableProductStyleUrl", "--oauth", "basic", "--cert", certificate, "--key", key},
	}
	a := obtain(t, func() (*Azurite, error) { return s.start(t.Context()) })
	t.Cleanup(func() { a.Close() })
	targets := map[string]string{"table": a.at.Table, "queue": a.at.Queue, "blob": a.at.Blob}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service, _, _ := strings.Cut(r.Host, ":")
		target, err := url.Parse(targets[service])
		if r.Method != http.MethodConnect || err != nil || target.Host == "" {
			http.Error(w, "not an address of the account", http.StatusForbidden)
			return
		}
		tunnel(w, target.Host)
	}))
	t.Cleanup(proxy.Close)
	secret := rand.Text()
	identity := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-IDENTITY-HEADER") != secret {
			http.Error(w, "the header of the identity is missing", http.StatusUnauthorized)
			return
		}
		expires := time.Now().Add(time.Hour)
		_ = json.NewEncoder(w).Encode(map[string]string{ // the process notices if it receives nothing
			"access_token": token(strings.TrimSuffix(r.FormValue("resource"), "/"), expires), "token_type": "Bearer",
			"expires_on": fmt.Sprint(expires.Unix()), "resource": r.FormValue("resource"),
		})
	}))
	t.Cleanup(identity.Close)
	return []string{"HTTPS_PROXY=" + proxy.URL, "SSL_CERT_FILE=" + certificate, "IDENTITY_ENDPOINT=" + identity.URL, "IDENTITY_HEADER=" + secret}
}

// LiveAddress is the address of the table service of Live. The account is part of the path: if the host has it, Azurite
// refuses every transaction (500), and its metadata has wrong addresses.
// Azurite also needs a host that is not a single word, to find the table of a transaction.
const LiveAddress = "https://table:443/" + AccountName

// certify writes a certificate of the account's addresses, and its key, and returns the names of the files.
func certify(t testing.TB, dir string) (certificate, key string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	template.DNSNames = []string{"table", "queue", "blob"}
	public, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(err)
	for kind, content := range map[string][]byte{"CERTIFICATE": public, "PRIVATE KEY": secret} {
		must(os.WriteFile(filepath.Join(dir, kind+".pem"), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
	}
	return filepath.Join(dir, "CERTIFICATE.pem"), filepath.Join(dir, "PRIVATE KEY.pem")
}

// token returns a token with the claims that the service's tokens have and Azurite checks.
func token(audience string, expires time.Time) string {
	part := func(content map[string]any) string {
		text, _ := json.Marshal(content) // a map of texts and numbers
		return base64.RawURLEncoding.EncodeToString(text)
	}
	began := time.Now().Add(-time.Minute).Unix()
	return part(map[string]any{"alg": "RS256", "typ": "JWT"}) + "." + part(map[string]any{
		"aud": audience, "iss": "https://sts.windows.net/ab1f708d-50f6-404c-a006-d71b2ac7a606/", "oid": "11059fcc-5514-4800-b5f8-49808b9cfab6",
		"iat": began, "nbf": began, "exp": expires.Unix(), "ver": "1.0",
	}) + ".c2lnbmF0dXJl"
}

// tunnel connects the client of a CONNECT request with target.
func tunnel(w http.ResponseWriter, target string) {
	out, err := net.Dial("tcp", target)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	in, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		out.Close()
		return
	}
	_, _ = io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n") // a client that is gone ends the copies
	go func() {
		_, _ = io.Copy(out, in)
		out.Close()
	}()
	go func() {
		_, _ = io.Copy(in, out)
		in.Close()
	}()
}
