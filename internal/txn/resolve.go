package txn

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// verdict is what a row, read again, proves about a write whose response was lost.
type verdict int

const (
	undecided verdict = iota // the row does not show whether the write was applied
	missing                  // no row: deleted by this write, or by a later one of another client
	equal                    // the row has the content that was to be written, and the write may be repeated
	stamped                  // the row carries the write's stamp
	unchanged                // the row is still the version that was to be changed
	excluded                 // the row proves that the conditional write was not applied and never will be
)

// SupersededETag is the ETag of a row that was written, and then changed by another
// client before its ETag was known. No row ever has it, so a conditional write with it
// fails with the conflict that exists.
const SupersededETag = `W/"datetime'1601-01-01T00%3A00%3A00.0000000Z'"`

// maxReads is how many rows Resolve reads concurrently.
const maxReads = 8

// finding is the verdict on one row, and the row's ETag if it is the version written.
type finding struct {
	verdict
	etag string
}

// Resolve finds out whether changes, all or none, were applied although the response e
// leaves it open. It reads each changed row once. It returns the new ETags if the
// changes were applied; e, now certain, if they were not; otherwise
// [azerr.ErrOutcomeUnknown].
//
// If one row of a transaction proves what became of all of it, because every write of the
// other rows changes this row too, changes need not contain more than the change of this
// row.
func Resolve(ctx context.Context, client *wire.Client, changes []Change, e *types.Error) ([]string, error) {
	found := make([]finding, len(changes))
	err := calls.Each(ctx, len(changes), maxReads, func(ctx context.Context, i int) (err error) {
		found[i], err = inspect(ctx, client, &changes[i])
		return err
	})
	if err != nil {
		return nil, &sdkerr.UnknownOutcome{Cause: e, Then: err}
	}
	refused := false
	for i, f := range found {
		switch {
		case f.verdict == stamped:
			return etagsOf(changes, found), nil
		case len(changes) == 1 && (f.verdict == equal || f.verdict == missing && changes[i].IfExists):
			// In a transaction the other rows would have to be as they were wanted at the same time.
			return etagsOf(changes, found), nil
		case f.verdict == excluded, f.verdict == unchanged && !e.Unanswered:
			// If an attempt had no response it may still arrive, and find the version that
			// it needs.
			refused = true
		}
	}
	if refused {
		certain := *e
		certain.Unsure = false
		return nil, &certain
	}
	return nil, &sdkerr.UnknownOutcome{Cause: e}
}

func etagsOf(changes []Change, found []finding) []string {
	etags := make([]string, len(found))
	for i, f := range found {
		if etags[i] = f.etag; f.etag == "" && changes[i].Kind != wire.Delete {
			etags[i] = SupersededETag
		}
	}
	return etags
}

// inspect reads the row of c and judges it.
func inspect(ctx context.Context, client *wire.Client, c *Change) (finding, error) {
	var f finding
	err := client.Get(ctx, c.PartitionKey, c.RowKey, func(etag string, body []byte) (err error) {
		if etag == "" { // it is in the body only
			_, m, err := edm.ReadProperties(body)
			if err != nil {
				return err
			}
			etag = m.ETag
		}
		f, err = judge(c, Row{ETag: etag, Body: body})
		return err
	})
	if errors.Is(err, azerr.ErrNotFound) {
		return finding{verdict: missing}, nil
	}
	return f, err
}

func judge(c *Change, row Row) (finding, error) {
	conditional := c.Kind >= wire.Merge && c.ETag != "*"
	if conditional && row.ETag == c.ETag {
		return finding{verdict: unchanged}, nil
	}
	if c.ID != "" || c.Base != "" {
		return judgeStamps(c, row)
	}
	// Content proves nothing about a write that has a condition: another client may have stored the
	// same. One without a condition makes no difference to such a row.
	if c.Kind == wire.Delete || !c.Repeatable && (conditional || c.Kind == wire.Insert) {
		return finding{}, nil
	}
	same, err := c.sameContent(row)
	if err != nil || !same {
		return finding{}, err
	}
	return finding{equal, row.ETag}, nil
}

// judgeStamps judges a row whose writes are stamped.
func judgeStamps(c *Change, row Row) (finding, error) {
	stampsOf := c.Stamps
	if stampsOf == nil {
		stampsOf = edm.Stamps
	}
	stamps, err := stampsOf(row.Body)
	switch {
	case err != nil:
		return finding{}, err
	case c.ID != "" && hasStamp(stamps, c.ID):
		f := finding{verdict: stamped}
		// The stamp does not prove that this is the version written: a client that does
		// not stamp its writes may have changed the row since.
		if same, err := c.sameContent(row); err == nil && same {
			f.etag = row.ETag
		}
		return f, nil
	case c.Kind >= wire.Merge && c.ETag != "*" && reachesBack(stamps, c.Base):
		return finding{verdict: excluded}, nil
	}
	// The stamps prove nothing about an insert: the row that it made may have been
	// deleted, and inserted again by another client.
	return finding{}, nil
}

// sameContent reports whether the row has the content that c writes.
func (c *Change) sameContent(row Row) (bool, error) {
	if c.Kind == wire.Merge || c.Kind == wire.InsertOrMerge {
		return edm.HasContent(c.Body, row.Body)
	}
	return edm.EqualContent(c.Body, row.Body)
}
