package patterns

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// commit carries out a transaction without an outbox row, the primary's change
// first, and gives its ETags.
func (op *operation[T]) commit(ctx context.Context, changes []change) ([]string, error) {
	etags, err := op.send(ctx, changes)
	if err == nil {
		return etags, nil
	}
	at, e := refusal(err)
	if e == nil {
		return nil, err
	}
	if e.Unsure && !pastFirst(at, e) {
		// The primary's change is the evidence for all of them.
		etags, serr := op.store.table.settle(ctx, changes[:1], e)
		if serr == nil {
			return etags, nil
		}
		if errors.Is(serr, ErrOutcomeUnknown) {
			if op.blind && ctx.Err() == nil {
				return nil, &lostRace{serr}
			}
			return nil, serr
		}
		errors.As(serr, &e) // certain now
	}
	return nil, op.judge(at, e)
}

// send is the one request of a transaction.
func (op *operation[T]) send(ctx context.Context, changes []change) ([]string, error) {
	w := op.store.table.wire
	if len(changes) == 1 {
		etag, err := w.Write(ctx, changes[0].Write)
		return []string{etag}, err
	}
	writes := make([]*wire.Write, len(changes))
	for i := range changes {
		writes[i] = &changes[i].Write
	}
	return w.Batch(ctx, writes)
}

// refusal is the operation for which a transaction was refused, -1 if the service
// named none, and why; nil where err is no answer to a request.
func refusal(err error) (at int, e *azerr.Error) {
	var f *wire.BatchFailure
	if errors.As(err, &f) {
		return f.Index, f.Cause
	}
	if !errors.As(err, &e) {
		return -1, nil
	}
	if e.Op == "batch" {
		return -1, e
	}
	return 0, e
}

// pastFirst reports whether the last try of a transaction got past the primary's
// change. Its condition held then, so no try before had been carried out.
func pastFirst(at int, e *azerr.Error) bool { return at > 0 && e.Status != 0 }

// judge decides what a certain refusal means: a *lostRace, or the operation's end.
func (op *operation[T]) judge(at int, e *azerr.Error) error {
	race := errors.Is(e, ErrExists) || errors.Is(e, ErrConflict) || errors.Is(e, ErrNotFound)
	switch {
	case !race:
		return e
	case at > 0:
		op.full = true // some row is not what the primary's version said
		return &lostRace{e}
	case !op.again:
		return e
	}
	op.was, op.known = nil, false
	return &lostRace{e}
}
