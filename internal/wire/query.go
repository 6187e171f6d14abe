package wire

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/internal/pages"
)

// Query is one page of a query.
type Query struct {
	Filter string // OData text, "" for every row
	Select string // comma separated names, "" for every property
	Top    int32  // rows in the page, 1 to 1000; 0 for the default of the service
	Bare   bool   // without metadata: no types and no ETags
	Next   Position
}

// Position is where the next page starts: the continuation token of the service. The zero
// Position is the start of the first page, or the end after the last. No other Position is
// equal to it, even if both keys are "": Azurite's token for the partition key "" is "".
type Position struct {
	PartitionKey, RowKey string

	Loop pages.Loop // of the tokens up to this one
}

// RowFilter returns the filter for one row.
func RowFilter(pk, rk string) string {
	return "PartitionKey eq " + literal(pk) + " and RowKey eq " + literal(rk)
}

// RangeFilter returns the filter for the rows of a partition with the row keys of [from, to); "" is no
// bound.
func RangeFilter(pk, from, to string) string {
	f := "PartitionKey eq " + literal(pk) + " and RowKey ge " + literal(from)
	if to != "" {
		f += " and RowKey lt " + literal(to)
	}
	return f
}

// literal returns s as a string literal of a filter.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Query reads one page, passes it to receive, and returns the position of the next. receive
// must not retain body. A page may be empty although more pages follow. If the positions
// go in a circle, so that a caller would loop forever, the error matches
// [azerr.ErrBadReply] after at most three rounds. Query makes one request, and one more for
// each time that the page is longer than [limit.MaxReply]: then it requests fewer rows.
func (c *Client) Query(ctx context.Context, q Query, receive func(body []byte) error) (Position, error) {
	for {
		next, err := c.page(ctx, q, receive)
		rows := cmp.Or(q.Top, maxPage)
		if rows == 1 || !errors.Is(err, limit.ErrTooLong) {
			return next, err
		}
		q.Top = max(rows/fewerRows, 1)
	}
}

// fewerRows divides the number of rows after a page that is too long: 1000, 62, 3, 1. The
// pages of the service itself are never so long, but those of emulators are, if rows are
// large.
const fewerRows = 16

// page makes one request of [Client.Query].
func (c *Client) page(ctx context.Context, q Query, receive func(body []byte) error) (next Position, err error) {
	k := &call{client: c, requestTarget: requestTarget{kind: pageRequest, page: &q}, receive: func(resp *http.Response, body []byte) (err error) {
		if next, err = q.Next.after(resp); err != nil {
			return err
		}
		return receive(body)
	}}
	opts := &aztables.ListEntitiesOptions{}
	if q.Filter != "" {
		opts.Filter = &q.Filter
	}
	if q.Select != "" {
		opts.Select = &q.Select
	}
	if q.Bare {
		opts.Format = &noMetadata
	}
	if q.Top != 0 {
		opts.Top = &q.Top
	}
	if q.Next != (Position{}) {
		opts.NextPartitionKey = &q.Next.PartitionKey
	}
	if q.Next.RowKey != "" {
		opts.NextRowKey = &q.Next.RowKey
	}
	err = c.run(ctx, "query", k, func(ctx context.Context) error {
		_, err := c.table.NewListEntitiesPager(opts).NextPage(ctx)
		return err
	})
	if err != nil {
		return Position{}, err
	}
	return next, nil
}

// noMetadata is a variable because aztables takes its address.
var noMetadata = aztables.MetadataFormatNone

// after returns the position of the page after the one at p, from the reply to p.
func (p Position) after(resp *http.Response) (next Position, err error) {
	if len(resp.Header[nextPartitionKey])+len(resp.Header[nextRowKey]) == 0 {
		return Position{}, nil
	}
	next.PartitionKey, next.RowKey = header(resp, nextPartitionKey), header(resp, nextRowKey)
	next.Loop, err = p.Loop.Next(next.PartitionKey, next.RowKey)
	return next, err
}

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
