package emptypage

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func stops(ctx context.Context, table *aztables.Client) (n int, err error) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		if len(page.Entities) == 0 { // want `a page without rows is not the last page.*emptypage, error`
			break
		}
		n += len(page.Entities)
	}
	return n, nil
}

func returns(ctx context.Context, table *aztables.Client) ([]byte, error) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		rows := page.Entities
		if len(rows) < 1 { // want `a page without rows is not the last page`
			return nil, errors.New("none")
		}
		for _, row := range rows {
			return row, nil
		}
	}
	return nil, nil
}

func fine(ctx context.Context, table *aztables.Client) (n int, err error) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		if len(page.Entities) == 0 {
			continue
		}
		for _, row := range page.Entities {
			if len(row) == 0 {
				break
			}
			n++
		}
		if len(page.Entities) == 0 && page.NextPartitionKey == nil {
			break
		}
	}
	return n, nil
}

func either(ctx context.Context, table *aztables.Client) (n int, err error) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		if len(page.Entities) == 0 || n > 100 { // want `a page without rows is not the last page`
			break
		}
		n += len(page.Entities)
	}
	return n, nil
}
