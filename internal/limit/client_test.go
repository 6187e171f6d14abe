package limit

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

func TestABurstUsesTheConnectionsOfTheLast(t *testing.T) {
	const bursts, size = 20, 64
	var opened atomic.Int64
	arrived := make(chan struct{})
	proceed := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-proceed
		_, _ = io.WriteString(w, "{}")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	// The same transport, which trusts the certificate of the server.
	inner := Transport(nil).(*transport).inner.(*network).client.Transport.(*http.Transport).Clone()
	inner.TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	inner.Proxy = nil
	defer inner.CloseIdleConnections()
	client := Transport(&http.Client{Transport: inner})
	for range bursts {
		var wg sync.WaitGroup
		for range size {
			wg.Go(func() {
				resp, err := client.Do(request(http.MethodGet, server.URL, "application/json"))
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				assert.Equal(t, assert.ErrorOf(io.Copy(io.Discard, resp.Body)), nil)
			})
		}
		for range size { // all of them are in flight
			<-arrived
		}
		for range size {
			proceed <- struct{}{}
		}
		wg.Wait()
	}
	assert.Equal(t, opened.Load(), size, "connections for", bursts, "bursts of", "requests")
}
