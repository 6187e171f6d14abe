package access

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Token is a signed scope. Whoever holds its URL or query has what it permits,
// so neither is printed by fmt or log/slog, also where the Token is part of something
// else that is printed; ask for them.
type Token struct {
	table string
	// Behind a pointer, which fmt does not follow: it calls no String of a field that
	// is not exported, and prints what the field holds.
	query  *string
	expiry time.Time
}

// URL is the table's URL with the signature: what a client needs, of this or
// another SDK.
func (t Token) URL() string { return t.table + "?" + t.Query() }

// Query is the signature alone, without a question mark.
func (t Token) Query() string {
	if t.query == nil {
		return ""
	}
	return *t.query
}

// Expiry is the end that was signed, in UTC; zero if a stored access policy sets it.
func (t Token) Expiry() time.Time { return t.expiry }

// Client opens the table with the token. With aztables v1.4.1 the client cannot
// create or delete its table, as no table signature permits that.
func (t Token) Client(opts *aztables.ClientOptions) (*aztables.Client, error) {
	return aztables.NewClientWithNoCredential(t.URL(), opts)
}

// String is the table's URL, with the signature left out.
func (t Token) String() string { return t.table + "?sig=REDACTED" }

// GoString is String.
func (t Token) GoString() string { return t.String() }
