package repeats

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func newID() string { return fmt.Sprintf("%016x", rand.Uint64()) }

func charge(ctx context.Context, table *aztables.Client, customer string) (err error) {
	for range 3 {
		id := newID()
		body, err := json.Marshal(map[string]string{"PartitionKey": customer, "RowKey": id}) // want `each attempt writes a row with another key.*repeats, error`
		if err != nil {
			return err
		}
		if _, err = table.AddEntity(ctx, body, nil); err == nil {
			return nil
		}
	}
	return err
}

func chargeOnce(ctx context.Context, table *aztables.Client, customer string) (err error) {
	id := newID()
	for range 3 {
		body, err := json.Marshal(map[string]string{"PartitionKey": customer, "RowKey": id})
		if err != nil {
			return err
		}
		if _, err = table.AddEntity(ctx, body, nil); err == nil {
			return nil
		}
	}
	return err
}

func handle(ctx context.Context, table *aztables.Client, queue *azqueue.QueueClient, m *azqueue.DequeuedMessage) error {
	if *m.DequeueCount > 5 {
		return nil
	}
	body, err := json.Marshal(map[string]string{"PartitionKey": *m.MessageText, "RowKey": fmt.Sprintf("%020d", time.Now().UnixNano())}) // want `a message can arrive twice`
	if err != nil {
		return err
	}
	if _, err := table.UpsertEntity(ctx, body, nil); err != nil {
		return err
	}
	_, err = queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}

func add(ctx context.Context, journal *appendblob.Client, record []byte) (err error) {
	for range 4 {
		_, err = journal.AppendBlock(ctx, streaming.NopCloser(bytes.NewReader(record)), nil) // want `the next one appends it again`
		if err == nil {
			return nil
		}
	}
	return err
}

func put(ctx context.Context, table *aztables.Client, row []byte, pause func(context.Context) error) error {
	for {
		_, err := table.UpsertEntity(ctx, row, nil) // want `a request that the service refuses is repeated for ever`
		if err == nil {
			return nil
		}
		log.Print(err)
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func putSome(ctx context.Context, table *aztables.Client, row []byte, pause func(context.Context) error) error {
	for attempt := 0; ; attempt++ {
		_, err := table.UpsertEntity(ctx, row, nil)
		if err == nil {
			return nil
		}
		if attempt > 5 {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func retry(f func() error) (err error) {
	for range 3 {
		if err = f(); err == nil {
			return nil
		}
	}
	return err
}

func chargeInClosure(ctx context.Context, table *aztables.Client, customer string) error {
	return retry(func() error {
		body, err := json.Marshal(map[string]string{"PartitionKey": customer, "RowKey": newID()}) // want `each attempt writes a row with another key`
		if err != nil {
			return err
		}
		_, err = table.AddEntity(ctx, body, nil)
		return err
	})
}
