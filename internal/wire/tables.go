package wire

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// ListTables gives the names of the account's tables that filter matches, or at
// last an error that ends them. One request for each 1,000 names; a page may hold
// fewer, or none, although more follow.
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
			if err := alive(ctx, op); err != nil {
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
