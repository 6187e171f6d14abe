package wire

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

// aztables tells neither the name of a client's table nor its host, so both are
// learned from the first request that goes out.

// learnAddress keeps the table's address as req shows it: in the path of an
// entity request, or in the first operation of a transaction.
func (c *Client) learnAddress(req *http.Request) error {
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

// firstOperation gives the address in the request line of the first operation
// of a transaction body, without its query.
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

var errNoOperation = errors.New("transaction without an operation")
