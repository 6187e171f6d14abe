package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Client talks to one table through an aztables client, in one of two modes. In
// accelerated mode the policy of [Accelerate] is in the client's pipeline; bodies
// then go past aztables. In plain mode aztables encodes and decodes them, and the
// reply is read from the captured response. The first call finds out which.
//
// A Client may be used by any number of goroutines.
type Client struct {
	table     *aztables.Client
	mode      atomic.Int32
	address   atomic.Pointer[Address]
	lastReply atomic.Int64 // size of the last reply, the guess for the next
}

const (
	unknownMode = iota
	plain
	accelerated
)

// NewClient wraps table. It makes no request.
func NewClient(table *aztables.Client) *Client { return &Client{table: table} }

// Table gives back the client that NewClient took.
func (c *Client) Table() *aztables.Client { return c.table }

// run does one SDK call and settles in which mode it ran.
func (c *Client) run(ctx context.Context, op string, k *call, send func(context.Context) error) error {
	if err := alive(ctx, op); err != nil {
		return err
	}
	err := send(k.context(ctx))
	if !k.seen && k.resp != nil {
		c.mode.CompareAndSwap(unknownMode, plain)
		_ = c.learnAddress(k.resp.Request) // a transaction's body is used up by now
	}
	if err != nil {
		return k.fail(op, err)
	}
	if k.receive == nil || k.received {
		return nil
	}
	if k.resp == nil {
		return &azerr.Error{Op: op, Kind: azerr.ErrBadReply, Err: errors.New("no reply was captured"), Unsure: k.write}
	}
	body, err := runtime.Payload(k.resp)
	if err == nil {
		k.received = true
		err = k.receive(k.resp, body)
	}
	if err != nil {
		return k.fail(op, err)
	}
	return nil
}

// Get reads the row at (pk, rk) and hands the reply to receive, which must not
// keep body. One request.
//
// aztables refuses an empty partition key; such a row is read by a query for its
// exact key, which costs the service the same.
func (c *Client) Get(ctx context.Context, pk, rk string, receive func(etag string, body []byte) error) error {
	if pk == "" {
		return c.getByQuery(ctx, rk, receive)
	}
	k := &call{client: c, receive: func(resp *http.Response, body []byte) error {
		return receive(header(resp, "Etag"), body)
	}}
	return c.run(ctx, "get", k, func(ctx context.Context) error {
		_, err := c.table.GetEntity(ctx, pk, rk, nil)
		return err
	})
}

func (c *Client) getByQuery(ctx context.Context, rk string, receive func(etag string, body []byte) error) error {
	found := false
	q := Query{Filter: "PartitionKey eq '' and RowKey eq '" + strings.ReplaceAll(rk, "'", "''") + "'"}
	for {
		next, err := c.Query(ctx, q, func(body []byte) error {
			var page struct {
				Value *[]json.RawMessage `json:"value"`
			}
			if err := json.Unmarshal(body, &page); err != nil {
				return fmt.Errorf("%w: %w", azerr.ErrBadReply, err)
			}
			if page.Value == nil { // or what is no page would say that there is no row
				return fmt.Errorf("%w: a page without value", azerr.ErrBadReply)
			}
			if found = len(*page.Value) > 0; !found {
				return nil
			}
			return receive("", (*page.Value)[0])
		})
		switch {
		case err != nil || found:
			return err
		case next == Position{}:
			return &azerr.Error{Op: "get", Status: http.StatusNotFound, Code: "ResourceNotFound", Kind: azerr.ErrNotFound}
		}
		q.Next = next // a page may be empty although the row follows
	}
}

// Query is one page of a query.
type Query struct {
	Filter string // OData text, "" for every row
	Select string // comma separated names, "" for every property
	Top    int32  // rows in the page, 1..1000; 0 leaves it to the service
	Next   Position
}

// Position is where the next page starts, as the service said. The zero
// Position is the start, or the end.
type Position struct{ PartitionKey, RowKey string }

// Query reads one page and hands it to receive, which must not keep body. A page
// may be empty although more follow; one that goes on where it began is an
// [azerr.ErrBadReply], for whoever follows it would never end. One request.
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
		// Azurite's token for the partition key "" is "", and means nothing unless sent.
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

var errNoProgress = errors.New("a page that goes on where it began")

// maxPage is the most rows in a page.
const maxPage = 1000

// The continuation headers in the canonical form in which net/http keeps them.
// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
const (
	nextPartitionKey = "X-Ms-Continuation-Nextpartitionkey"
	nextRowKey       = "X-Ms-Continuation-Nextrowkey"
)

// header is Get for a name that is canonical already.
func header(resp *http.Response, name string) string {
	if v := resp.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Address is where a table lives, as its requests showed.
type Address struct {
	Base string // "https://account.table.core.windows.net/Table": no key, no query
	Host string
}

// Cosmos reports whether the table is served by Cosmos DB for Table, by the rule
// of aztables.
func (a Address) Cosmos() bool {
	return strings.Contains(a.Host, ".table.cosmosdb.") || strings.Contains(a.Host, ".table.cosmos.")
}

// Address is where the table lives; ok is false before the first request.
func (c *Client) Address() (a Address, ok bool) {
	if p := c.address.Load(); p != nil {
		return *p, true
	}
	return Address{}, false
}

func (c *Client) replySize(contentLength int64) int {
	n := contentLength
	if n < 0 {
		n = c.lastReply.Load()
	}
	// Room for the read that finds the end; a hostile length is not believed.
	return int(min(n, keepBuffer)) + 512
}

// ifMatch is nil for no condition.
func ifMatch(etag string) *azcore.ETag {
	if etag == "" {
		return nil
	}
	e := azcore.ETag(etag)
	return &e
}

// CreateTable creates the table; one that exists already is fine. One request.
func (c *Client) CreateTable(ctx context.Context) error {
	err := alive(ctx, "create table")
	if err != nil {
		return err
	}
	if _, err = c.table.CreateTable(ctx, nil); err == nil {
		return nil
	}
	e := (&call{client: c}).fail("create table", err)
	if e.Code == "TableAlreadyExists" {
		return nil
	}
	return e
}

// DropTable deletes the table; one that does not exist is fine, and so is one that is
// being deleted, by an earlier try of this call perhaps. One request.
func (c *Client) DropTable(ctx context.Context) error {
	err := alive(ctx, "drop table")
	if err != nil {
		return err
	}
	if _, err = c.table.Delete(ctx, nil); err == nil {
		return nil
	}
	e := (&call{client: c}).fail("drop table", err)
	if e.Status == http.StatusNotFound || errors.Is(e, azerr.ErrTableNotFound) {
		return nil
	}
	return e
}
