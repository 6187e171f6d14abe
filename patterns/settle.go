package patterns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// evidence is what a row, read again, says about a write whose reply was lost.
type evidence int

const (
	silent    evidence = iota // cannot tell
	absent                    // is not there: deleted by this write, or by another after it
	alike                     // has the content that was to be written
	shows                     // carries the write's stamp
	unchanged                 // still the version that was to be changed
	excludes                  // cannot have been written, nor ever be
)

// supersededETag stands for the version of a row that was written, and changed
// again by someone else before its ETag was known. No row ever has it, so a
// conditional write with it meets the conflict that there is.
const supersededETag = `W/"datetime'1601-01-01T00%3A00%3A00.0000000Z'"`

// finding is what one row says, and its ETag if the write stands there.
type finding struct {
	evidence
	etag string
}

// settle finds out whether changes were applied, all or none, although their
// answer e leaves it open. It reads each row they touch once. It gives the ETags if
// they were applied; e, now certain, if they were not; [ErrOutcomeUnknown] else.
func (t *Table[T]) settle(ctx context.Context, changes []change, e *azerr.Error) ([]string, error) {
	found := make([]finding, len(changes))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(defaultParallel)
	for i := range changes {
		g.Go(func() (err error) {
			found[i], err = t.examine(gctx, &changes[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, &outcomeUnknown{cause: e, then: err}
	}
	var applied, excluded, open bool
	for i, f := range found {
		switch {
		case f.evidence == shows:
			return etagsOf(changes, found), nil
		case f.evidence == alike, f.evidence == absent && changes[i].gone:
			applied = true
		case f.evidence == excludes, f.evidence == unchanged && !e.Unanswered:
			// A try on its way could still find the version that it wants.
			excluded = true
		case f.evidence == silent, f.evidence == unchanged, changes[i].Kind != wire.Delete:
			open = true
		}
	}
	switch {
	case excluded:
		certain := *e
		certain.Unsure = false
		return nil, &certain
	case applied && !open:
		return etagsOf(changes, found), nil
	}
	return nil, &outcomeUnknown{cause: e}
}

func etagsOf(changes []change, found []finding) []string {
	etags := make([]string, len(found))
	for i, f := range found {
		if etags[i] = f.etag; f.etag == "" && changes[i].Kind != wire.Delete {
			etags[i] = supersededETag
		}
	}
	return etags
}

// examine reads the row of c and weighs it.
func (t *Table[T]) examine(ctx context.Context, c *change) (finding, error) {
	var f finding
	err := t.wire.Get(ctx, c.PartitionKey, c.RowKey, func(etag string, body []byte) (err error) {
		f, err = t.weigh(c, etag, body)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return finding{evidence: absent}, nil
	}
	return f, err
}

func (t *Table[T]) weigh(c *change, etag string, body []byte) (finding, error) {
	conditional := c.Kind >= wire.Merge && c.ETag != "*"
	if conditional && etag == c.ETag {
		return finding{evidence: unchanged}, nil
	}
	if c.Kind == wire.Delete {
		return finding{}, nil
	}
	compare := edm.EqualContent
	if c.Kind == wire.Merge || c.Kind == wire.InsertOrMerge {
		compare = edm.HasContent
	}
	if c.id != "" {
		stamps, err := edm.Stamps(body)
		if err != nil {
			return finding{}, err
		}
		switch {
		case hasStamp(stamps, c.id):
			f := finding{evidence: shows}
			// Stamps alone do not make this the version written: a writer that does not
			// stamp may have changed the row since.
			if same, err := compare(c.Body, body); err == nil && same {
				f.etag = etag
			}
			return f, nil
		case reachesBack(stamps, c.base):
			return finding{evidence: excludes}, nil
		}
		return finding{}, nil
	}
	if c.rmw {
		return finding{}, nil
	}
	same, err := compare(c.Body, body)
	if err != nil || !same {
		return finding{}, err
	}
	return finding{alike, etag}, nil
}

// outcomeUnknown is [ErrOutcomeUnknown] with what led there. It keeps the meaning
// of the service's answer, but for ErrConflict, which would invite to do again
// what may be done already.
type outcomeUnknown struct {
	cause *azerr.Error
	then  error // why the row could not be read again, or nil
}

func (o *outcomeUnknown) Error() string {
	if o.then != nil {
		return fmt.Sprintf("%v: %v; reading the row again: %v", ErrOutcomeUnknown, o.cause, o.then)
	}
	return fmt.Sprintf("%v: %v", ErrOutcomeUnknown, o.cause)
}

// Format adds the SDK's full text for %+v only.
func (o *outcomeUnknown) Format(f fmt.State, verb rune) {
	switch plus := verb == 'v' && f.Flag('+'); {
	case plus && o.then != nil:
		fmt.Fprintf(f, "%v: %+v; reading the row again: %+v", ErrOutcomeUnknown, o.cause, o.then)
	case plus:
		fmt.Fprintf(f, "%v: %+v", ErrOutcomeUnknown, o.cause)
	default:
		io.WriteString(f, o.Error())
	}
}

// LogValue keeps from a log what only %+v tells.
func (o *outcomeUnknown) LogValue() slog.Value { return azerr.LogValue(o) }

func (o *outcomeUnknown) Unwrap() []error {
	cause := o.cause
	if errors.Is(cause, ErrConflict) {
		cause = cause.WithKind(nil)
	}
	errs := []error{ErrOutcomeUnknown, cause}
	if o.then != nil {
		errs = append(errs, o.then)
	}
	return errs
}
