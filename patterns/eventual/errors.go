package eventual

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// The sentinels of this package; match them with [errors.Is]. A request to a queue, a
// blob or a table that failed is a [*patterns.Error].
var (
	// ErrLeaseLost means that a message is no longer hidden from other clients on behalf
	// of this one: another client has received it, or may receive it at any time. It is
	// the cause of the end of a handler's context (see [context.Cause]) if the worker
	// could not renew the lease; the handler should return. It is also the error of
	// [PoisonQueue.Replay] and [PoisonQueue.Discard] in that case.
	//
	// For a [Lease] it means that another process holds the lease, or may hold it at any time.
	ErrLeaseLost = azerr.ErrMessageLost

	// ErrStopped is the cause of the end of a handler's context if the worker stops
	// before the handler returned. The message becomes visible to other workers
	// immediately. The attempt does not count, with the exception described at
	// [Job.Attempt].
	ErrStopped = azerr.Sentinel("worker stopped")

	// ErrClaimGone means that the blob with the payload does not exist. The message is a
	// duplicate of one that was processed already, or the blob was swept too early.
	ErrClaimGone = azerr.Sentinel("claim check: blob not found")

	// ErrClaimDamaged means that the length or SHA-256 of the blob with the payload
	// differs from that in the message.
	ErrClaimDamaged = azerr.Sentinel("claim check: blob differs from what was stored")

	// ErrNotLeased means that a [PoisonMessage] comes from [PoisonQueue.Peek], which
	// does not lease messages. Only messages from [PoisonQueue.Take] can be changed.
	ErrNotLeased = azerr.Sentinel("message was peeked, not taken")

	// ErrSuperseded means that the stored row is not the one that [Row] describes, because
	// it was changed or created again. Nothing was moved.
	ErrSuperseded = azerr.Sentinel("row is not the one to be moved")

	// ErrBadMessage means that a message cannot be read: it is damaged, it was written by a
	// later version of this package, its payload is not of the handler's type or is larger than
	// [Options.MaxPayload], it has no valid signature although [Options.SigningKeys] require one,
	// or it names what no message of its kind can name. No further attempt of this program can
	// succeed, so it is moved to the poison queue.
	ErrBadMessage = azerr.ErrBadMessage

	// ErrBadKind means that the kind of a job is empty, too long, reserved or registered
	// already, that it was registered while the worker runs, or that its handler is nil.
	ErrBadKind = azerr.Sentinel("bad kind")
)

// writeError returns the error of a write. The SDK reports its last try only, and an earlier
// one may have been carried out.
func writeError(tries *calls.Tries, op string, err error) error {
	if tries.EarlierOpen() {
		return unsureError(op, err)
	}
	return sdkerr.NewWrite(op, err)
}

// unsureError returns the error of a write if an earlier try may have been carried out,
// regardless of the reply to the last one.
func unsureError(op string, err error) error {
	e := sdkerr.New(op, err)
	e.Unsure = true
	if e.Kind == nil {
		e.Kind = patterns.ErrOutcomeUnknown
		return e
	}
	return fmt.Errorf("%w: %w", patterns.ErrOutcomeUnknown, e)
}

// refused reports whether the service refused the request, and would refuse it again.
func refused(err error) bool {
	var e *patterns.Error
	return errors.As(err, &e) && !e.Unsure && e.Status >= 400 && e.Status < 500 &&
		e.Status != http.StatusRequestTimeout && e.Status != http.StatusTooManyRequests
}

// hasCode reports whether err is a reply of the service with that error code.
func hasCode(err error, code string) bool {
	var e *patterns.Error
	return errors.As(err, &e) && e.Code == code
}
