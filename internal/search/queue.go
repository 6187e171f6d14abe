package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// Queue is the outbox queue of a run. A worker may receive any message at any time, as if all before had been received, or its
// time had come. A message is delivered again if it is not deleted, and each delivery makes the earlier receipts invalid.
type Queue struct {
	world    *World
	messages []*message
	named    map[string]bool // the names of the operations in all messages that were put
}

type message struct {
	id        string
	content   patterns.OutboxMessage
	put       time.Time
	delivered int
}

func (m *message) receipt() patterns.Receipt {
	return patterns.Receipt{ID: m.id, PopReceipt: fmt.Sprint(m.delivered)}
}

func (q *Queue) find(id string) int {
	return slices.IndexFunc(q.messages, func(m *message) bool { return m.id == id })
}

// Named reports whether a message with the operation was put, by the name of its id.
func (q *Queue) Named(operation string) bool { return q.named[operation] }

// Len returns the number of messages.
func (q *Queue) Len() int { return len(q.messages) }

// HandleAll delivers every message once to handle, as a worker does.
func (q *Queue) HandleAll(ctx context.Context, handle func(context.Context, patterns.OutboxMessage) (time.Duration, error)) error {
	for _, m := range slices.Clone(q.messages) {
		m.delivered++
		one := m.content
		one.Age = max(time.Since(m.put), 1)
		again, err := handle(ctx, one)
		if err != nil && again == 0 {
			return err
		}
		if i := q.find(m.id); i >= 0 && again == 0 {
			q.messages = slices.Delete(q.messages, i, i+1)
		}
	}
	return nil
}

// text is what the queue contains.
func (q *Queue) text() string {
	var all []string
	for _, m := range q.messages {
		text, _ := json.Marshal(m.content) // plain data
		all = append(all, fmt.Sprint(m.id, " ", m.delivered, " ", q.world.names.time(m.put.UTC().Format(timeLayout)), " ", string(text)))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// Outbox returns the queue as the process sees it.
func (c *Client) Outbox() patterns.OutboxQueue { return clientQueue{c} }

type clientQueue struct{ *Client }

func (c clientQueue) Put(_ context.Context, m patterns.OutboxMessage, _ time.Duration) (r patterns.Receipt, err error) {
	c.mu.Lock()
	c.nth++
	id := fmt.Sprint(c.Name, c.nth)
	c.mu.Unlock()
	text, _ := json.Marshal(m)
	err = c.wait(&request{
		raw: "put message " + id + " " + string(text), access: messageAccess(id), late: true,
		do: func(context.Context, string) (string, error) {
			one := &message{id: id, content: m, put: time.Now()}
			q := c.world.Queue
			q.messages = append(q.messages, one)
			for _, op := range append(m.Others, m) {
				q.named[q.world.names.id(c.Name, op.ID)] = true
			}
			r = one.receipt()
			return "put", nil
		},
	})
	return r, err
}

func (c clientQueue) Delete(_ context.Context, r patterns.Receipt) error {
	return c.wait(&request{
		raw: "delete message " + r.ID + " " + r.PopReceipt, access: messageAccess(r.ID), late: true,
		do: func(context.Context, string) (string, error) {
			q := c.world.Queue
			if i := q.find(r.ID); i >= 0 && q.messages[i].receipt() == r {
				q.messages = slices.Delete(q.messages, i, i+1)
			}
			return "deleted", nil
		},
	})
}

// messages is the place of all messages.
const messages = "message"

func messageAccess(id string) access { return access{[]string{messages + "\x00" + id}, true} }

// old is added to the id of a message that is delivered as if its operation had taken longer than the grace time.
const old = ", old"

// Receive waits until a message is chosen, and has handle handle it, as a worker does. A message is deleted if handle returns
// zero and no error.
func (c *Client) Receive(ctx context.Context, handle func(context.Context, patterns.OutboxMessage) (time.Duration, error)) error {
	var got patterns.OutboxMessage
	var receipt patterns.Receipt
	q := c.world.Queue
	err := c.wait(&request{
		raw: "receive",
		among: func() (all []string) {
			for _, m := range q.messages {
				all = append(all, m.id)
				if m.content.Grace > time.Since(m.put) {
					all = append(all, m.id+old)
				}
			}
			slices.Sort(all)
			return all
		},
		access: access{[]string{messages}, true},
		do: func(_ context.Context, id string) (string, error) {
			m := q.messages[q.find(strings.TrimSuffix(id, old))]
			m.delivered++
			got, receipt = m.content, m.receipt()
			got.Age = max(time.Since(m.put), 1) // 0 means unknown
			if strings.HasSuffix(id, old) {
				got.Age = got.Grace
			}
			return fmt.Sprint(got.ID, " ", got.Age < got.Grace), nil
		},
	})
	if err != nil {
		return err
	}
	again, err := handle(ctx, got)
	if again > 0 {
		return nil // it is delivered again, also if the operation may be in progress
	}
	if err != nil {
		return err
	}
	return c.Outbox().Delete(ctx, receipt)
}
