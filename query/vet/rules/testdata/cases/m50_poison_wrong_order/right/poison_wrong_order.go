package intake

import (
	"context"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Intake struct {
	main   *azqueue.QueueClient
	poison *azqueue.QueueClient
	logger *slog.Logger
}

func New(svc *azqueue.ServiceClient, name string, l *slog.Logger) *Intake {
	return &Intake{main: svc.NewQueueClient(name), poison: svc.NewQueueClient(name + "-poison"), logger: l}
}

func (in *Intake) reject(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if _, err := in.poison.EnqueueMessage(ctx, *m.MessageText, &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))}); err != nil {
		return err
	}
	_, err := in.main.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}

func (in *Intake) Handle(ctx context.Context, m *azqueue.DequeuedMessage, work func(context.Context, string) error) error {
	if *m.DequeueCount > 5 {
		in.logger.Warn("rejected", "id", *m.MessageID)
		return in.reject(ctx, m)
	}
	if err := work(ctx, *m.MessageText); err != nil {
		return err
	}
	_, err := in.main.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}
