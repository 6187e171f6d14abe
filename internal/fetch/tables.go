package fetch

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

var errNoProgress = azerr.Sentinel("a page that continues at its own beginning")

// Tables lists the names of the account's tables that the OData filter matches; "" is
// every table. The last pair has an error if the list cannot be read to its end. One
// request for each 1,000 names; a page may have fewer, or none, although more follow.
//
// https://learn.microsoft.com/rest/api/storageservices/query-tables
func Tables(ctx context.Context, service *aztables.ServiceClient, filter string) iter.Seq2[string, error] {
	const op = "list tables"
	return func(yield func(string, error) bool) {
		opts := &aztables.ListTablesOptions{}
		if filter != "" {
			opts.Filter = &filter
		}
		last := ""
		for pager := service.NewListTablesPager(opts); pager.More(); {
			if err := ctx.Err(); err != nil {
				yield("", &azerr.Error{Op: op, Err: err})
				return
			}
			page, err := pager.NextPage(ctx)
			if err != nil {
				yield("", azerr.New(op, err))
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
