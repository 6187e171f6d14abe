package eventual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
)

// PoisonQueue lists, replays and discards the messages of a poison queue. It reads
// messages that a [Worker] has put there, and also those of other hosts such as Azure
// Functions. Create it with [NewPoisonQueue] or [Worker.PoisonQueue]. It may be used
// concurrently; a [PoisonMessage] may not.
type PoisonQueue struct {
	main, poison queue
	container    *container.Client
	visibility   time.Duration
}

// PoisonQueueOptions are the options of [NewPoisonQueue]. nil and the zero value mean
// the defaults.
type PoisonQueueOptions struct {
	// Container contains the payloads that are too large for a message. Without it
	// Discard does not delete them; [Claims.Sweep] does.
	Container *container.Client

	// SigningKeys verify the messages of the poison queue, and the first one signs those that
	// Replay adds to the main queue: see [Options.SigningKeys]. A message that none of them has
	// signed is listed as one of another host, and replayed as it is.
	SigningKeys [][]byte

	// Visibility is how long [PoisonQueue.Take] hides the messages that it receives, 1
	// second to 7 days. Zero means 5 minutes.
	Visibility time.Duration
}

// NewPoisonQueue returns a PoisonQueue for a queue and its poison queue, which must be
// different queues. It makes no request.
func NewPoisonQueue(main, poison *azqueue.QueueClient, opts *PoisonQueueOptions) (*PoisonQueue, error) {
	if main == nil || poison == nil {
		return nil, fmt.Errorf("new poison queue: queue: %w", patterns.ErrNil)
	}
	if main.URL() == poison.URL() { // Take would receive replayed messages again, endlessly
		return nil, azerr.Errorf("new poison queue: %w: the two queues are the same", azerr.ErrBadOption)
	}
	o := *cmp.Or(opts, &PoisonQueueOptions{})
	o.SigningKeys = copyKeys(o.SigningKeys)
	if err := checkKeys("PoisonQueueOptions.SigningKeys", o.SigningKeys); err != nil {
		return nil, fmt.Errorf("new poison queue: %w", err)
	}
	p := &PoisonQueue{main: queue{main, o.SigningKeys}, poison: queue{poison, o.SigningKeys}, container: o.Container, visibility: o.Visibility}
	setDefault(&p.visibility, 5*time.Minute)
	if p.visibility < time.Second || p.visibility > maxVisibility {
		return nil, azerr.Errorf("new poison queue: %w: PoisonQueueOptions.Visibility: not from 1 second to 7 days", azerr.ErrBadOption)
	}
	return p, nil
}

// PoisonQueue returns the PoisonQueue of the worker's queue and [Options.Poison]. It
// returns an error that matches [patterns.ErrNil] if the worker has no poison queue.
func (w *Worker) PoisonQueue() (*PoisonQueue, error) {
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("poison queue: %w", err)
	}
	return NewPoisonQueue(w.queue.client, w.poison.client, &PoisonQueueOptions{Container: w.opts.Container, SigningKeys: w.opts.SigningKeys})
}

// check returns an error if NewPoisonQueue did not create p.
func (p *PoisonQueue) check() error {
	if p == nil || p.poison.client == nil {
		return fmt.Errorf("poison queue: %w", patterns.ErrNil)
	}
	return nil
}

// PoisonMessage is a message of a poison queue. Its ID, Kind, Reason and OriginalID are
// printable; Payload may contain any bytes.
type PoisonMessage struct {
	ID         string    // of the operation, or of the message if the operation's is unknown
	Kind       string    // Raw if the message was unreadable, "" if another host moved it
	Reason     string    // why it was moved to the poison queue, "" if unknown
	Attempts   int       // number of attempts, 0 if unknown
	Enqueued   time.Time // when it was added to the main queue, zero if unknown
	PoisonedAt time.Time // when it was moved to the poison queue
	OriginalID string    // the message's id in the main queue, "" if unknown

	// Payload is what the handler received, or would have received: JSON, or the text of
	// a message that Enqueue did not write. It is nil if the payload is in a blob.
	Payload []byte

	m       message
	env     envelope
	text    *string // to put back; nil if env is to be encoded
	handled bool    // replayed or discarded
}

// newPoisonMessage decodes a message of the poison queue.
func (q queue) newPoisonMessage(m message) *PoisonMessage {
	pm := &PoisonMessage{ID: azerr.Printable(m.id), Enqueued: m.inserted, PoisonedAt: m.inserted, m: m}
	env, err := q.parse(m.text)
	if err != nil || env.Poison == nil {
		pm.text, pm.Payload = &m.text, Text(m.text)
		return pm
	}
	info := env.Poison
	pm.ID, pm.Kind, pm.Enqueued = cmp.Or(env.ID, pm.ID), env.Kind, env.At
	pm.Reason, pm.Attempts, pm.PoisonedAt, pm.OriginalID = info.Reason, info.Attempts, info.At, info.Message
	if pm.Enqueued.IsZero() {
		pm.Enqueued = info.Inserted
	}
	if env.Text != nil {
		pm.text, pm.Payload = env.Text, Text(*env.Text)
	} else {
		pm.Payload = env.Body
	}
	env.Poison, env.Free = nil, 0
	pm.env = env
	return pm
}

// Peek returns up to n of the first visible messages. The service returns at most 32
// messages that way. They stay visible, and can be neither replayed nor discarded: see
// [PoisonQueue.Take]. One request.
func (p *PoisonQueue) Peek(ctx context.Context, n int) ([]*PoisonMessage, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("peek: %w", err)
	}
	ms, err := p.poison.peek(ctx, min(max(n, 1), maxReceive))
	if err != nil {
		return nil, fmt.Errorf("peek: %w", err)
	}
	pms := make([]*PoisonMessage, len(ms))
	for i := range ms {
		pms[i] = p.poison.newPoisonMessage(ms[i])
	}
	return pms, nil
}

// Take returns all messages of the queue, each of them once, and hides them from other
// clients while the loop runs. When the loop ends, the messages that it neither replayed
// nor discarded become visible again. An error ends the sequence.
//
// One request for each 32 messages, one that finds no more, and one for each message
// that becomes visible again. A loop that runs for longer than
// PoisonQueueOptions.Visibility receives messages again, which takes further requests.
func (p *PoisonQueue) Take(ctx context.Context) iter.Seq2[*PoisonMessage, error] {
	return func(yield func(*PoisonMessage, error) bool) {
		if err := p.check(); err != nil {
			yield(nil, fmt.Errorf("take: %w", err))
			return
		}
		var received []*PoisonMessage
		defer func() { p.unlease(ctx, received) }()
		yielded := map[string]bool{}
		for {
			ms, err := p.poison.receive(ctx, maxReceive, p.visibility)
			if err != nil {
				yield(nil, fmt.Errorf("take: %w", err))
				return
			}
			var fresh []*PoisonMessage
			for i := range ms {
				pm := p.poison.newPoisonMessage(ms[i])
				received = append(received, pm)
				if !yielded[pm.m.id] {
					fresh = append(fresh, pm)
				}
				yielded[pm.m.id] = true
			}
			if len(fresh) == 0 {
				return // the queue is empty, or contains only messages that were yielded
			}
			for _, pm := range fresh {
				if !yield(pm, nil) {
					return
				}
			}
		}
	}
}

// unlease makes messages visible again. After an error they become visible when their
// visibility timeout ends.
func (p *PoisonQueue) unlease(ctx context.Context, received []*PoisonMessage) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalTimeout)
	defer cancel()
	for _, pm := range received {
		if !pm.handled {
			//azvet:ignore dropped the message becomes visible by itself, later
			_ = p.poison.update(ctx, &pm.m, pm.m.text, 0)
		}
	}
}

// Replay adds the message to the main queue, with the full number of attempts, and then
// deletes it from the poison queue. If the message does not come from Take, the error is
// [ErrNotLeased]. Replaying a message a second time does nothing. After a crash between
// the two steps the message is in both queues, with the same operation ID. If no response
// arrived, Replay may add the message to the main queue once more, minutes later.
//
// Two requests, and one more if half of PoisonQueueOptions.Visibility has passed since
// Take received the message. If another client has received it by then, Replay returns
// [ErrLeaseLost].
func (p *PoisonQueue) Replay(ctx context.Context, pm *PoisonMessage) error {
	if err := p.replay(ctx, pm); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

func (p *PoisonQueue) replay(ctx context.Context, pm *PoisonMessage) error {
	if handled, err := p.leased(pm); handled || err != nil {
		return err
	}
	if err := p.renew(ctx, pm); err != nil {
		return err
	}
	text, err := pm.replayText(p.main)
	if err != nil {
		return err
	}
	if err := p.main.add(ctx, text, 0, 0); err != nil {
		return err
	}
	// If another client has received the message since, it may be replayed twice. This
	// call has added it to the main queue, as the caller asked.
	if err := p.poison.delete(ctx, pm.m.id, pm.m.popReceipt); err != nil && !errors.Is(err, ErrLeaseLost) {
		return err
	}
	pm.handled = true
	return nil
}

// replayText is the text for the main queue q.
func (pm *PoisonMessage) replayText(q queue) (string, error) {
	if pm.text != nil {
		return *pm.text, nil
	}
	return pm.env.encode(q)
}

// leased returns an error unless pm comes from Take. It reports whether pm was replayed
// or discarded already.
func (p *PoisonQueue) leased(pm *PoisonMessage) (handled bool, err error) {
	switch err := p.check(); {
	case err != nil:
		return false, err
	case pm == nil:
		return false, fmt.Errorf("message: %w", patterns.ErrNil)
	case pm.m.hidden.IsZero():
		return false, ErrNotLeased
	}
	return pm.handled, nil
}

// renew extends the lease of a message if half of it is over.
func (p *PoisonQueue) renew(ctx context.Context, pm *PoisonMessage) error {
	if calls.Elapsed(pm.m.hidden) < p.visibility/2 {
		return nil
	}
	return p.poison.update(ctx, &pm.m, pm.m.text, p.visibility)
}

// Discard deletes the message, and then its payload if that is in a blob and
// PoisonQueueOptions.Container is set. If the message does not come from Take, the error
// is [ErrNotLeased]. Discard returns nil if the message does not exist any more, and
// [ErrLeaseLost] if another client has received it since. If the blob is not of the size that
// the message names, it stays, and the error is [ErrClaimDamaged]. One request, and two for a
// blob.
func (p *PoisonQueue) Discard(ctx context.Context, pm *PoisonMessage) error {
	if err := p.discard(ctx, pm); err != nil {
		return fmt.Errorf("discard: %w", err)
	}
	return nil
}

func (p *PoisonQueue) discard(ctx context.Context, pm *PoisonMessage) error {
	if handled, err := p.leased(pm); handled || err != nil {
		return err
	}
	err := p.poison.delete(ctx, pm.m.id, pm.m.popReceipt)
	if err != nil && !hasCode(err, "MessageNotFound") {
		return err
	}
	pm.handled = true
	if err == nil && pm.env.Claim != nil && p.container != nil {
		return discardPayload(ctx, p.container, pm.env.Claim)
	}
	return nil
}
