package lostupdate

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

type counter struct {
	PartitionKey, RowKey string
	Count                int32
}

type counters struct{ table *aztables.Client }

func (c *counters) get(ctx context.Context, key string) (*counter, error) {
	reply, err := c.table.GetEntity(ctx, "counters", key, nil)
	if err != nil {
		return nil, err
	}
	var found counter
	return &found, json.Unmarshal(reply.Value, &found)
}

func (c *counters) put(ctx context.Context, one *counter) error {
	body, err := json.Marshal(one)
	if err != nil {
		return err
	}
	_, err = c.table.UpsertEntity(ctx, body, nil)
	return err
}

func (c *counters) increment(ctx context.Context, key string) error {
	one, err := c.get(ctx, key)
	if err != nil {
		return err
	}
	one.Count++
	return c.put(ctx, one) // want `overwrites what others wrote.*return the ETag`
}

func (c *counters) reset(ctx context.Context, key string) error {
	if _, err := c.get(ctx, key); err != nil {
		return err
	}
	return c.put(ctx, &counter{PartitionKey: "counters", RowKey: key})
}

func (c *counters) change(ctx context.Context, key string, f func(*counter)) error {
	one, err := c.get(ctx, key)
	if err != nil {
		return err
	}
	f(one)
	return c.put(ctx, one) // want `overwrites what others wrote`
}

// The client is an argument of the functions.
func read(ctx context.Context, table *aztables.Client, key string) (map[string]any, error) {
	reply, err := table.GetEntity(ctx, "counters", key, nil)
	if err != nil {
		return nil, err
	}
	var found map[string]any
	return found, json.Unmarshal(reply.Value, &found)
}

func write(ctx context.Context, table *aztables.Client, row map[string]any) error {
	body, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = table.UpsertEntity(ctx, body, nil)
	return err
}

func enable(ctx context.Context, table *aztables.Client, key string) error {
	row, err := read(ctx, table, key)
	if err != nil {
		return err
	}
	row["Enabled"] = true
	return write(ctx, table, row) // want `overwrites what others wrote`
}

func move(ctx context.Context, from, to *aztables.Client, key string) error {
	row, err := read(ctx, from, key)
	if err != nil {
		return err
	}
	return write(ctx, to, row)
}

func rows(ctx context.Context, table, archive *aztables.Client, filter string) error {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			if _, err := archive.UpsertEntity(ctx, raw, nil); err != nil { // want `the rows are written one after the other`
				return err
			}
			raw = bytes.ReplaceAll(raw, []byte("old"), []byte("new"))
			if _, err := table.UpsertEntity(ctx, raw, nil); err != nil { // want `overwrites what others wrote.*odata.etag of the row`
				return err
			}
		}
	}
	return nil
}

func inBlob(ctx context.Context, blobs *azblob.Client) error {
	reply, err := blobs.DownloadStream(ctx, "container", "list", nil)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	_, err = blobs.UploadBuffer(ctx, "container", "list", append(text, "more"...), nil) // want `overwrites what others wrote`
	return err
}

// A client of the program's own.
type tables interface {
	GetEntity(ctx context.Context, partition, row string) ([]byte, error)
	UpsertEntity(ctx context.Context, body []byte) error
}

func own(ctx context.Context, t tables) error {
	body, err := t.GetEntity(ctx, "p", "r")
	if err != nil {
		return err
	}
	return t.UpsertEntity(ctx, bytes.ToUpper(body)) // want `overwrites what others wrote`
}

func rename(ctx context.Context, table *aztables.Client, key, name string) error {
	row, err := read(ctx, table, key)
	if err != nil {
		return err
	}
	row["RowKey"] = name
	return write(ctx, table, row)
}

func copyBlob(ctx context.Context, blobs *azblob.Client, from, to string) error {
	reply, err := blobs.DownloadStream(ctx, "container", from, nil)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	_, err = blobs.UploadStream(ctx, "container", to, reply.Body, nil)
	return err
}
