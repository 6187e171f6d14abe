package widerow

import (
	"context"
	"errors"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/reencrypt"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Reencrypt writes the entities again whose encrypted properties do not have the current key.
func (t *Table) Reencrypt(ctx context.Context, opts *types.SweepOptions) (types.SweepReport, error) {
	if t == nil {
		return types.SweepReport{}, errNoTable
	}
	return reencrypt.SweepEntities(ctx, opts, t.codec, t.Client, rewriter{t})
}

// rewriter is the Entities of a table.
type rewriter struct{ table *Table }

func (rewriter) Entity(row keys.Key) (entity keys.Key, ok bool) {
	base, suffix, ok := strings.Cut(row.Row, separator)
	if _, known := kindOf(suffix); !ok || !known {
		return entity, false
	}
	id, err := keys.Unescape(base)
	return keys.Key{Partition: row.Partition, Row: id}, err == nil
}

func (w rewriter) Rewrite(ctx context.Context, entity keys.Key) error {
	return w.table.attempt(ctx, func() (retry bool, err error) {
		r, err := w.table.Get(ctx, entity)
		if err == nil {
			_, err = w.table.writeWhole(ctx, rowsAt(entity), r.Origin.head, r)
		}
		return changedSince(err) && !errors.Is(err, azerr.ErrNotFound), err
	})
}
