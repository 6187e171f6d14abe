package eventual

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
)

// Poison looks through a poison queue, and sends its messages back or throws them
// away. It understands what a [Worker] buried, and takes messages that other hosts,
// such as Azure Functions, put there as they are.
type Poison struct {
	main, dead queue
	container  *container.Client
	hide       time.Duration
}

// PoisonOptions are the options of [NewPoison]. nil and the zero value mean the
// defaults.
type PoisonOptions struct {
	// Container holds the payloads that were too large for a message. Without it
	// Discard leaves them to [SweepClaims].
	Container *container.Client

	// Visibility is for how long [Poison.Take] hides what it takes, 1 second to 7
	// days. Zero means 5 minutes.
	Visibility time.Duration
}

// NewPoison makes a Poison of a queue and its poison queue. It makes no request.
func NewPoison(main, poison *azqueue.QueueClient, opts *PoisonOptions) (*Poison, error) {
	if main == nil || poison == nil {
		return nil, fmt.Errorf("new poison: queue: %w", patterns.ErrNil)
	}
	if main.URL() == poison.URL() { // Take would meet what Replay puts back, for ever
		return nil, errors.New("new poison: the two queues are one")
	}
	p := &Poison{main: queue{main}, dead: queue{poison}}
	if opts != nil {
		p.container, p.hide = opts.Container, opts.Visibility
	}
	set(&p.hide, 5*time.Minute)
	if p.hide < time.Second || p.hide > maxHide {
		return nil, errors.New("new poison: PoisonOptions.Visibility: not from 1 second to 7 days")
	}
	return p, nil
}

// Poison gives the tools for the worker's own poison queue; the error is that it has
// none.
func (w *Worker) Poison() (*Poison, error) {
	return NewPoison(w.queue.client, w.poison.client, &PoisonOptions{Container: w.opts.Container})
}

// Dead is a message of a poison queue.
type Dead struct {
	ID       string    // of the operation; of the message where nothing else is known
	Kind     string    // Raw where it could not be read, "" where another host buried it
	Reason   string    // why it was given up, "" where it is not known
	Attempts int       // how many there were, 0 where it is not known
	Enqueued time.Time // when it was put on the main queue
	Buried   time.Time // when it was given up
	Original string    // the id that the message had in the main queue

	// Payload is what the handler was given, or would have been: JSON, or the text
	// of a message that Enqueue did not write. nil where it is in a blob.
	Payload []byte

	m       message
	env     envelope
	text    *string // to put back; nil where it is made of env
	taken   time.Time
	settled bool
}

func open(m message, taken time.Time) *Dead {
	d := &Dead{ID: m.id, Enqueued: m.inserted, Buried: m.inserted, m: m, taken: taken}
	env, err := parse(m.text)
	if err != nil || env.Burial == nil {
		d.text, d.Payload = &m.text, Text(m.text)
		return d
	}
	b := env.Burial
	d.ID, d.Kind, d.Enqueued = env.ID, env.Kind, env.At
	d.Reason, d.Attempts, d.Buried, d.Original = b.Reason, b.Attempts, b.At, b.Message
	if d.Enqueued.IsZero() {
		d.Enqueued = b.Inserted
	}
	if env.Text != nil {
		d.text, d.Payload = env.Text, Text(*env.Text)
	} else {
		d.Payload = env.Body
	}
	env.Burial, env.Free = nil, 0
	d.env = env
	return d
}

// Peek looks at up to n of the first messages, at most 32: no queue shows more
// without taking them. It changes nothing and gives no right to change anything. One
// request.
func (p *Poison) Peek(ctx context.Context, n int) ([]*Dead, error) {
	ms, err := p.dead.peek(ctx, min(max(n, 1), maxFetch))
	if err != nil {
		return nil, fmt.Errorf("peek: %w", err)
	}
	dead := make([]*Dead, len(ms))
	for i := range ms {
		dead[i] = open(ms[i], time.Time{})
	}
	return dead, nil
}

// Take goes through the whole queue. Messages are hidden from others as they come;
// those that the loop neither replays nor discards are shown again when it ends.
// After an error the sequence ends.
//
// One request for 32 messages and one that finds no more, and one for each message
// shown again.
func (p *Poison) Take(ctx context.Context) iter.Seq2[*Dead, error] {
	return func(yield func(*Dead, error) bool) {
		var taken []*Dead
		defer func() { p.putBack(ctx, taken) }()
		seen := map[string]bool{}
		for {
			now := time.Now()
			ms, err := p.dead.get(ctx, maxFetch, p.hide)
			if err != nil {
				yield(nil, fmt.Errorf("take: %w", err))
				return
			}
			var unseen []*Dead
			for i := range ms {
				d := open(ms[i], now)
				taken = append(taken, d)
				if !seen[d.m.id] {
					unseen = append(unseen, d)
				}
				seen[d.m.id] = true
			}
			if len(unseen) == 0 {
				return // all were shown, or none but those come that were
			}
			for _, d := range unseen {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

// putBack shows messages again. What it cannot show appears by itself.
func (p *Poison) putBack(ctx context.Context, taken []*Dead) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	for _, d := range taken {
		if !d.settled {
			_ = p.dead.update(ctx, &d.m, d.m.text, 0)
		}
	}
}

// hold makes sure that nobody else has the message.
func (p *Poison) hold(ctx context.Context, d *Dead) error {
	switch {
	case d.taken.IsZero():
		return ErrNotHeld
	case time.Since(d.taken) < p.hide/2:
		return nil
	}
	now := time.Now()
	err := p.dead.update(ctx, &d.m, d.m.text, p.hide)
	if errors.Is(err, errTaken) {
		return ErrLost
	}
	if err == nil {
		d.taken = now
	}
	return err
}

// Replay puts the message back on the main queue, with all attempts before it, and
// then deletes it here. It must come from Take. Replaying it again does nothing. A
// crash in between leaves it in both queues, with the same operation ID. Two
// requests; one more when it was taken long ago, and [ErrLost] where somebody else
// has it by then.
func (p *Poison) Replay(ctx context.Context, d *Dead) error {
	if d.settled {
		return nil
	}
	err := p.hold(ctx, d)
	if err == nil {
		var text string
		if d.text != nil {
			text = *d.text
		} else {
			text, err = d.env.encode()
		}
		if err == nil {
			_, _, err = p.main.put(ctx, text, 0, 0)
		}
	}
	if err == nil {
		// Where somebody has taken it meanwhile, there are two; that it is back on its
		// way is what was asked for.
		if err = p.dead.remove(ctx, d.m.id, d.m.receipt); errors.Is(err, errTaken) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	d.settled = true
	return nil
}

// Discard deletes the message, and its payload if that is in a blob. It must come
// from Take. A message that is gone already is fine; one that somebody else has
// taken meanwhile is [ErrLost]. One request, and one for a blob.
func (p *Poison) Discard(ctx context.Context, d *Dead) error {
	if d.settled {
		return nil
	}
	if d.taken.IsZero() {
		return fmt.Errorf("discard: %w", ErrNotHeld)
	}
	err := p.dead.remove(ctx, d.m.id, d.m.receipt)
	switch {
	case hasCode(err, "MessageNotFound"):
		d.settled = true
		return nil
	case errors.Is(err, errTaken):
		err = ErrLost
	}
	if err != nil {
		return fmt.Errorf("discard: %w", err)
	}
	d.settled = true
	if d.env.Claim != nil && p.container != nil {
		if err := discard(ctx, p.container, d.env.Claim); err != nil {
			return fmt.Errorf("discard: %w", err)
		}
	}
	return nil
}
