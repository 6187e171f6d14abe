package right

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Reminder struct {
	User string        `json:"user"`
	Text string        `json:"text"`
	In   time.Duration `json:"-"`
}

const longest = 6 * 24 * time.Hour

type Scheduler struct{ q *azqueue.QueueClient }

func units(d time.Duration) *int32 {
	n := int32(d.Seconds())
	return &n
}

// Schedule sends a reminder that shows up after r.In.
func (s *Scheduler) Schedule(ctx context.Context, r Reminder) error {
	if r.In < time.Second || r.In > longest {
		return fmt.Errorf("delay %s is not possible", r.In)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.q.EnqueueMessage(ctx, string(body), &azqueue.EnqueueMessageOptions{
		VisibilityTimeout: units(r.In),
		TimeToLive:        units(r.In + 24*time.Hour),
	})
	if err != nil {
		return fmt.Errorf("schedule for %s: %w", r.User, err)
	}
	return nil
}

func (s *Scheduler) Evening(ctx context.Context, user, text string, now time.Time) error {
	at := time.Date(now.Year(), now.Month(), now.Day(), 19, 0, 0, 0, now.Location())
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return s.Schedule(ctx, Reminder{User: user, Text: text, In: at.Sub(now)})
}
