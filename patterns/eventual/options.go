package eventual

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

// Options are the options of [NewWorker]. nil and the zero value mean the defaults.
type Options struct {
	// Poison is the queue for messages that cannot be handled, by convention
	// "<queue>-poison"; a queue's client cannot make another's, but its service
	// client can: service.NewQueueClient("jobs-poison"). It is created when it is
	// first needed.
	//
	// Without it such messages stay where they are, hidden for 7 days at a time, and
	// after MaxAttempts they get one more attempt every 14 days. Nothing is lost, but
	// only Logger and Observe tell of it, and [Poison] cannot help.
	Poison *azqueue.QueueClient

	// Container holds the payloads that were too large for a message:
	// [EnqueueOptions.Container].
	Container *container.Client

	// Parallel is how many handlers run at once. Zero means 16.
	Parallel int

	// Visibility is how long a message is hidden from other workers at a time, 1
	// second to 7 days. It is renewed after each third of it as long as the handler
	// runs, so it need not be as long as that; it is how long the job of a worker
	// that died waits for the next. Zero means 60 seconds.
	Visibility time.Duration

	// MaxAttempts is how many attempts a job has. Zero means 5.
	MaxAttempts int

	// Backoff is how long a message waits after its n-th failed attempt, counted
	// from 1; rounded up to seconds, at most 7 days. nil means 5 s, doubled with each
	// attempt to at most 10 minutes, ±20 % at random.
	Backoff func(attempt int) time.Duration

	// PollMin and PollMax are the least and the longest pause after a poll that
	// found nothing; it doubles with each such poll in a row, ±25 % at random. A poll
	// that found something is followed by the next at once. Zero means 250 ms and 30
	// s. An empty poll is a billed request.
	PollMin, PollMax time.Duration

	// Grace is how long handlers may go on after the context of [Worker.Run] has
	// ended, before theirs ends too. Zero means 30 seconds; negative, none.
	Grace time.Duration

	// Decode reads messages that [Enqueue] did not write: which handler's they are,
	// and the payload that it gets. The text is the message's as it was stored; [Text]
	// takes off the base64. An error makes it a poison message. nil means kind [Raw]
	// and the text.
	Decode func(text string) (kind string, payload []byte, err error)

	// Logger is told of what goes wrong, and at level Debug of every job. nil: nobody.
	Logger *slog.Logger

	// Observe is told how each delivery ended, for metrics. It is called by the
	// goroutines of the handlers, at the same time, and must be quick.
	Observe func(Event)

	// Tracing makes a span of each attempt, the parent of the spans that the SDK's
	// clients make in it. It is what their ClientOptions.TracingProvider takes too:
	// azotel.NewTracingProvider makes one of an OpenTelemetry provider.
	Tracing tracing.Provider
}

// Outcome is how a delivery ended.
type Outcome int

const (
	Done     Outcome = iota // handled, and the message is gone
	Retrying                // failed; shown again later
	Snoozed                 // shown again later, on the handler's wish
	Poisoned                // moved to the poison queue
	Parked                  // would have been, but there is no poison queue
	Lost                    // another worker has it, or will
	Released                // given back because the worker stops
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
	Kind    string // Raw where the message could not be read
	ID      string // of the operation
	Attempt int
	Took    time.Duration // from the fetch, the request that ended it included
	Err     error         // the handler's, or why it was not called; nil for Done
}

const (
	defaultParallel    = 16
	defaultVisibility  = time.Minute
	defaultMaxAttempts = 5
	defaultPollMin     = 250 * time.Millisecond
	defaultPollMax     = 30 * time.Second
	defaultGrace       = 30 * time.Second

	minBackoff = 5 * time.Second
	maxBackoff = 10 * time.Minute
)

func (o *Options) check() error {
	set(&o.Parallel, defaultParallel)
	set(&o.Visibility, defaultVisibility)
	set(&o.MaxAttempts, defaultMaxAttempts)
	set(&o.PollMin, defaultPollMin)
	if o.PollMax == 0 {
		o.PollMax = max(defaultPollMax, o.PollMin)
	}
	set(&o.Grace, defaultGrace)
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
		return errors.New("Options.Parallel: negative")
	case o.Visibility < time.Second || o.Visibility > maxHide:
		return errors.New("Options.Visibility: not from 1 second to 7 days")
	case o.MaxAttempts < 1:
		return errors.New("Options.MaxAttempts: negative")
	case o.PollMin < 0 || o.PollMax < o.PollMin:
		return errors.New("Options.PollMin, PollMax: not 0 < PollMin <= PollMax")
	}
	return nil
}

// set gives a field that is zero its default.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// backoff is the default of [Options.Backoff].
func backoff(attempt int) time.Duration {
	return around(min(minBackoff<<min(max(attempt, 1)-1, 20), maxBackoff), 0.2)
}

// around is a random time near d, by at most the given part of it.
func around(d time.Duration, part float64) time.Duration {
	return time.Duration(float64(d) * (1 - part + 2*part*rand.Float64()))
}
