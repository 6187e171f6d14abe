package auth

import (
	"net/http"
	"strings"
	"time"
)

// Service is one of the three services of an account.
type Service uint8

// The services. Their names are those of a canonicalised resource.
const (
	Table Service = iota
	Queue
	Blob
)

// String is "table", "queue" or "blob".
func (s Service) String() string {
	return [...]string{"table", "queue", "blob"}[s]
}

// Skew is how far the date of a Shared Key request may be off, either way.
const Skew = 15 * time.Minute

// StoredPolicy is a stored access policy of a table, queue or container. A zero
// field is one that the policy does not set, so that the SAS has to.
type StoredPolicy struct {
	Start, Expiry time.Time
	Permissions   string
}

// Verifier verifies the requests of one account. Its fields are not to be
// changed while it is in use; it is then safe for concurrent use.
type Verifier struct {
	// Account is the name of the account.
	Account string
	// Keys are the decoded account keys; a signature by any of them is good.
	Keys [][]byte
	// Policy looks up a stored access policy. The resource is the name of a
	// table (in lower case), queue or container. Nil means there are none.
	Policy func(s Service, resource, id string) (StoredPolicy, bool)
	// Bearer says whether a well-formed bearer token is accepted. Nil accepts
	// every one.
	Bearer func(token string) bool
	// Now is the service's clock. Nil is time.Now.
	Now func() time.Time
}

// Verify finds out what r, sent to service s, is permitted to do. Exactly one
// of the results is meaningful: the Grant if the Refusal is nil.
//
// The URL of r must still be the one that was signed: verify before routing
// strips anything off its path. The body is not read.
func (v *Verifier) Verify(r *http.Request, s Service) (Grant, *Refusal) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, rest, _ := strings.Cut(header, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case strings.EqualFold(scheme, "Bearer"):
			return v.bearer(r, rest)
		case scheme == "SharedKey", scheme == "SharedKeyLite":
			return v.sharedKey(r, s, scheme == "SharedKeyLite", rest)
		}
		return Grant{}, badHeader("the scheme is none of SharedKey, SharedKeyLite, Bearer")
	}
	// A query that is malformed in part still gives its well-formed pairs, and
	// the signature then decides.
	if query := r.URL.Query(); query.Has("sig") {
		return v.sas(r, s, query)
	}
	return Grant{}, anonymous()
}

func (v *Verifier) now() time.Time {
	if v.Now != nil {
		return v.Now()
	}
	return time.Now()
}

func (v *Verifier) bearer(r *http.Request, token string) (Grant, *Refusal) {
	if !secure(r) {
		return Grant{}, unauthenticated("a bearer token is accepted over https only")
	}
	if !wellFormed(token) {
		return Grant{}, badToken("the bearer token is malformed")
	}
	if v.Bearer != nil && !v.Bearer(token) {
		return Grant{}, badToken("the bearer token is not accepted")
	}
	return Grant{kind: Bearer}, nil
}

// wellFormed reports whether token has the form that RFC 6750 gives to a bearer
// token: one or more token characters, then any number of "=".
func wellFormed(token string) bool {
	token = strings.TrimRight(token, "=")
	if token == "" {
		return false
	}
	for i := range len(token) {
		c := token[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-._~+/", c) >= 0:
		default:
			return false
		}
	}
	return true
}

func secure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.URL.Scheme, "https")
}
