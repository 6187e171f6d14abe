package limits

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type sender struct {
	queue *azqueue.QueueClient
	life  int32
}

func newSender(queue *azqueue.QueueClient) *sender { return &sender{queue: queue, life: 30} }

func (s *sender) send(ctx context.Context, v any, samples []int16) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.queue.EnqueueMessage(ctx, string(text), &azqueue.EnqueueMessageOptions{TimeToLive: &s.life}) // want `no worker takes within 30 s is dropped.*limits, error`
	if err != nil {
		return err
	}
	raw := encode(samples)
	_, err = s.queue.EnqueueMessage(ctx, string(raw), nil) // want `a message is text in XML`
	if err != nil {
		return err
	}
	_, err = s.queue.EnqueueMessage(ctx, base64.StdEncoding.EncodeToString(raw), nil)
	return err
}

func encode(samples []int16) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, samples)
	return b.Bytes()
}

func receive(ctx context.Context, queue *azqueue.QueueClient) {
	const many int32 = 64
	queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(many)})      // want `the service refuses more than 32 for NumberOfMessages`
	queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32))}) // as many as possible
}

const linesTable = "order-lines"

func open(ctx context.Context, tables *aztables.ServiceClient, queues *azqueue.ServiceClient) {
	tables.NewClient(linesTable)             // want `the service refuses this name`
	tables.CreateTable(ctx, "orders", nil)   // once
	queues.NewQueueClient("Jobs")            // want `the service refuses this name`
	queues.CreateQueue(ctx, "jobs-eu1", nil) // once
}

func reset(ctx context.Context, tables *aztables.ServiceClient) error {
	if _, err := tables.DeleteTable(ctx, "orders", nil); err != nil {
		return err
	}
	_, err := tables.CreateTable(ctx, "orders", nil) // want `the service needs at least 30 s to delete this`
	return err
}

func stage(ctx context.Context, blob *blockblob.Client, l *lease.BlobClient, n int) {
	blob.StageBlock(ctx, id(n), nil, nil)                                                                  // want `the ids of all blocks of a blob must have the same length` `the error of this write is dropped`
	blob.StageBlock(ctx, base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("part-%06d", n))), nil, nil) // want `the error of this write is dropped`
	l.AcquireLease(ctx, 90, nil)                                                                           // want `a lease lasts 15 to 60 seconds`
	l.AcquireLease(ctx, 60, nil)
}

func id(n int) string { return base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("part-%d", n))) }

type index struct {
	aztables.Entity
	IDs string
}

func addID(ctx context.Context, table *aztables.Client, id string) error {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	var row index
	if err := json.Unmarshal(reply.Value, &row); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"PartitionKey": "p", "RowKey": "r", "IDs": row.IDs + "," + id}) // want `this property grows with each write`
	if err != nil {
		return err
	}
	_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag})
	return err
}

func tenant(ctx context.Context, tables *aztables.ServiceClient, name string) {
	tables.CreateTable(ctx, "orders_"+name, nil) // want `the service refuses this name`
	tables.CreateTable(ctx, "orders"+name, nil)
}

func patient() policy.RetryOptions {
	return policy.RetryOptions{MaxRetries: 1000} // want `during an outage each call is repeated for so long`
}
