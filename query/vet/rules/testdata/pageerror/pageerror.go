package pageerror

import (
	"context"
	"errors"
	"io"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func stops(ctx context.Context, table *aztables.Client) (int, error) {
	n := 0
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil { // want `an error is treated as the end of the rows.*pageerror, error`
			log.Print(err)
			break
		}
		n += len(page.Entities)
	}
	return n, nil
}

func returnsNil(ctx context.Context, table *aztables.Client) (rows [][]byte, err error) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil { // want `an error is treated as the end`
			return rows, nil
		}
		rows = append(rows, page.Entities...)
	}
	return rows, nil
}

func returnsEnd(ctx context.Context, table *aztables.Client) (rows [][]byte, err error) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil { // want `an error is treated as the end`
			log.Print(err)
			return nil, io.EOF
		}
		rows = append(rows, page.Entities...)
	}
	return rows, io.EOF
}

func repeats(ctx context.Context, table *aztables.Client) (rows [][]byte) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil { // want `this loop can repeat a failing request`
			continue
		}
		rows = append(rows, page.Entities...)
	}
	for pager.More() {
		page, _ := pager.NextPage(ctx) // want `the error of NextPage is ignored`
		rows = append(rows, page.Entities...)
	}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil { // want `this loop can repeat a failing request`
			log.Print(err)
		}
		rows = append(rows, page.Entities...)
	}
	return rows
}

func fine(ctx context.Context, table *aztables.Client, failed chan error) (rows [][]byte, err error) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.Entities...)
	}
	var last error
	for pager.More() {
		var page aztables.ListEntitiesResponse
		page, last = pager.NextPage(ctx)
		if last != nil {
			break
		}
		rows = append(rows, page.Entities...)
	}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			failed <- err
			break
		}
		rows = append(rows, page.Entities...)
	}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			log.Fatal(err)
		}
		rows = append(rows, page.Entities...)
	}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if errors.Is(err, context.Canceled) {
			break
		}
		rows = append(rows, page.Entities...)
	}
	return rows, last
}

func short(ctx context.Context, table *aztables.Client) (rows [][]byte) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil { // want `an error is treated as the end of the rows`
			return rows
		}
		rows = append(rows, page.Entities...)
	}
	return rows
}

func both(ctx context.Context, table *aztables.Client) (rows [][]byte, ok bool) {
	pager := table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil || page.Entities == nil { // want `an error is treated as the end of the rows`
			break
		}
		rows = append(rows, page.Entities...)
	}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return rows, false
		}
		rows = append(rows, page.Entities...)
	}
	return rows, true
}
