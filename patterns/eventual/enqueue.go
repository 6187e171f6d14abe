package eventual

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns"
)

// EnqueueOptions are the options of [Enqueue]. nil and the zero value mean the
// defaults.
type EnqueueOptions struct {
	// ID identifies the operation. Handlers get it with every delivery, and can
	// tell by it what they have done already. Up to 128 bytes. Without it the
	// operation gets a random one.
	ID string

	// Delay is how long the message stays hidden at first, up to 7 days.
	Delay time.Duration

	// TTL is how long the message lives, handled or not, rounded up to seconds; an
	// attempt that would come later does not come. Zero means for ever: the service's
	// own default of 7 days would lose the operation in an outage of that length. It
	// must be longer than Delay by a second.
	TTL time.Duration

	// Container takes payloads that are too large for a message. Workers need it
	// too: [Options.Container].
	Container *container.Client
}

// Enqueue puts a job on the queue. msg is stored as JSON; kind names the handler and
// is stored too, so it must stay the same while messages of it exist: 1 to 128 bytes,
// letters, digits and - _ . : /, not beginning with "azp.".
//
// One request. A payload of more than about 47 KiB of JSON, which would not fit into
// the 64 KiB of a message, goes to a blob of
// EnqueueOptions.Container first: one request more. Without a container that is
// [patterns.ErrTooLarge], before any request.
//
// When no definite answer came, to one of the SDK's tries, the error matches
// [patterns.ErrOutcomeUnknown]: the message may be there. Enqueue again, with the same EnqueueOptions.ID. Also when a
// reply was lost and the SDK repeated the request there are two messages with one
// ID: delivery is at least once.
func Enqueue[M any](ctx context.Context, queue *azqueue.QueueClient, kind string, msg M, opts *EnqueueOptions) error {
	var o EnqueueOptions
	if opts != nil {
		o = *opts
	}
	if err := enqueue(ctx, queue, kind, msg, o); err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

func enqueue(ctx context.Context, client *azqueue.QueueClient, kind string, msg any, o EnqueueOptions) error {
	switch {
	case client == nil:
		return fmt.Errorf("queue: %w", patterns.ErrNil)
	case len(o.ID) > maxID:
		return fmt.Errorf("EnqueueOptions.ID: %w: more than %d bytes", patterns.ErrTooLarge, maxID)
	case !utf8.ValidString(o.ID):
		return errors.New("EnqueueOptions.ID: not UTF-8")
	case o.Delay < 0 || o.Delay > maxHide:
		return errors.New("EnqueueOptions.Delay: not from 0 to 7 days")
	case o.TTL != 0 && seconds(o.TTL) <= seconds(o.Delay):
		return errors.New("EnqueueOptions.TTL: not longer than Delay, in seconds")
	}
	if err := checkKind(kind); err != nil {
		return err
	}
	body, err := compact(msg)
	if err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	e := envelope{Version: envelopeVersion, ID: o.ID, Kind: kind, At: time.Now().UTC(), Body: body}
	if e.ID == "" {
		e.ID = uuid.NewString()
	}
	whole, err := compact(&e)
	if err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	if len(whole) > maxJSON-burialRoom {
		if o.Container == nil {
			return fmt.Errorf("%w: payload of %d bytes; from %d on it needs EnqueueOptions.Container",
				patterns.ErrTooLarge, len(body), len(body)-(len(whole)-(maxJSON-burialRoom))+1)
		}
		e.Body = nil
		if e.Claim, err = deposit(ctx, o.Container, body); err != nil {
			return err
		}
	}
	_, _, err = put(ctx, queue{client}, &e, o.Delay, o.TTL)
	if err != nil && e.Claim != nil && refused(err) {
		err = errors.Join(err, discard(ctx, o.Container, e.Claim)) // nothing refers to it
	}
	return err
}

// put puts an envelope on a queue. One request.
func put(ctx context.Context, q queue, e *envelope, after, ttl time.Duration) (id, receipt string, err error) {
	text, err := e.encode()
	if err != nil {
		return "", "", err
	}
	return q.put(ctx, text, after, ttl)
}

const (
	maxID   = 128
	maxKind = 128

	systemKinds = "azp."
)

func checkKind(kind string) error {
	switch {
	case kind == "":
		return fmt.Errorf("%w: empty", ErrBadKind)
	case len(kind) > maxKind:
		return fmt.Errorf("%w: more than %d bytes", ErrBadKind, maxKind)
	case strings.HasPrefix(kind, systemKinds):
		return fmt.Errorf("%w: %q is reserved", ErrBadKind, systemKinds)
	}
	for i := range len(kind) {
		if c := kind[i]; !isLetter(c) && !strings.ContainsRune("0123456789-_.:/", rune(c)) {
			return fmt.Errorf("%w: a character at offset %d", ErrBadKind, i)
		}
	}
	return nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
