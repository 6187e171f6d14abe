package right

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

type Mailer struct {
	outbox *azqueue.QueueClient
	bodies *azblob.Client
}

type outgoing struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// Send queues a mail; newsletters with pictures inside reach some hundred KB.
func (m *Mailer) Send(ctx context.Context, rcpt, subject, html string) error {
	msg := outgoing{To: rcpt, Subject: subject}
	msg.Body = uuid.NewString() + ".html"
	if _, err := m.bodies.UploadBuffer(ctx, "mails", msg.Body, []byte(html), nil); err != nil {
		return fmt.Errorf("store mail for %s: %w", rcpt, err)
	}
	raw, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(raw)
	if _, err := m.outbox.EnqueueMessage(ctx, text, nil); err != nil {
		return fmt.Errorf("queue mail for %s: %w", rcpt, err)
	}
	return nil
}

// SendAll queues the same newsletter for a list of recipients.
func (m *Mailer) SendAll(ctx context.Context, rcpts []string, subject, html string) error {
	for _, r := range rcpts {
		if err := m.Send(ctx, r, subject, html); err != nil {
			return err
		}
	}
	return nil
}
