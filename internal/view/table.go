package view

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// RemoteTable is a Target: a table that contains remote rows. It may be in another account
// than the primary's table.
type RemoteTable struct {
	Client *wire.Client
	id     string
}

// NewTable returns the Table of the given ID, "" for the primary's own table.
func NewTable(id string, client *wire.Client) *RemoteTable {
	return &RemoteTable{Client: client, id: id}
}

// ID returns the ID passed to NewTable.
func (t *RemoteTable) ID() string { return t.id }

// Module implements [types.Target].
func (t *RemoteTable) Module(azerr.Module) {}

// Create creates the table; it is not an error if the table exists. One request.
func (t *RemoteTable) Create(ctx context.Context) error { return t.Client.CreateTable(ctx) }

// Read reads what a claim needs to be carried out. One request; two concurrent ones for
// a merge, and two more if the row is missing and the mark is not.
func (t *RemoteTable) Read(ctx context.Context, c *Claim) (Found, error) {
	var f Found
	g, gctx := errgroup.WithContext(ctx)
	if c.View.Shape.Kind == types.Merges {
		g.Go(func() (err error) {
			f.Mark, err = txn.ReadRow(gctx, t.Client, c.MarkKey())
			return err
		})
	}
	var err error
	f.Row, err = txn.ReadRow(ctx, t.Client, c.Key)
	err = errors.Join(err, g.Wait())
	if err == nil && f.Row.Absent() && !f.Mark.Absent() {
		// A delete of the mark cannot be conditional on a missing row. It is conditional on
		// the sum row, so make sure that the row was missing while that was unchanged.
		if f.Sum, err = txn.ReadRow(ctx, t.Client, c.sumKey()); err == nil {
			f.Row, err = txn.ReadRow(ctx, t.Client, c.Key)
		}
	}
	return f, err
}

// Write carries out c on condition that everything is still as found. It fails with
// [ErrRaced] if something has changed, and with [*types.DuplicateError] if the row belongs to
// another primary and may not be taken over. sent reports whether it sent a write.
//
// One request at most. If a counter is missing, Write first reads the sum row and the
// marks of the counter, and a missing row again: up to two requests, and one for each 1000
// marks.
func (t *RemoteTable) Write(ctx context.Context, c *Claim, found Found) (sent bool, err error) {
	if c.View.Shape.Kind == types.Merges {
		if err = t.sumOthers(ctx, c, &found); err != nil {
			return false, err
		}
	}
	writes, err := c.writes(found, nil)
	var other *OwnedByOther
	if errors.As(err, &other) {
		if err := c.resolveOwner(ctx, other); err != nil {
			return false, err
		}
		writes, err = c.writes(found, &other.Owner)
		if errors.As(err, &other) {
			return false, &types.DuplicateError{View: c.View.Name, Key: c.Key}
		}
	}
	if err != nil {
		return false, &types.ViewError{View: c.View.Name, Err: err}
	}
	return len(writes) > 0, t.Send(ctx, writes)
}

// resolveOwner fails if the claim may not have a row that belongs to another.
func (c *Claim) resolveOwner(ctx context.Context, other *OwnedByOther) error {
	if c.MayOverwrite == nil {
		return &types.DuplicateError{View: c.View.Name, Key: c.Key}
	}
	may, err := c.MayOverwrite(ctx, other)
	if err == nil && !may {
		err = &types.DuplicateError{View: c.View.Name, Key: c.Key}
	}
	return err
}

// Send sends writes of one partition, in one request or, if there are none, in no
// request. Its errors are those of [Raced].
func (t *RemoteTable) Send(ctx context.Context, writes []*wire.Write) (err error) {
	switch len(writes) {
	case 0:
		return nil
	case 1:
		_, err = t.Client.Write(ctx, *writes[0])
	default:
		_, err = t.Client.Batch(ctx, writes)
	}
	return Raced(ctx, err)
}

// ErrRaced means that a row has changed since it was read, or that the outcome of a
// write is unknown. Read the row again. It matches [azerr.ErrConflict].
var ErrRaced = azerr.Errorf("raced: %w", azerr.ErrConflict)

// Raced converts the error of a conditional write into [ErrRaced], if reading the row
// again shows what to do. It leaves other errors, and all errors after ctx has ended,
// unchanged.
func Raced(ctx context.Context, err error) error {
	var e *types.Error
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, azerr.ErrExists), errors.Is(err, azerr.ErrConflict), errors.Is(err, azerr.ErrNotFound):
		return ErrRaced
	case errors.As(err, &e) && e.Unsure:
		return fmt.Errorf("%w: %w", ErrRaced, err)
	}
	return err
}
