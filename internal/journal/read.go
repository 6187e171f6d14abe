package journal

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Change is a change of an entity that was recorded.
type Change struct {
	Row
	At time.Time // when the service stored it
}

// Changes returns a page of the recorded changes of an entity that f matches, the newest first, and the cursor of the next page, "" for
// none. One request.
func (j *Journal) Changes(ctx context.Context, entity keys.Key, f query.Filter, cursor string, opts *types.QueryOptions) (changes []Change, next string, err error) {
	f = query.And(query.PartitionKey.Eq(entity.Partition), query.RowKey.Within(keys.Prefix(history(entity.Row))), f)
	page, next, err := fetch.PropertiesPage(ctx, j.rows.Client, f, opts, cursor)
	for i := range page {
		row, err := read(page[i].Content)
		if err != nil {
			return nil, "", err
		}
		changes = append(changes, Change{row, page[i].Timestamp})
	}
	return changes, next, err
}

// Newest returns the newest recorded change of an entity that f matches, nil for none. One request, or more if the service ends pages early.
func (j *Journal) Newest(ctx context.Context, entity keys.Key, f query.Filter) (*Change, error) {
	for cursor := ""; ; {
		changes, next, err := j.Changes(ctx, entity, f, cursor, &types.QueryOptions{PageSize: 1})
		if err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			return &changes[0], nil
		}
		if cursor = next; cursor == "" {
			return nil, nil
		}
	}
}

// Change returns one change of an entity, or an error that matches [azerr.ErrNotFound]. One request.
func (j *Journal) Change(ctx context.Context, entity keys.Key, v Version) (Change, error) {
	at := Row{Entity: entity, Version: v}
	row, err := txn.ReadRow(ctx, j.rows.Client, at.key())
	if err != nil {
		return Change{}, err
	}
	if row.Absent() {
		return Change{}, azerr.ErrNotFound
	}
	content, err := row.Content()
	if err != nil {
		return Change{}, err
	}
	r, err := read(content)
	return Change{r, content.Timestamp}, err
}

// Decode returns the entity in a row that was recorded, nil for none.
func (j *Journal) Decode(row []byte) (any, error) {
	if row == nil {
		return nil, nil
	}
	entity := j.entities.Zero()
	var m edm.Meta
	var unknown edm.Unknown
	return entity, j.entities.Codec.DecodeEntity(row, entity, &m, &unknown)
}
