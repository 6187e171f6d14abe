package wholeread

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type event struct {
	PartitionKey string
	RowKey       string
}

func latest(ctx context.Context, table *aztables.Client, n int32) (all [][]byte, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'"), Top: &n})
	for pager.More() { // want `Top is the size of a page, and the loop reads all pages.*wholeread, warning`
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entities...)
	}
	return all, nil
}

func latestOnly(ctx context.Context, table *aztables.Client, n int32) (all [][]byte, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'"), Top: &n})
	for pager.More() && len(all) < int(n) {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entities...)
	}
	return all, nil
}

type feed struct{ pageSize int32 }

func (f *feed) all(ctx context.Context, table *aztables.Client) (all [][]byte, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'"), Top: &f.pageSize})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entities...)
	}
	return all, nil
}

func part(ctx context.Context, table *aztables.Client, offset, limit int) (all [][]byte, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entities...)
	}
	return all[min(offset, len(all)):min(offset+limit, len(all))], nil // want `all rows are read for each part of the list`
}

func tail(ctx context.Context, table *aztables.Client) (all [][]byte, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entities...)
	}
	return all[max(0, len(all)-10):], nil
}

func add(ctx context.Context, table *aztables.Client, id string, at time.Time) error {
	body, err := json.Marshal(event{PartitionKey: "p", RowKey: at.UTC().Format("20060102150405") + "_" + id})
	if err != nil {
		return err
	}
	_, err = table.AddEntity(ctx, body, nil)
	return err
}

func latestEvent(ctx context.Context, table *aztables.Client) ([]byte, error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'"), Top: to.Ptr(int32(1))}) // want `the first one is the oldest`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Entities {
			return row, nil
		}
	}
	return nil, nil
}

func oldestEvent(ctx context.Context, table *aztables.Client) ([]byte, error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'"), Top: to.Ptr(int32(1))})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Entities {
			return row, nil
		}
	}
	return nil, nil
}
