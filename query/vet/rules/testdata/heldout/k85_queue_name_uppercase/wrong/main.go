package topology

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/queueerror"
)

type Topology struct {
	service *azqueue.ServiceClient
}

const (
	orderEvents = "OrderEvents" // MISTAKE: Queue names must consist of lower-case letters, digits and hyphens, so this queue can never be created.
	orderPoison = "order-events-poison"
)

// Ensure creates the queues of the order service where they are missing.
func (t *Topology) Ensure(ctx context.Context) error {
	for _, name := range []string{orderEvents, orderPoison} {
		_, err := t.service.CreateQueue(ctx, name, nil)
		if err != nil && !queueerror.HasCode(err, queueerror.QueueAlreadyExists) {
			return fmt.Errorf("creating queue %s: %w", name, err)
		}
	}
	return nil
}

func (t *Topology) Events() *azqueue.QueueClient { return t.service.NewQueueClient(orderEvents) }

func (t *Topology) Poison() *azqueue.QueueClient { return t.service.NewQueueClient(orderPoison) }
