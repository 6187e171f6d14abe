package patterns_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func TestTheCallerCapturesTheReplyOfEveryCall(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		for what, call := range map[string]func(context.Context, *patterns.Table[counter]) error{
			"upsert": func(ctx context.Context, table *patterns.Table[counter]) error {
				_, err := table.Upsert(ctx, &counter{"hits", "0", 1}, patterns.Replace)
				return err
			},
			"batch": func(ctx context.Context, table *patterns.Table[counter]) error {
				_, err := table.Batch().Upsert(&counter{"hits", "1", 1}, patterns.Merge).Upsert(&counter{"hits", "2", 1}, patterns.Merge).Commit(ctx)
				return err
			},
			"get": func(ctx context.Context, table *patterns.Table[counter]) error {
				_, err := table.Get(ctx, keys.Key{Partition: "hits", Row: "none"})
				return err
			},
			"page": func(ctx context.Context, table *patterns.Table[counter]) error {
				_, err := table.Page(ctx, query.PartitionKey.Eq("hits"), "", nil)
				return err
			},
			"create": func(ctx context.Context, table *patterns.Table[counter]) error { return table.Create(ctx) },
		} {
			table := harness.NewTable[counter](t, client, nil) // its first call is the first of all
			for i := range 4 {
				var resp *http.Response
				if err := call(policy.WithCaptureResponse(t.Context(), &resp), table); err != nil && what != "get" {
					t.Fatalf("%s: %v", what, err)
				}
				if resp == nil || (resp.StatusCode == http.StatusNotFound) != (what == "get") {
					t.Errorf("%s: call %d captured %v", what, i+1, resp)
				}
			}
		}
	})
}
