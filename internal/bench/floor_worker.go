package bench

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// workerRows are the operations of queues and of their workers.
func workerRows() []Row {
	return []Row{enqueue(), receive()}
}

type move struct{ From, To string }

type handMessage struct {
	ID, Kind string
	Payload  move
}

func enqueue() Row {
	const queue = "work"
	job := move{"Sales/000123", "Archive/000123"}
	return Row{
		Name: "Enqueue", Unit: "message", Goal: Goal{Ratio: 1.3},
		Setup: func(ctx context.Context, c *Clients) error {
			_, err := c.Queue(queue).Create(ctx, nil)
			return err
		},
		Hand: func(c *Clients) (Run, error) {
			q := c.Queue(queue)
			return func(ctx context.Context) error {
				text, err := json.Marshal(handMessage{uuid.NewString(), "move", job})
				if err != nil {
					return err
				}
				_, err = q.EnqueueMessage(ctx, base64.StdEncoding.EncodeToString(text), &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))})
				return err
			}, nil
		},
		Ours: func(c *Clients) (Run, error) {
			q := c.Queue(queue)
			return func(ctx context.Context) error { return eventual.Enqueue(ctx, q, "move", job, nil) }, nil
		},
	}
}
