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
var defaultClient = &http.Client{CheckRedirect: refuse, Transport: &http.Transport{
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

// refuse makes an http.Client return a redirect, which it would follow with the SAS in the
// Referer, and with the row after the status 307 or 308.
func refuse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Unlimited returns t, or without one the transport that [Transport] sends through. In place of
// an http.Client without a CheckRedirect it returns a copy that follows no redirects.
func Unlimited(t policy.Transporter) policy.Transporter {
	switch c := t.(type) {
	case nil:
		return &network{defaultClient}
	case *http.Client:
		own := *c
		if own.CheckRedirect == nil {
			own.CheckRedirect = refuse
		}
		if connects(c) {
			return &network{&own}
		}
		return &own
	}
	return t
}
