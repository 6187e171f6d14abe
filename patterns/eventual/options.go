package eventual

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Options are the options of [NewWorker]. nil and the zero value mean the defaults.
type Options struct {
	// Poison is the queue for messages that cannot be processed, by convention named
	// "<queue>-poison". It must differ from the worker's queue. It is created when it is
	// first needed. Create its client with the service client, for example
	// service.NewQueueClient("jobs-poison").
	//
	// Without a poison queue such messages stay on the queue, hidden for 7 days at a
	// time. After Tries they get one more attempt every 14 days. No message is
	// lost, but only Logger and Observe report them, and there is no [PoisonQueue].
	Poison *azqueue.QueueClient

	// LateChecks is the queue to which outbox messages are moved when only their late
	// check remains: see [HandleOutbox]. It must differ from the worker's queue and from
	// Poison, and needs a worker of its own, which may run rarely. It is created when it is
	// first needed. Without it such messages stay hidden on the worker's queue. The chapter
	// about scalers in the package documentation explains when it is needed.
	LateChecks *azqueue.QueueClient

	// Container contains the payloads that are too large for a message: see
	// [EnqueueOptions.Container].
	Container *container.Client

	// MaxPayload is the size of the largest payload that the worker reads from a blob, in bytes.
	// A message that names a larger one is a bad message, and no request is made for it. A
	// worker so takes at most Parallel times MaxPayload of memory for payloads. Zero means 64
	// MiB.
	MaxPayload int64

	// SigningKeys, if not nil, make the worker process only messages that one of them has
	// signed for this queue, by name. Any other message is a bad message: it is moved to the
	// poison queue before any other request, and Decode is not called. All who add messages to
	// the queue need the first key of the ring: see [EnqueueOptions.SigningKeys],
	// [OutboxOptions.SigningKeys] and [PoisonQueueOptions.SigningKeys]. A ring has at least one key, and a key
	// at least 32 bytes, which should be random; the ring is copied. Use other keys for an account with a queue of the same name.
	//
	// To replace a key, add the new one at the end of all rings, then move it to the front of
	// all, and remove the old one when no message is left that was signed with it, in the
	// poison queue either. To begin, set the keys of the senders, wait until the messages
	// without a signature are processed, and then set those of the workers. The chapter Trust
	// of the package documentation states what a signature proves.
	SigningKeys [][]byte

	// Parallel is the number of handlers that run concurrently. Zero means 16.
	Parallel int

	// Visibility is how long a message is hidden from other workers at a time, 1 second
	// to 7 days. The worker renews it each time a third of it has passed, for as long as
	// the handler runs, so it may be shorter than a handler takes. If a worker dies, its
	// messages become visible to others after at most this time. Zero means 60 seconds.
	Visibility time.Duration

	// Tries is the number of attempts for each job. Zero means 5.
	Tries int

	// Backoff returns how long a message is invisible after the given failed attempt,
	// counted from 1; it is rounded up to seconds and at most 7 days. nil means 5 s,
	// doubled after each attempt up to 10 minutes, ±20 % at random.
	Backoff func(attempt int) time.Duration

	// PollMin and PollMax bound the pause after a poll that received nothing. It begins
	// with PollMin and doubles with each such poll in a row, ±25 % at random. After a poll
	// that received messages the next follows immediately. Zero means 250 ms and 30 s.
	// The service bills empty polls too.
	PollMin, PollMax time.Duration

	// Grace is how long handlers may continue after the context of [Worker.Run] has
	// ended; then their contexts end too. Zero means 20 seconds, negative means no time.
	Grace time.Duration

	// StopTimeout is how long Run takes to return after its context has ended, even if the
	// service does not reply to any request. What is left of it after Grace, or after
	// [Worker.Abort], is for the requests that end deliveries; a message whose request did not
	// end is delivered again after Visibility. Only a handler or a periodic task that ignores
	// the end of its context takes longer. It must be longer than Grace. Zero means Grace and 5 seconds, which is 25
	// seconds by default: less than the 30 seconds after which Kubernetes kills a process.
	StopTimeout time.Duration

	// Decode decodes messages that [Enqueue] did not write. text is the message as it is
	// stored; use [Text] if it may be base64. kind selects the handler, which receives
	// payload. A message for which Decode returns an error is moved to the poison queue.
	// nil means kind [Raw] and the text itself.
	Decode func(text string) (kind string, payload []byte, err error)

	// Logger receives errors and the outcome of each delivery: Retrying at level Warn,
	// Poisoned and Parked at Error, all others at Debug. It receives neither payloads nor
	// keys. If nil, nothing is logged.
	Logger *slog.Logger

	// Reason returns the text of an error of a handler, of a periodic task or of Decode, for
	// Logger, [Event.Err], spans and the reason of a poison message; a PanicError
	// is passed to it too, and so is an error of [Cancel] without a reason. It must accept any error and be safe for concurrent use.
	//
	// The reason of Cancel is always shown. Of all other errors nil means to show a text without payloads and
	// keys: that of the errors of this module, of failed connections and ended contexts in the error, and the Go
	// type of all others, because their text may quote a payload.
	// Return texts that you know to be free of payloads:
	//
	//	Reason: func(err error) string {
	//		if errors.Is(err, errNoStamps) {
	//			return "no stamps left"
	//		}
	//		return fmt.Sprintf("%T", err)
	//	}
	//
	// error.Error returns the whole text of every error, which then must not quote payloads.
	Reason func(err error) string

	// Observe is called at the end of each delivery, for metrics. It is called
	// concurrently, from the goroutines of the handlers, and should return quickly.
	Observe func(Event)

	// Tracing creates a span for each attempt, which is the parent of the spans that clients
	// create in the handler. It is the type of ClientOptions.TracingProvider. Package otel, a
	// module of its own, creates one from OpenTelemetry. The zero value means no spans.
	Tracing tracing.Provider
}

// Outcome is how a delivery ended.
type Outcome int

const (
	Done     Outcome = iota // processed, the message is deleted
	Retrying                // failed, the message becomes visible again after the backoff
	Snoozed                 // postponed by the handler, or for the late check of an outbox message
	Poisoned                // moved to the poison queue
	Parked                  // hidden for 7 days, because there is no poison queue to move it to
	Lost                    // another worker has received the message, or will
	Released                // made visible again because the worker stops, or because no handler became free
)

var outcomeNames = [...]string{"done", "retrying", "snoozed", "poisoned", "parked", "lost", "released"}

func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomeNames) {
		return "unknown outcome"
	}
	return outcomeNames[o]
}

// Event is the end of one delivery.
type Event struct {
	Outcome Outcome
	Kind    string // Raw if the message was unreadable
	ID      string // of the operation
	Attempt int
	Took    time.Duration // from the poll to the end of the request that ended the delivery

	// Err matches the error of the handler, or describes why it was not called; nil for Done.
	// Its text is that of [Options.Reason]. The verb %+v prints the handler's error in full.
	Err error

	received time.Time // when Took begins
}

// LogValue omits from logs what only %+v prints of Err.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("outcome", e.Outcome.String()), slog.String("kind", e.Kind), slog.String("id", e.ID),
		slog.Int("attempt", e.Attempt), slog.Duration("took", e.Took),
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	return slog.GroupValue(attrs...)
}

const (
	defaultParallel   = 16
	defaultVisibility = time.Minute
	defaultTries      = 5
	defaultPollMin    = 250 * time.Millisecond
	defaultPollMax    = 30 * time.Second
	defaultGrace      = 20 * time.Second
	defaultLast       = 5 * time.Second // from the end of Grace to StopTimeout

	minBackoff = 5 * time.Second
	maxBackoff = 10 * time.Minute
)

// complete sets the defaults and checks the options.
func (o *Options) complete() error {
	setDefault(&o.Parallel, defaultParallel)
	setDefault(&o.Visibility, defaultVisibility)
	setDefault(&o.Tries, defaultTries)
	setDefault(&o.PollMin, defaultPollMin)
	if o.PollMax == 0 {
		o.PollMax = max(defaultPollMax, o.PollMin)
	}
	setDefault(&o.Grace, defaultGrace)
	o.Grace = max(o.Grace, 0)
	setDefault(&o.StopTimeout, o.Grace+defaultLast)
	setDefault(&o.MaxPayload, defaultMaxPayload)
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	switch {
	case o.Parallel < 1:
		return azerr.Errorf("%w: Options.Parallel: negative", azerr.ErrBadOption)
	case o.Visibility < time.Second || o.Visibility > maxVisibility:
		return azerr.Errorf("%w: Options.Visibility: not from 1 second to 7 days", azerr.ErrBadOption)
	case o.Tries < 1:
		return azerr.Errorf("%w: Options.Tries: negative", azerr.ErrBadOption)
	case o.PollMin < 0 || o.PollMax < o.PollMin:
		return azerr.Errorf("%w: Options.PollMin, PollMax: not 0 < PollMin <= PollMax", azerr.ErrBadOption)
	case o.StopTimeout <= o.Grace:
		return azerr.Errorf("%w: Options.StopTimeout: not longer than Grace", azerr.ErrBadOption)
	case o.MaxPayload < 0:
		return azerr.Errorf("%w: Options.MaxPayload: negative", azerr.ErrBadOption)
	}
	return checkKeys("Options.SigningKeys", o.SigningKeys)
}

// setDefault sets a field that is zero.
func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// backoff is the default of [Options.Backoff].
func backoff(attempt int) time.Duration {
	return jitter(min(minBackoff<<min(max(attempt, 1)-1, 20), maxBackoff), 0.2)
}

// jitter returns a random duration that differs from d by at most the given fraction.
func jitter(d time.Duration, fraction float64) time.Duration {
	return time.Duration(float64(d) * (1 - fraction + 2*fraction*rand.Float64()))
}
