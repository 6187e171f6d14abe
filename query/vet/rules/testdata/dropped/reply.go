package dropped

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
)

func load(ctx context.Context, table *aztables.Client) (used int32, err error) {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return 0, err
	}
	var row struct{ Used int32 }
	_ = json.Unmarshal(reply.Value, &row) // want `the error of reading this reply is dropped`
	return row.Used, nil
}

func restore(ctx context.Context, file *blob.Client, to io.Writer) error {
	reply, err := file.DownloadStream(ctx, nil)
	if err != nil {
		return err
	}
	body := reply.NewRetryReader(ctx, nil)
	defer body.Close()
	io.Copy(to, body) // want `the error of reading this reply is dropped`
	return nil
}

func rows(ctx context.Context, table *aztables.Client) (all []map[string]any, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var row map[string]any
			if err := json.Unmarshal(raw, &row); err != nil { // want `the error of reading this reply is dropped`
				continue
			}
			all = append(all, row)
		}
	}
	return all, nil
}

func open(ctx context.Context, table *aztables.Client) error {
	if _, err := table.CreateTable(ctx, nil); err != nil { // want `the error of this write is only logged`
		log.Print("the table exists")
	}
	return nil
}

func both(ctx context.Context, table *aztables.Client, bodies [2][]byte) error {
	var wait sync.WaitGroup
	for _, body := range bodies {
		slots <- true
		wait.Add(1)
		go func() {
			defer wait.Done()
			if _, err := table.UpsertEntity(ctx, body, nil); err != nil { // want `the error of this write is only logged`
				log.Print(err)
			}
		}()
	}
	wait.Wait()
	return nil
}

var slots = make(chan bool, 4)

func asynchronous(ctx context.Context, table *aztables.Client, body []byte) {
	go table.UpsertEntity(ctx, body, nil) // want `the error of this write is dropped`
}

func decoded(ctx context.Context, table *aztables.Client) (row map[string]any, err error) {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return nil, err
	}
	var found map[string]any
	if json.Unmarshal(reply.Value, &found) == nil { // want `the error of reading this reply is dropped`
		row = found
	}
	return row, nil
}
