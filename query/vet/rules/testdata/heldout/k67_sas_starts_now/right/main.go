package producer

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"
)

type Ticket struct {
	URL     string
	Expires time.Time
}

type Issuer struct {
	queue *azqueue.QueueClient
	valid time.Duration
}

func NewIssuer(queue *azqueue.QueueClient) *Issuer {
	return &Issuer{queue: queue, valid: 20 * time.Minute}
}

// Issue lets a device put messages into the queue for a short while.
func (i *Issuer) Issue() (Ticket, error) {
	now := time.Now().UTC()
	start := now.Add(-15 * time.Minute)
	expires := now.Add(i.valid)
	url, err := i.queue.GetSASURL(
		sas.QueuePermissions{Add: true},
		expires,
		&azqueue.GetSASURLOptions{StartTime: &start},
	)
	if err != nil {
		return Ticket{}, fmt.Errorf("signing: %w", err)
	}
	return Ticket{URL: url, Expires: expires}, nil
}
