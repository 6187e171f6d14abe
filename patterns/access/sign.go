package access

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// version is the service version of the SDK's requests; a signature by it is
// good for them.
const version = "2019-02-02"

// Sign makes a signature for s, by the account's key. The URL of the service is
// that of the account's tables, such as "https://acct.table.core.windows.net" or,
// for an emulator, "http://127.0.0.1:10002/acct".
//
// It sends no request. An *[Error] names the field that cannot be signed.
func Sign(cred *aztables.SharedKeyCredential, serviceURL string, s Scope) (Token, error) {
	if cred == nil {
		return Token{}, &Error{Field: "credential", Reason: "required"}
	}
	base, err := serviceBase(serviceURL, s.HTTP)
	if err != nil {
		return Token{}, err
	}
	s.Start, s.Expiry = signable(s.Start), signable(s.Expiry)
	if err := s.check(time.Now()); err != nil {
		return Token{}, err
	}
	values := aztables.SASSignatureValues{
		Version:           version,
		Protocol:          aztables.SASProtocolHTTPS,
		StartTime:         s.Start,
		ExpiryTime:        s.Expiry,
		Permissions:       s.Allow.String(),
		IPRange:           aztables.IPRange{Start: ip(s.From.First), End: ip(s.From.Last)},
		Identifier:        s.Policy,
		TableName:         s.Table,
		StartPartitionKey: s.Range.first.Partition,
		StartRowKey:       s.Range.first.Row,
		EndPartitionKey:   s.Range.last.Partition,
		EndRowKey:         s.Range.last.Row,
	}
	if s.HTTP {
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
	// The SDK signs the range and forgets it.
	for name, bound := range map[string]string{
		"spk": values.StartPartitionKey, "srk": values.StartRowKey,
		"epk": values.EndPartitionKey, "erk": values.EndRowKey,
	} {
		if bound != "" {
			query.Set(name, bound)
		}
	}
	// Not everyone on the way reads a plus sign as a space.
	text := strings.ReplaceAll(query.Encode(), "+", "%20")
	return Token{table: base + "/" + s.Table, query: &text, expiry: s.Expiry}, nil
}

func serviceBase(serviceURL string, plain bool) (string, error) {
	bad := func(reason string) (string, error) { return "", &Error{Field: "service URL", Reason: reason} }
	u, err := url.Parse(serviceURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return bad("not an absolute http or https URL")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return bad("holds more than a host and a path")
	case u.Scheme == "http" && !plain:
		return bad("is http, and the scope does not permit HTTP")
	}
	return strings.TrimRight(serviceURL, "/?#"), nil
}

// signable is t as a signature can tell it: in UTC, cut to the second.
func signable(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func ip(a netip.Addr) net.IP {
	if !a.IsValid() {
		return nil
	}
	return a.AsSlice()
}
