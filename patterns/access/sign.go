package access

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// serviceVersion is the version that the SDK's requests name. A signature made for this
// version is accepted for them.
const serviceVersion = "2019-02-02"

// Sign signs s with the account key in cred. serviceURL is the address of the account's
// Table service, such as "https://acct.table.core.windows.net", or
// "http://127.0.0.1:10002/acct" for an emulator.
//
// Sign makes no request. If an argument is not valid, the error is an *[Error] that
// names it.
func Sign(cred *aztables.SharedKeyCredential, serviceURL string, s Scope) (Token, error) {
	if cred == nil {
		return Token{}, invalid("credential", "required")
	}
	base, err := serviceBase(serviceURL, s.AllowHTTP)
	if err != nil {
		return Token{}, err
	}
	s.Start, s.Expiry = signable(s.Start), signable(s.Expiry)
	if err := s.check(time.Now()); err != nil {
		return Token{}, err
	}
	values := aztables.SASSignatureValues{
		Version:           serviceVersion,
		Protocol:          aztables.SASProtocolHTTPS,
		StartTime:         s.Start,
		ExpiryTime:        s.Expiry,
		Permissions:       s.Allow.String(),
		IPRange:           aztables.IPRange{Start: ip(s.IPs.First), End: ip(s.IPs.Last)},
		Identifier:        s.Policy,
		TableName:         s.Table,
		StartPartitionKey: s.Range.first.Partition,
		StartRowKey:       s.Range.first.Row,
		EndPartitionKey:   s.Range.last.Partition,
		EndRowKey:         s.Range.last.Row,
	}
	if s.AllowHTTP {
		values.Protocol = aztables.SASProtocolHTTPSandHTTP
	}
	signed, err := values.Sign(cred)
	if err != nil {
		return Token{}, err
	}
	query, err := url.ParseQuery(signed)
	if err != nil {
		return Token{}, err
	}
	// The SDK signs the range but omits it from the query.
	for name, bound := range map[string]string{
		"spk": values.StartPartitionKey, "srk": values.StartRowKey,
		"epk": values.EndPartitionKey, "erk": values.EndRowKey,
	} {
		if bound != "" {
			query.Set(name, bound)
		}
	}
	// Not every proxy or client decodes a plus sign as a space.
	text := strings.ReplaceAll(query.Encode(), "+", "%20")
	return Token{table: base + "/" + s.Table, query: &text, expiry: s.Expiry}, nil
}

func serviceBase(serviceURL string, allowHTTP bool) (string, error) {
	const field = "service URL"
	u, err := url.Parse(serviceURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", invalid(field, "not an absolute http or https URL")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", invalid(field, "contains more than a host and a path")
	case u.Scheme == "http" && !allowHTTP:
		return "", invalid(field, "uses http, which the scope does not permit")
	}
	return strings.TrimRight(serviceURL, "/?#"), nil
}

// signable returns t as a signature contains it: in UTC, truncated to the second.
func signable(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func ip(a netip.Addr) net.IP {
	if !a.IsValid() {
		return nil
	}
	return a.AsSlice()
}

// Token is a signed [Scope]. Its URL and query grant access to anyone who has them, so
// fmt and log/slog print neither, even if the Token is part of another value. The zero
// Token has no signature. A Token is an immutable value and safe for concurrent use.
type Token struct {
	table string
	// query is a pointer because fmt calls no String method of an unexported field: it
	// prints the content of the field, but does not follow a pointer.
	query  *string
	expiry time.Time
}

// URL returns the table's URL with the signature, which is all that a client of this or
// another SDK needs.
func (t Token) URL() string { return t.table + "?" + t.Query() }

// Query returns the signature as a URL query, without the question mark.
func (t Token) Query() string {
	if t.query == nil {
		return ""
	}
	return *t.query
}

// Expiry returns the signed expiry, in UTC. It is zero if a stored access policy sets
// the expiry.
func (t Token) Expiry() time.Time { return t.expiry }

// Client returns a client that accesses the table with the token. With aztables v1.4.1
// the client cannot create or delete its table, because no signature for a table permits
// that. Client makes no request. For the zero Token it returns an *[Error].
func (t Token) Client(opts *aztables.ClientOptions) (*aztables.Client, error) {
	if t.query == nil {
		return nil, invalid("token", "not signed")
	}
	return aztables.NewClientWithNoCredential(t.URL(), opts)
}

// String returns the table's URL with the signature redacted.
func (t Token) String() string { return t.table + "?sig=REDACTED" }

// GoString returns the same text as String, for the verb %#v.
func (t Token) GoString() string { return t.String() }
