package auth

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// Skew is the largest difference between the date of a Shared Key request and the
// clock, in both directions.
const Skew = 15 * time.Minute

// StoredPolicy is a stored access policy of a table, queue or container. A SAS must set
// the fields that are zero in its policy.
type StoredPolicy struct {
	Start, Expiry time.Time
	Permissions   string
}

// Verifier verifies the requests to one account. It is safe for concurrent use if its
// fields are not changed.
type Verifier struct {
	// Account is the name of the account.
	Account string
	// Keys are the decoded account keys; a signature by any of them is valid.
	Keys [][]byte
	// Policy returns a stored access policy. The resource is the name of a table
	// (in lower case), queue or container. If nil, there are no policies.
	Policy func(s op.Service, resource, id string) (StoredPolicy, bool)
	// Bearer reports whether a well-formed bearer token is accepted. If nil, all are
	// accepted.
	Bearer func(token string) bool
	// Now returns the time. If nil, it is the LocalTime of the request: a client signs by
	// its own clock.
	Now func() time.Time

	macs sync.Pool // of *[]hash.Hash, one hash for each key
}

// Verify returns what r is permitted to do. The Grant is meaningful only if the error
// is nil. The body is not read.
func (v *Verifier) Verify(r *request.Request) (Grant, *reply.Error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, rest, _ := strings.Cut(header, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case strings.EqualFold(scheme, "Bearer"):
			return v.bearer(r, rest)
		case scheme == "SharedKey", scheme == "SharedKeyLite":
			return v.sharedKey(r, scheme == "SharedKeyLite", rest)
		}
		return Grant{}, badHeader("the scheme is not SharedKey, SharedKeyLite or Bearer")
	}
	if r.Query.Has("sig") {
		return v.sas(r)
	}
	return Grant{}, anonymous()
}

func (v *Verifier) now(r *request.Request) time.Time {
	if v.Now != nil {
		return v.Now()
	}
	return r.LocalTime()
}

func (v *Verifier) bearer(r *request.Request, token string) (Grant, *reply.Error) {
	if !r.HTTPS {
		return Grant{}, unauthenticated("a bearer token is accepted over https only")
	}
	if !wellFormed(token) {
		return Grant{}, BadToken("the bearer token is malformed")
	}
	if v.Bearer != nil && !v.Bearer(token) {
		return Grant{}, BadToken("the bearer token is not accepted")
	}
	return Grant{kind: Bearer, principal: principalOf(token)}, nil
}

// wellFormed reports whether token has the form of a bearer token in RFC 6750: one or more token characters, then any number of "=".
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

// IsJWT reports whether token has the form of the tokens that Microsoft Entra ID issues: a JSON object for the header, one for the
// claims, and a signature, each in base64url.
func IsJWT(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	for i, part := range parts {
		b, err := base64.RawURLEncoding.DecodeString(part)
		var object map[string]any
		if err != nil || i < 2 && json.Unmarshal(b, &object) != nil {
			return false
		}
	}
	return true
}
