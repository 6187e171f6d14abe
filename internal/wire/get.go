package wire

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Get reads the row with the keys pk and rk and passes the reply to receive, which must not
// retain body. Get makes one request.
//
// aztables does not accept an empty partition key. Such a row is read by a query for its
// exact key, which costs the same. The service may split the reply into several pages; each
// is another request.
func (c *Client) Get(ctx context.Context, pk, rk string, receive func(etag string, body []byte) error) error {
	if pk == "" {
		return c.getByQuery(ctx, rk, receive)
	}
	k := &call{client: c, requestTarget: requestTarget{kind: getRequest, partitionKey: pk, rowKey: rk}, receive: func(resp *http.Response, body []byte) error {
		etag := header(resp, "Etag")
		if err := azerr.CheckVersion(etag); err != nil {
			return err
		}
		return receive(etag, body)
	}}
	return c.run(ctx, "get", k, func(ctx context.Context) error {
		_, err := c.table.GetEntity(ctx, pk, rk, nil)
		return err
	})
}

func (c *Client) getByQuery(ctx context.Context, rk string, receive func(etag string, body []byte) error) error {
	found := false
	q := Query{Filter: RowFilter("", rk)}
	for {
		next, err := c.Query(ctx, q, func(body []byte) error {
			var page struct {
				Value *[]json.RawMessage `json:"value"`
			}
			if err := json.Unmarshal(body, &page); err != nil {
				return azerr.Errorf("%w: %w", azerr.ErrBadReply, err)
			}
			if page.Value == nil { // not a page, so not proof that there is no row
				return azerr.Errorf("%w: a page without value", azerr.ErrBadReply)
			}
			if found = len(*page.Value) > 0; !found {
				return nil
			}
			return receiveRow((*page.Value)[0], receive)
		})
		switch {
		case err != nil || found:
			return err
		case next == Position{}:
			return &types.Error{Op: "get", Status: http.StatusNotFound, Code: "ResourceNotFound", Kind: azerr.ErrNotFound}
		}
		q.Next = next // a page may be empty although the row follows
	}
}

// receiveRow passes a row of a page to receive, with the ETag that it contains.
func receiveRow(row []byte, receive func(etag string, body []byte) error) error {
	var r struct {
		ETag string `json:"odata.etag"`
	}
	if err := json.Unmarshal(row, &r); err != nil {
		return azerr.Errorf("%w: %w", azerr.ErrBadReply, err)
	}
	if err := azerr.CheckVersion(r.ETag); err != nil {
		return err
	}
	return receive(r.ETag, row)
}
