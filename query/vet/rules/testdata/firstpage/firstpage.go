package firstpage

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func once(ctx context.Context, table *aztables.Client) ([][]byte, error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'")})
	page, err := pager.NextPage(ctx) // want `only the first page is read.*firstpage, error`
	if err != nil {
		return nil, err
	}
	return page.Entities, nil
}

func leavesLoop(ctx context.Context, table *aztables.Client) ([]byte, error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'")})
	for pager.More() {
		page, err := pager.NextPage(ctx) // want `only the first page is read`
		if err != nil {
			return nil, err
		}
		for _, row := range page.Entities {
			return row, nil
		}
		return nil, nil
	}
	return nil, nil
}

func fine(ctx context.Context, table *aztables.Client, token *string) (aztables.ListEntitiesResponse, error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p' and RowKey eq 'r'")})
	one, err := pager.NextPage(ctx)
	if err != nil || len(one.Entities) == 1 {
		return aztables.ListEntitiesResponse{}, err
	}
	all := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for all.More() {
		page, err := all.NextPage(ctx)
		if err != nil {
			return page, err
		}
		if len(page.Entities) > 100 {
			break
		}
	}
	for again := table.NewListEntitiesPager(nil); again.More(); { // want `the whole table is read`
		page, err := again.NextPage(ctx)
		if err != nil || len(page.Entities) > 100 {
			return aztables.ListEntitiesResponse{}, err
		}
	}
	whole := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{NextPartitionKey: token, NextRowKey: token}) // want `the whole table is read`
	return whole.NextPage(ctx)
}

func page(ctx context.Context, table *aztables.Client, token *string) (rows [][]byte, next *string, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{NextPartitionKey: token}) // want `the whole table is read` `without NextRowKey each page begins at the start.*firstpage, error`
	reply, err := pager.NextPage(ctx)
	return reply.Entities, reply.NextPartitionKey, err
}

func look(ctx context.Context, table *aztables.Client) (bool, error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Top: to.Ptr(int32(1))}) // want `the whole table is read`
	reply, err := pager.NextPage(ctx)
	return len(reply.Entities) > 0, err
}

func chained(ctx context.Context, table *aztables.Client) (int, error) {
	page, err := table.NewListEntitiesPager(nil).NextPage(ctx) // want `only the first page is read` `the whole table is read`
	return len(page.Entities), err
}
