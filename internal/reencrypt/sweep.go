// Package reencrypt brings the encrypted properties of rows to the current key, while programs read and write them.
package reencrypt

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

const (
	parallel = 8
	tries    = 16
)

// Sweep encrypts the properties of the codec with the current key in all rows of tables that have another one. The values of a row
// are merged into it under its ETag, so that nothing else of it changes. begin is called before the first row is read.
func Sweep(ctx context.Context, opts *types.SweepOptions, codec *edm.Codec, tables []*wire.Client, begin func(context.Context) error) (types.SweepReport, error) {
	return run(ctx, opts, &sweeper{codec: codec, tables: tables}, begin)
}

// Entities is what [SweepEntities] has to know of entities that take several rows.
type Entities interface {
	// Entity returns the key of the entity that has a row, false for a row of none.
	Entity(row keys.Key) (entity keys.Key, ok bool)

	// Rewrite reads an entity and writes it again, unless it has changed meanwhile. It fails with [azerr.ErrNotFound] if there is none.
	Rewrite(ctx context.Context, entity keys.Key) error
}

// SweepEntities rewrites the entities that have a property, or its first piece, with another key than the current one.
func SweepEntities(ctx context.Context, opts *types.SweepOptions, codec *edm.Codec, table *wire.Client, entities Entities) (types.SweepReport, error) {
	return run(ctx, opts, &sweeper{codec: codec, tables: []*wire.Client{table}, entities: entities}, func(context.Context) error { return nil })
}

func run(ctx context.Context, opts *types.SweepOptions, s *sweeper, begin func(context.Context) error) (types.SweepReport, error) {
	ctx, run, err := sweep.Begin(ctx, "reencrypt", opts, 0)
	s.Run, s.names = run, s.codec.Encrypted()
	if err == nil && len(s.names) == 0 {
		err = azerr.Errorf("%w: the type has no encrypted field", azerr.ErrBadOption)
	}
	if err == nil {
		err = run.Tables(ctx, len(s.tables), s.address, begin, s.page)
	}
	if err != nil {
		err = fmt.Errorf("reencrypt: %w", err)
	}
	return run.Report(), err
}

type sweeper struct {
	*sweep.Run
	codec  *edm.Codec
	tables []*wire.Client
	names  []string // of the encrypted properties

	entities Entities // nil: each row is one
}

// address is that of the first table, "" if it is not known yet.
func (s *sweeper) address() string {
	a, _ := s.tables[0].Address()
	return a.Base
}

// page processes the rows of a page, and returns the cursor of the next one.
func (s *sweeper) page(ctx context.Context, table int, cursor string) (next string, err error) {
	opts := &types.QueryOptions{Select: s.names, Allow: query.TableScan, PageSize: s.PageSize()}
	rows, next, err := fetch.PropertiesPage(ctx, s.tables[table], s.InPartitions(), opts, cursor)
	if err == nil {
		_, err = s.From(s.address())
	}
	if err != nil {
		return cursor, err
	}
	if s.entities != nil {
		rows = s.outdated(rows)
	}
	_ = calls.Each(ctx, len(rows), parallel, func(ctx context.Context, i int) error {
		s.row(ctx, s.tables[table], rows[i])
		return nil // failures are in the report
	})
	return next, ctx.Err()
}

// outdated returns one row for each entity that has an outdated one, with the key of the entity.
func (s *sweeper) outdated(rows []fetch.Entry) (entities []fetch.Entry) {
	for _, e := range rows {
		var ok bool
		if e.Key, ok = s.entities.Entity(e.Key); ok && s.codec.Outdated(e.Properties) && (len(entities) == 0 || entities[len(entities)-1].Key != e.Key) {
			entities = append(entities, e)
		}
	}
	return entities
}

// row processes a row, or an entity.
func (s *sweeper) row(ctx context.Context, c *wire.Client, e fetch.Entry) {
	skipped := c.Age(e.Timestamp) < s.OlderThan
	var w *wire.Write
	var err error
	if s.entities == nil {
		if w, err = s.renewed(&e); w == nil && err == nil {
			return
		}
	} else if !skipped && !s.DryRun {
		err = s.entities.Rewrite(ctx, e.Key)
	}
	for try := 1; w != nil && !skipped && !s.DryRun; try++ {
		w, err = s.write(ctx, c, &e, w, try)
	}
	if errors.Is(err, azerr.ErrNotFound) {
		skipped, err = true, nil // deleted
	}
	s.Found(e.Key, err, func(r *types.SweepReport) {
		if skipped {
			r.Skipped++
		} else {
			r.Done++
		}
	})
}

// renewed returns the write that brings a row up to date, nil if it is.
func (s *sweeper) renewed(e *fetch.Entry) (*wire.Write, error) {
	renewed, err := s.codec.Renewed(e.Key, e.Properties)
	if err != nil || renewed == nil {
		return nil, err
	}
	w := &wire.Write{Kind: wire.Merge, PartitionKey: e.Key.Partition, RowKey: e.Key.Row, ETag: e.ETag}
	w.Body, err = edm.Content{Properties: renewed}.Encode(e.Key)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// write carries out the write of a row. If the row has changed since it was read, it reads the row again, and returns the write that
// this needs. If the reply was lost, it reads whether the row is up to date.
func (s *sweeper) write(ctx context.Context, c *wire.Client, e *fetch.Entry, w *wire.Write, try int) (*wire.Write, error) {
	_, failed := c.Write(ctx, *w)
	var of *types.Error
	changed := errors.Is(failed, azerr.ErrConflict) && try < tries
	if !changed && !(errors.As(failed, &of) && of.Unsure) {
		return nil, failed
	}
	if err := calls.Pause(ctx, try); err != nil {
		return nil, err
	}
	if err := c.Get(ctx, e.Key.Partition, e.Key.Row, func(etag string, body []byte) (err error) {
		e.ETag = etag
		e.Content, err = edm.ContentOf(body)
		return err
	}); err != nil {
		return nil, err
	}
	again, err := s.renewed(e)
	if again != nil && !changed {
		return nil, failed
	}
	return again, err
}
