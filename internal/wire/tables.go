package wire

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// ListTables yields the names of the account's tables that match the filter, "" for all. An
// error ends the sequence. It makes one request for each page of up to 1,000 names; a page
// may have fewer, or none, although more pages follow.
//
// https://learn.microsoft.com/rest/api/storageservices/query-tables
func ListTables(ctx context.Context, service *aztables.ServiceClient, filter string) iter.Seq2[string, error] {
	const op = "list tables"
	return func(yield func(string, error) bool) {
		opts := &aztables.ListTablesOptions{}
		if filter != "" {
			opts.Filter = &filter
		}
		last := ""
		for pager := service.NewListTablesPager(opts); pager.More(); {
			if err := checkContext(ctx, op); err != nil {
				yield("", err)
				return
			}
			page, err := pager.NextPage(ctx)
			if err != nil {
				yield("", new(call).fail(op, err))
				return
			}
			if next := page.NextTableName; next != nil && *next != "" {
				if *next == last {
					yield("", &azerr.Error{Op: op, Kind: azerr.ErrBadReply, Err: errNoProgress})
					return
				}
				last = *next
			}
			for _, t := range page.Tables {
				if t.Name != nil && !yield(*t.Name, nil) {
					return
				}
			}
		}
	}
}

// CreateTable creates the table. It returns nil if the table exists already. It makes one
// request.
func (c *Client) CreateTable(ctx context.Context) error {
	err := checkContext(ctx, "create table")
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

// DropTable deletes the table. It returns nil if the table does not exist or is being
// deleted, perhaps by an earlier try of the same call. It makes one request.
func (c *Client) DropTable(ctx context.Context) error {
	err := checkContext(ctx, "drop table")
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
