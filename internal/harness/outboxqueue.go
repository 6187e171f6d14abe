package harness

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// OutboxQueue is a [patterns.OutboxQueue] in memory that follows the rules of Azure Queue Storage: a message is invisible
// for a time, is delivered again if no worker deletes it, and each delivery makes the earlier receipts of the message
// invalid. The zero value is empty. It is safe for concurrent use, and outlives a process that a test pretends to kill.
type OutboxQueue struct {
	mu       sync.Mutex
	messages []*queuedMessage
	receipts int
}

type queuedMessage struct {
	message patterns.OutboxMessage
	receipt patterns.Receipt
	put     time.Time
	visible time.Time
}

// Handler is the part of a Store that processes outbox messages.
type Handler interface {
	Handle(context.Context, patterns.OutboxMessage) (time.Duration, error)
}

// Put implements patterns.OutboxQueue.
func (q *OutboxQueue) Put(_ context.Context, m patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.receipts++
	r := patterns.Receipt{ID: fmt.Sprint("m", q.receipts), PopReceipt: fmt.Sprint("p", q.receipts)}
	q.messages = append(q.messages, &queuedMessage{m, r, time.Now(), time.Now().Add(after)})
	return r, nil
}

// Delete implements patterns.OutboxQueue. It ignores an invalid receipt.
func (q *OutboxQueue) Delete(_ context.Context, r patterns.Receipt) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages = slices.DeleteFunc(q.messages, func(m *queuedMessage) bool { return m.receipt == r })
	return nil
}

// Len returns the number of messages, visible or not.
func (q *OutboxQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.messages)
}

// Message returns the nth message from 0, visible or not, without receiving it.
func (q *OutboxQueue) Message(nth int) patterns.OutboxMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.messages[nth].message
}

// Clear loses all messages.
func (q *OutboxQueue) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages = nil
}

// ShowFirst makes the first message visible before its time.
func (q *OutboxQueue) ShowFirst() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.messages) > 0 {
		q.messages[0].visible = time.Now()
	}
}

// receive returns a visible message and hides it for a time.
func (q *OutboxQueue) receive(hide time.Duration) (patterns.OutboxMessage, patterns.Receipt, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.messages {
		if !m.visible.After(time.Now()) {
			q.deliver(m, hide)
			return m.message, m.receipt, true
		}
	}
	return patterns.OutboxMessage{}, patterns.Receipt{}, false
}

// deliver replaces the receipt of m and hides it for a time.
func (q *OutboxQueue) deliver(m *queuedMessage, hide time.Duration) {
	q.receipts++
	m.receipt.PopReceipt = fmt.Sprint("p", q.receipts)
	m.visible = time.Now().Add(hide)
	m.message.Age = max(time.Since(m.put), 1) // 0 means unknown
}

// delay hides a delivered message for another while.
func (q *OutboxQueue) delay(r patterns.Receipt, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.messages {
		if m.receipt == r {
			m.visible = time.Now().Add(after)
		}
	}
}

// WorkOne has h handle one visible message, as a worker does that hides the message for the given time. It returns false
// if no message is visible. A message that h fails to handle becomes visible again after that time.
func (q *OutboxQueue) WorkOne(ctx context.Context, h Handler, hide time.Duration) (bool, error) {
	m, r, ok := q.receive(hide)
	if !ok {
		return false, nil
	}
	again, err := h.Handle(ctx, m)
	switch {
	case again > 0:
		q.delay(r, again)
		return true, nil
	case err != nil:
		return true, err
	}
	return true, q.Delete(ctx, r)
}

// Work has handle handle every message once, visible or not, as a late worker does. Messages that fail, or that are to be
// delivered again, remain. It returns the last error.
func (q *OutboxQueue) Work(ctx context.Context, handle func(context.Context, patterns.OutboxMessage) (time.Duration, error)) error {
	q.mu.Lock()
	var round []queuedMessage
	for _, m := range q.messages {
		q.deliver(m, 0)
		round = append(round, *m)
	}
	q.mu.Unlock()
	var failed error
	for _, m := range round {
		again, err := handle(ctx, m.message)
		if again > 0 {
			continue
		}
		if err != nil {
			failed = err
		} else {
			_ = q.Delete(ctx, m.receipt) // never fails
		}
	}
	return failed
}
