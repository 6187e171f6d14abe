package wire

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Query is one page of a query.
type Query struct {
	Filter string // OData text, "" for every row
	Select string // comma separated names, "" for every property
	Top    int32  // rows in the page, 1 to 1000; 0 for the default of the service
	Next   Position
}

// Position is where the next page starts: the continuation token of the service. The zero
// Position is the start of the first page, or the end after the last.
type Position struct{ PartitionKey, RowKey string }

// RowFilter returns the filter for one row.
func RowFilter(pk, rk string) string {
	return "PartitionKey eq " + literal(pk) + " and RowKey eq " + literal(rk)
}

// RangeFilter returns the filter for the rows of a partition with the row keys of [from, to).
func RangeFilter(pk, from, to string) string {
	return "PartitionKey eq " + literal(pk) + " and RowKey ge " + literal(from) + " and RowKey lt " + literal(to)
}

// literal returns s as a string literal of a filter.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Query reads one page, passes it to receive, and returns the position of the next. receive
// must not retain body. A page may be empty although more pages follow. If the position
// of the next page is that of this page, so that a caller would loop forever, the error
// matches [azerr.ErrBadReply]. Query makes one request.
func (c *Client) Query(ctx context.Context, q Query, receive func(body []byte) error) (Position, error) {
	var next Position
	k := &call{client: c, rows: cmp.Or(int(q.Top), maxPage), receive: func(resp *http.Response, body []byte) error {
		next = Position{header(resp, nextPartitionKey), header(resp, nextRowKey)}
		return receive(body)
	}}
	opts := &aztables.ListEntitiesOptions{}
	if q.Filter != "" {
		opts.Filter = &q.Filter
	}
	if q.Select != "" {
		opts.Select = &q.Select
	}
	if q.Top != 0 {
		opts.Top = &q.Top
	}
	if q.Next != (Position{}) {
		// Azurite's token for the partition key "" is "", which must be sent nevertheless.
		opts.NextPartitionKey = &q.Next.PartitionKey
	}
	if q.Next.RowKey != "" {
		opts.NextRowKey = &q.Next.RowKey
	}
	err := c.run(ctx, "query", k, func(ctx context.Context) error {
		_, err := c.table.NewListEntitiesPager(opts).NextPage(ctx)
		return err
	})
	if err == nil && next == q.Next && next != (Position{}) {
		return Position{}, &azerr.Error{Op: "query", Kind: azerr.ErrBadReply, Err: errNoProgress}
	}
	return next, err
}

var errNoProgress = azerr.Sentinel("the next page starts where this one did")

// maxPage is the maximum number of rows in a page.
const maxPage = 1000

// The continuation headers in the canonical form in which net/http keeps them.
// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
const (
	nextPartitionKey = "X-Ms-Continuation-Nextpartitionkey"
	nextRowKey       = "X-Ms-Continuation-Nextrowkey"
)

// header is Header.Get for a name that is already canonical.
func header(resp *http.Response, name string) string {
	if v := resp.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
