package wire

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Address is the address of a table, as seen in its requests.
type Address struct {
	Base string // "https://account.table.core.windows.net/Table": no key, no query
	Host string
}

// Table returns the name of the table.
func (a Address) Table() string { return a.Base[strings.LastIndexByte(a.Base, '/')+1:] }

// Cosmos reports whether the table is one of Cosmos DB for Table. The rule is that of
// aztables.
func (a Address) Cosmos() bool {
	return strings.Contains(a.Host, ".table.cosmosdb.") || strings.Contains(a.Host, ".table.cosmos.")
}

// Address returns the address of the table. ok is false before the first request.
func (c *Client) Address() (a Address, ok bool) {
	if p := c.address.Load(); p != nil {
		return *p, true
	}
	return Address{}, false
}

// addressKey is the key of a context whose requests the first policy does not send: it only records their address.
type addressKey struct{}

// TableName returns the name of the table, "" if it cannot be found. It is found if the client was built with [Accelerate]. No
// request is sent: the context has ended.
func (c *Client) TableName() string {
	if _, ok := c.Address(); !ok {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), addressKey{}, c))
		cancel()
		_, _ = c.table.GetEntity(ctx, "name", "name", nil) // fails
	}
	a, _ := c.Address()
	return a.Table()
}

// SameTable reports whether c and other are clients of tables of the same name. It returns true if an address is not known yet.
func (c *Client) SameTable(other *Client) bool {
	if c == other {
		return true
	}
	a, ok := c.Address()
	b, known := other.Address()
	return !ok || !known || strings.EqualFold(a.Table(), b.Table())
}

// recordAddress stores the table's address if it is not known yet. It takes it from the
// path of an entity request, or from the first operation of a transaction, because aztables
// exports neither the name nor the host of a client's table.
func (c *Client) recordAddress(req *http.Request) error {
	if c.address.Load() != nil {
		return nil
	}
	u := *req.URL
	u.RawQuery, u.Fragment = "", ""
	base := u.String()
	if strings.HasSuffix(u.Path, "/$batch") {
		line, err := firstOperation(req)
		if err != nil {
			return err
		}
		base = line
	}
	slash := strings.LastIndexByte(base, '/')
	if paren := strings.IndexByte(base[slash+1:], '('); paren >= 0 {
		base = base[:slash+1+paren]
	}
	c.address.CompareAndSwap(nil, &Address{Base: base, Host: u.Host})
	return nil
}

// firstOperation returns the address in the request line of the first operation of a
// transaction, without its query.
func firstOperation(req *http.Request) (string, error) {
	if req.Body == nil {
		return "", errNoOperation
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return "", err
	}
	if req.GetBody != nil {
		req.Body, err = req.GetBody()
		if err != nil {
			return "", err
		}
	}
	for line := range bytes.Lines(body) {
		method, rest, ok := strings.Cut(string(line), " ")
		if !ok || (method != http.MethodPost && method != http.MethodPut && method != http.MethodPatch && method != http.MethodDelete) {
			continue
		}
		address, _, _ := strings.Cut(rest, " ")
		address, _, _ = strings.Cut(address, "?")
		return address, nil
	}
	return "", errNoOperation
}

var errNoOperation = azerr.Sentinel("transaction without an operation")
