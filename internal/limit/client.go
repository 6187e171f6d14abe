package limit

import (
	"crypto/tls"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// maxHeaders is the most bytes of the headers of a reply. The metadata of a blob has at most 8 KiB.
const maxHeaders = 1 << 20

// defaultClient has the settings of azcore's own, which is not exported, with two differences:
// headers are limited, and the number of idle connections is not. azcore keeps 10 for a host, so
// that of 64 concurrent requests the other 54 need new ones each time. All clients share the
// connections.
var defaultClient = &http.Client{Transport: &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
	ForceAttemptHTTP2:     true,
	MaxIdleConnsPerHost:   math.MaxInt,
	IdleConnTimeout:       90 * time.Second,
	TLSHandshakeTimeout:   10 * time.Second,
	ExpectContinueTimeout: time.Second,

	MaxResponseHeaderBytes: maxHeaders,

	TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, Renegotiation: tls.RenegotiateFreelyAsClient},
	HTTP2:           &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
}}

// Unlimited returns t, or without one the transport that [Transport] sends through.
func Unlimited(t policy.Transporter) policy.Transporter {
	if t == nil {
		return defaultClient
	}
	return t
}
