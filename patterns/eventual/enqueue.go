package eventual

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
)

// EnqueueOptions are the options of [Enqueue]. nil and the zero value mean the
// defaults.
type EnqueueOptions struct {
	// ID identifies the operation, in up to 128 bytes of printable text. Handlers receive it with every
	// delivery and can use it to recognize work that is already done. If empty, the
	// operation gets a random ID.
	ID string

	// Delay is how long the message is invisible at first, up to 7 days.
	Delay time.Duration

	// TTL is the lifetime of the message, rounded up to seconds. When it ends, the
	// message is deleted, even if no attempt succeeded. It must be longer than Delay by
	// at least a second. Zero means that the message never expires. (The service's own
	// default of 7 days would lose operations in an outage of that length.)
	TTL time.Duration

	// Container stores payloads that are too large for a message. Workers need it too:
	// see [Options.Container].
	Container *container.Client

	// MaxPayload is the size of the largest payload, in bytes of JSON. A larger one is refused
	// with [patterns.ErrTooLarge] before any request. The workers must permit as much, see
	// [Options.MaxPayload]. Zero means 64 MiB.
	MaxPayload int64

	// SigningKeys sign the message for workers that require it: see [Options.SigningKeys]. The
	// first key signs. nil means no signature.
	SigningKeys [][]byte

	// Tracing creates a span for the Enqueue, which is the parent of the spans of its
	// requests. The message contains its trace, so that package otel, a module of its own,
	// links the span of each attempt to it. Without Tracing, the message contains the trace of
	// the operation or attempt in which Enqueue is called, if that has a span of this type.
	Tracing tracing.Provider
}

// Enqueue adds a job to the queue. msg is stored as JSON. kind selects the handler and
// is stored as well, so it must not change while messages of that kind exist. A kind
// consists of 1 to 128 letters, digits and the characters - _ . : /, and does not begin
// with "azp.".
//
// Enqueue sends one request. If the payload is larger than about 47 KiB of JSON, so
// that it does not fit into the 64 KiB of a message, it first stores the payload in a
// blob of EnqueueOptions.Container, which is a second request. Without a container it
// returns [patterns.ErrTooLarge] before any request.
//
// If a try by the SDK received no definite reply, the error matches
// [patterns.ErrOutcomeUnknown]: the message may be on the queue. In that case call
// Enqueue again with the same EnqueueOptions.ID. That can lead to two messages with one
// ID, as can a lost response after which the SDK repeated the request: delivery is at
// least once. A try for which no response arrived may add its message minutes later, even
// after the first one was processed.
func Enqueue[M any](ctx context.Context, queue *azqueue.QueueClient, kind string, msg M, opts *EnqueueOptions) error {
	if err := enqueue(ctx, queue, kind, msg, *cmp.Or(opts, &EnqueueOptions{})); err != nil {
		return azerr.Errorf("enqueue: %w", err)
	}
	return nil
}

func enqueue(ctx context.Context, client *azqueue.QueueClient, kind string, msg any, o EnqueueOptions) error {
	if client == nil {
		return azerr.Errorf("queue: %w", patterns.ErrNil)
	}
	setDefault(&o.MaxPayload, defaultMaxPayload)
	if err := o.check(); err != nil {
		return err
	}
	if err := checkKind(kind); err != nil {
		return err
	}
	ctx, span := o.begin(ctx, client, kind)
	defer span.End()
	err := put(ctx, client, kind, msg, o, span)
	if err != nil {
		failSpan(span, err)
	}
	return err
}

func put(ctx context.Context, client *azqueue.QueueClient, kind string, msg any, o EnqueueOptions, span tracing.Span) error {
	body, err := marshal(msg)
	if err != nil {
		return azerr.Errorf("payload: %w", azerr.Seal(err))
	}
	if int64(len(body)) > o.MaxPayload {
		return azerr.Errorf("%w: payload of %d bytes, EnqueueOptions.MaxPayload is %d", patterns.ErrTooLarge, len(body), o.MaxPayload)
	}
	to := queue{client, o.SigningKeys}
	e := envelope{Version: envelopeVersion, ID: o.ID, Kind: kind, At: time.Now().UTC(), Body: body, Trace: calls.TraceOf(ctx)}
	if e.ID == "" {
		e.ID = uuid.NewString()
	}
	whole, err := e.marshal(to)
	if err != nil {
		return azerr.Errorf("payload: %w", azerr.Seal(err))
	}
	var etag string // of the payload, if it is in a blob
	if excess := len(whole) - e.traceSize() - (maxJSON - poisonRoom); excess > 0 {
		if o.Container == nil {
			return azerr.Errorf("%w: payload of %d bytes; payloads of %d bytes or more need EnqueueOptions.Container",
				patterns.ErrTooLarge, len(body), len(body)-excess+1)
		}
		e.Body = nil
		if e.Claim, etag, err = storePayload(ctx, o.Container, body); err != nil {
			return err
		}
		whole, err = e.marshal(to)
	}
	if err == nil {
		err = o.add(ctx, to, base64.StdEncoding.EncodeToString(whole), span)
	}
	if err != nil && etag != "" && refused(err) {
		err = errors.Join(err, deletePayload(ctx, o.Container, e.Claim.Name, etag)) // no message refers to it
	}
	return err
}

func (o *EnqueueOptions) check() error {
	switch {
	case len(o.ID) > maxID:
		return azerr.Errorf("EnqueueOptions.ID: %w: more than %d bytes", patterns.ErrTooLarge, maxID)
	case !azerr.IsPrintable(o.ID):
		return azerr.Errorf("%w: EnqueueOptions.ID: not printable UTF-8", azerr.ErrBadOption)
	case o.MaxPayload < 0:
		return azerr.Errorf("%w: EnqueueOptions.MaxPayload: negative", azerr.ErrBadOption)
	case o.Delay < 0 || o.Delay > maxVisibility:
		return azerr.Errorf("%w: EnqueueOptions.Delay: not from 0 to 7 days", azerr.ErrBadOption)
	case o.TTL != 0 && seconds(o.TTL) <= seconds(o.Delay):
		return azerr.Errorf("%w: EnqueueOptions.TTL: not longer than Delay, in seconds", azerr.ErrBadOption)
	}
	return checkKeys("EnqueueOptions.SigningKeys", o.SigningKeys)
}

const (
	maxID   = 128 // bytes
	maxKind = 128 // bytes

	reservedKinds = "azp." // prefix
)

func checkKind(kind string) error {
	if strings.HasPrefix(kind, reservedKinds) {
		return azerr.Errorf("%w: %q is reserved", ErrBadKind, reservedKinds)
	}
	return checkCharacters(kind)
}

// checkCharacters checks a kind that may be reserved.
func checkCharacters(kind string) error {
	switch {
	case kind == "":
		return azerr.Errorf("%w: empty", ErrBadKind)
	case len(kind) > maxKind:
		return azerr.Errorf("%w: more than %d bytes", ErrBadKind, maxKind)
	}
	for i := range len(kind) {
		if c := kind[i]; !isLetter(c) && !strings.ContainsRune("0123456789-_.:/", rune(c)) {
			return azerr.Errorf("%w: a character at offset %d", ErrBadKind, i)
		}
	}
	return nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
