package patterns

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// TableTarget is another table, also of another account. id names it; it must be
// the same in every process, and not "".
func TableTarget(id string, client *aztables.Client) Target {
	return &tableTarget{id: id, wire: wire.NewClient(client)}
}

// tableTarget keeps derived rows in a table; with the id "", in the primary's own.
type tableTarget struct {
	id   string
	wire *wire.Client
}

// ID is the name given to TableTarget.
func (t *tableTarget) ID() string { return t.id }

// errRaced says that what was read has been changed meanwhile, or that it is not
// known whether a write was carried out. Read again.
var errRaced = fmt.Errorf("raced: %w", ErrConflict)

// Reconcile reads what stands at the claim's place and writes what is missing. One
// request where nothing is, two else; two more for each lost race.
func (t *tableTarget) Reconcile(ctx context.Context, c Claim) error {
	for try := 1; ; try++ {
		found, err := t.read(ctx, &c)
		if err != nil {
			return err
		}
		if _, err = t.write(ctx, &c, found); !errors.Is(err, errRaced) || try >= defaultUpdateTries {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// reading is what a claim was read to meet.
type reading struct {
	row  standing
	mark standing // of the primary's part in counters; merges only

	// others are the parts of all other primaries, if they were added up.
	others map[string]int64
}

func (t *tableTarget) read(ctx context.Context, c *Claim) (reading, error) {
	var r reading
	g, gctx := errgroup.WithContext(ctx)
	if c.Kind == Merges {
		g.Go(func() (err error) {
			r.mark, err = readRow(gctx, t.wire, markKey(c))
			return err
		})
	}
	var err error
	r.row, err = readRow(ctx, t.wire, c.Key)
	err = errors.Join(err, g.Wait())
	if err == nil && r.row.absent() && !r.mark.absent() {
		// Nothing can be made conditional on a row that is not there, so be sure that
		// it was gone while the mark stood.
		r.row, err = readRow(ctx, t.wire, c.Key)
	}
	return r, err
}

// write does what c asks for, on condition that everything is still as found. It
// fails with errRaced if it is not. acted says that a request was made.
func (t *tableTarget) write(ctx context.Context, c *Claim, found reading) (acted bool, err error) {
	if c.Kind == Merges {
		if found.others, err = t.countOthers(ctx, c, found); err != nil {
			return false, err
		}
	}
	writes, err := c.writes(found, nil)
	var taken *takenError
	if errors.As(err, &taken) {
		if c.free == nil {
			return false, &DuplicateError{c.View, c.Key}
		}
		free, ferr := c.free(ctx, taken)
		if ferr != nil {
			return false, ferr
		}
		if !free {
			return false, &DuplicateError{c.View, c.Key}
		}
		writes, err = c.writes(found, &taken.owner)
		if errors.As(err, &taken) {
			return false, &DuplicateError{c.View, c.Key}
		}
	}
	if err != nil {
		return false, &ViewError{c.View, err}
	}
	return len(writes) > 0, t.send(ctx, writes)
}

// writes is what to write, all in one transaction, given what stands there. free is
// another owner whose row may be taken.
func (c *Claim) writes(found reading, free *keys.Key) ([]*wire.Write, error) {
	l := &lens{name: c.View, shape: Shape{Kind: c.Kind, List: c.List}}
	switch c.Kind {
	case Copies:
		claim := copyClaim{key: c.Key, primary: c.Owner, view: c.View, op: c.op, body: c.body, over: free}
		return one(claim.write(found.row))
	case Members:
		if c.List == nil {
			return nil, badView(c.View, "its shape has no List")
		}
		return one(l.memberWrite(c.Key, c.Owner, c.Wanted, found.row))
	}
	return c.mergeWrites(l, found, free)
}

func one(w wire.Write, act bool, err error) ([]*wire.Write, error) {
	if err != nil || !act {
		return nil, err
	}
	return []*wire.Write{&w}, nil
}

// memberWrite puts the primary into the list that stands at key, or takes it out.
func (l *lens) memberWrite(key, primary keys.Key, wanted bool, s standing) (w wire.Write, act bool, err error) {
	row, err := s.content()
	if err != nil {
		return w, false, err
	}
	if changed, err := l.editList(row, primary, wanted); err != nil || !changed {
		return w, false, err
	}
	empty, err := l.emptyList(row)
	if err != nil {
		return w, false, err
	}
	if empty {
		return away(key, s.etag), !s.absent(), nil
	}
	w, err = row.over(key, s)
	return w, true, err
}

// send carries out writes in one request, none in no request.
func (t *tableTarget) send(ctx context.Context, writes []*wire.Write) (err error) {
	switch len(writes) {
	case 0:
		return nil
	case 1:
		_, err = t.wire.Write(ctx, *writes[0])
	default:
		_, err = t.wire.Batch(ctx, writes)
	}
	return raced(ctx, err)
}

// raced turns every outcome after which one has to look again into errRaced.
func raced(ctx context.Context, err error) error {
	var e *azerr.Error
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, ErrExists), errors.Is(err, ErrConflict), errors.Is(err, ErrNotFound):
		return errRaced
	case errors.As(err, &e) && e.Unsure:
		return fmt.Errorf("%w: %w", errRaced, err)
	}
	return err
}
