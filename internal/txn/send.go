package txn

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Update reads the entity at key, calls change to modify it, and replaces it under its
// ETag; it starts over after a conflict, at most tries times.
func (t *Table) Update(ctx context.Context, key keys.Key, tries int, change func(entity any) error) (Record, error) {
	if err := t.Writable.Check(key.Partition); err != nil {
		return Record{}, fmt.Errorf("update: %w", err)
	}
	for try := 1; ; try++ {
		was, err := t.Get(ctx, key)
		if err != nil {
			return Record{}, err
		}
		if err := change(was.Value); err != nil {
			return Record{}, err
		}
		r, err := t.Do(ctx, &Op{
			Kind: wire.Replace, Name: "replace", Value: was.Value, Key: was.Key, ETag: was.ETag, Origin: was.Origin,
		})
		if err == nil || !errors.Is(err, azerr.ErrConflict) || errors.Is(err, azerr.ErrOutcomeUnknown) || try >= tries {
			return r, err
		}
		if err := calls.Pause(ctx, try); err != nil {
			return Record{}, err
		}
	}
}

// Do carries out op. One request, and one more to resolve an unknown outcome.
func (t *Table) Do(ctx context.Context, op *Op) (Record, error) {
	c, err := t.Prepare(op, nil)
	if err != nil {
		return Record{}, err
	}
	etag, err := Send(ctx, t.Client, c)
	if err != nil {
		if op.IfExists && errors.Is(err, azerr.ErrNotFound) {
			return Record{Key: op.Key}, nil
		}
		return Record{}, err
	}
	return t.written(op, &c, etag), nil
}

// written is the record of a row that was just written.
func (t *Table) written(op *Op, c *Change, etag string) Record {
	r := Record{Value: op.Value, Key: c.Key(), ETag: etag, Origin: op.Origin}
	if op.Value == nil {
		return r
	}
	var unknown edm.Unknown
	changed := t.Stamped || len(op.texts) > 0 || op.only != nil
	if op.Origin != nil {
		after, other := op.after(t.Codec, c.Body)
		unknown, changed = after, changed || other
	}
	if !changed {
		return r
	}
	var o Origin
	if op.Origin != nil {
		o = *op.Origin
	}
	o.Unknown = op.unknown(unknown)
	if op.only != nil {
		o.Selected = op.only
	}
	if t.Stamped {
		o.Stamp, o.Version = AddStamp(c.ID, c.Base), etag
	}
	r.Origin = &o
	return r
}

// Send carries out one change and resolves its outcome if the response leaves it open.
// It returns the row's new ETag.
func Send(ctx context.Context, client *wire.Client, c Change) (string, error) {
	etag, err := client.Write(ctx, c.Write)
	var e *types.Error
	if err == nil {
		c.stored(etag)
		return etag, nil
	}
	if !errors.As(err, &e) || !e.Unsure {
		return etag, withoutBatch(err)
	}
	etags, err := Resolve(ctx, client, []Change{c}, e)
	if err != nil {
		return "", err
	}
	c.stored(etags[0])
	return etags[0], nil
}

// withoutBatch removes the transaction in which a single write may have been sent.
func withoutBatch(err error) error {
	var b *wire.BatchFailure
	if errors.As(err, &b) {
		return b.Cause
	}
	return err
}
