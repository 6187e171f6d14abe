package limit

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// network is an http.Client that connects to the service, unless the request has another
// transport in its context, see [InPlace].
type network struct{ client *http.Client }

type otherKey struct{}

func (n *network) Do(req *http.Request) (*http.Response, error) {
	if other, ok := req.Context().Value(otherKey{}).(policy.Transporter); ok {
		return other.Do(req)
	}
	return n.client.Do(req)
}

// connects reports whether nothing of the caller is between a client and the network.
func connects(c *http.Client) bool {
	_, own := c.Transport.(*http.Transport)
	return c.Transport == nil || own
}

// InPlace returns a transport like t that sends through other where t would connect to the
// network. A transport that t wraps can be replaced only if it came from this package.
// storagetest replaces the network by its account.
func InPlace(t, other policy.Transporter) policy.Transporter {
	switch outer := t.(type) {
	case nil, *network:
		return other
	case *http.Client:
		if connects(outer) {
			return other
		}
	case *transport:
		if _, ok := outer.inner.(*network); ok {
			return &transport{other}
		}
	}
	return &relay{t, other}
}

// relay sends through outer, which finds the transport for the place of the network in the
// context.
type relay struct{ outer, other policy.Transporter }

func (r *relay) Do(req *http.Request) (*http.Response, error) {
	return r.outer.Do(req.WithContext(context.WithValue(req.Context(), otherKey{}, r.other)))
}
