package publish

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const limit = 64 << 10

var ErrTooLarge = errors.New("event is too large for a message")

type Publisher struct {
	queue *azqueue.QueueClient
}

func pack(v any) (string, error) {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if err := json.NewEncoder(zw).Encode(v); err != nil {
		return "", err
	}
	if err := zw.Close(); err != nil {
		return "", err
	}
	return buf.String(), nil // MISTAKE: packed bytes are not legal XML text and get lost or refused; they need base64
}

// Publish sends an event; readers undo what pack does.
func (p *Publisher) Publish(ctx context.Context, event any) error {
	text, err := pack(event)
	if err != nil {
		return err
	}
	if len(text) > limit {
		return ErrTooLarge
	}
	_, err = p.queue.EnqueueMessage(ctx, text, nil)
	return err
}
