package fetch

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/pages"
)

// Tables lists the names of the account's tables that the OData filter matches; "" is
// every table. The last pair has an error if the list cannot be read to its end. One
// request for each 1,000 names; a page may have fewer, or none, although more follow.
//
// https://learn.microsoft.com/rest/api/storageservices/query-tables
func Tables(ctx context.Context, service *aztables.ServiceClient, filter string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		opts := &aztables.ListTablesOptions{}
		if filter != "" {
			opts.Filter = &filter
		}
		next := func(p *aztables.ListTablesResponse) *string { return p.NextTableName }
		for page, err := range pages.List(ctx, "list tables", service.NewListTablesPager(opts), next) {
			if err != nil {
				yield("", err)
				return
			}
			for _, t := range page.Tables {
				if t.Name != nil && !yield(*t.Name, nil) {
					return
				}
			}
		}
	}
}
