package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// LiveVariable is the environment variable with the address of the table service of a storage account, such as
// https://myaccount.table.core.windows.net. If it is set, tests run on that account only, with the credential of azidentity, in
// tables, queues and containers with unique names, which they remove.
const LiveVariable = "AZPATTERNS_LIVE"

// Live is a storage account that is reached with a token.
type Live struct {
	Tables, Queues, Blobs string // addresses
	Credential            azcore.TokenCredential
	Transport             policy.Transporter
}

// LiveAccount returns the account that LiveVariable names, nil if it is not set.
func LiveAccount(t testing.TB) *Live {
	t.Helper()
	address := strings.TrimSuffix(os.Getenv(LiveVariable), "/")
	if address == "" {
		return nil
	}
	cred := assert.Must(azidentity.NewDefaultAzureCredential(nil))(t)
	return liveAt(t, address, cred, liveClient)
}

// liveClient keeps the connections of all concurrent requests, so that none has to be made again. It closes those that are idle before
// a server does (Azurite after 5 seconds): a request that meets the end of its connection has no reply, and what becomes of it is not known.
var liveClient = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.IdleConnTimeout = 2 * time.Second
	return &http.Client{Transport: transport}
}()

// liveAt returns the account with a table service at address.
func liveAt(t testing.TB, address string, cred azcore.TokenCredential, transport policy.Transporter) *Live {
	t.Helper()
	m := tableAddress.FindStringSubmatch(address)
	if m == nil {
		t.Fatalf("%s is not the https address of a table service: %s", LiveVariable, address)
	}
	of := func(service string) string { return m[1] + service + m[2] }
	return &Live{of("table"), of("queue"), of("blob"), cred, transport}
}

var tableAddress = regexp.MustCompile(`^(https://(?:[^/]*\.)?)table([.:/].*)$`)

// ServeLive returns an in-process account as a live one: at the addresses of a host, over TLS, with a token. Tests of what runs on
// a live account use it.
func ServeLive(t testing.TB, acct *storagetest.Account, cred azcore.TokenCredential) *Live {
	t.Helper()
	server := httptest.NewTLSServer(acct.Handler())
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com"}, // the name in the certificate
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
		DisableCompression: true,
	}}
	t.Cleanup(client.CloseIdleConnections)
	return liveAt(t, storagetest.TablesURL, cred, client)
}

// run runs body on a live account, in the modes of a test.
func (l *Live) run(t *testing.T, modes []string, body func(t *testing.T, b *Backend)) {
	t.Helper()
	t.Run("live", func(t *testing.T) {
		inModes(t, modes, body, func(*testing.T) *Backend { return l.backend() })
	})
}

func (l *Live) backend() *Backend {
	script := storagetest.Start(nil).Transport().(transport).Wrap(l.Transport, map[string]string{
		hostOf(l.Tables): "Table", hostOf(l.Queues): "Queue", hostOf(l.Blobs): "Blob",
	})
	return &Backend{live: l, script: script, direct: Inner(script)}
}

func hostOf(address string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	return host
}
