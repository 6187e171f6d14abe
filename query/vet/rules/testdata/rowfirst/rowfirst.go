package rowfirst

import (
	"context"
	"encoding/json"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type order struct {
	PartitionKey string
	RowKey       string
}

type shop struct {
	orders *aztables.Client
	queue  *azqueue.QueueClient
	files  *container.Client
}

func (s *shop) place(ctx context.Context, customer, id string) error {
	body, err := json.Marshal(order{PartitionKey: customer, RowKey: id})
	if err != nil {
		return err
	}
	if _, err := s.orders.AddEntity(ctx, body, nil); err != nil {
		return err
	}
	_, err = s.queue.EnqueueMessage(ctx, id, nil) // want `no one learns of the row.*rowfirst, warning`
	return err
}

func (s *shop) placeLater(ctx context.Context, customer, id string) error {
	body, err := json.Marshal(order{PartitionKey: customer, RowKey: id})
	if err != nil {
		return err
	}
	if _, err := s.queue.EnqueueMessage(ctx, id, nil); err != nil {
		return err
	}
	_, err = s.orders.AddEntity(ctx, body, nil)
	return err
}

// hint sends what a sweep repairs: its error is only logged.
func (s *shop) hint(ctx context.Context, customer, id string) error {
	body, err := json.Marshal(order{PartitionKey: customer, RowKey: id})
	if err != nil {
		return err
	}
	if _, err := s.orders.AddEntity(ctx, body, nil); err != nil {
		return err
	}
	if _, err := s.queue.EnqueueMessage(ctx, id, nil); err != nil { //azvet:ignore dropped a sweep sends it again
		log.Print(err)
	}
	return nil
}

func (s *shop) store(ctx context.Context, o order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = s.orders.AddEntity(ctx, body, nil)
	return err
}

func (s *shop) upload(ctx context.Context, id string, text []byte) error {
	_, err := s.files.NewBlockBlobClient(id).UploadBuffer(ctx, text, nil)
	return err
}

func (s *shop) attach(ctx context.Context, customer, id string, text []byte) error {
	if err := s.store(ctx, order{PartitionKey: customer, RowKey: id}); err != nil {
		return err
	}
	return s.upload(ctx, id, text) // want `the row that was written before refers to a blob that does not exist`
}

func (s *shop) attachSafely(ctx context.Context, customer, id string, text []byte) error {
	if err := s.upload(ctx, id, text); err != nil {
		return err
	}
	return s.store(ctx, order{PartitionKey: customer, RowKey: id})
}
