package txn

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// Get reads the entity at key, or fails with [azerr.ErrNotFound]. One request.
func (t *Table) Get(ctx context.Context, key keys.Key) (Record, error) {
	if err := key.Validate(); err != nil {
		return Record{}, fmt.Errorf("get: %w", err)
	}
	var row struct { // one allocation
		Record
		meta    edm.Meta
		unknown edm.Unknown
	}
	err := t.Client.Get(ctx, key.Partition, key.Row, func(etag string, body []byte) error {
		row.Value, row.meta, row.unknown = t.Zero(), edm.Meta{}, edm.Unknown{} // this may be a second attempt
		if err := t.Codec.DecodeEntity(body, row.Value, &row.meta, &row.unknown); err != nil {
			return err
		}
		if row.meta.PartitionKey != key.Partition || row.meta.RowKey != key.Row {
			return fmt.Errorf("%w: another row than asked for", azerr.ErrBadReply)
		}
		if etag != "" {
			row.meta.ETag = etag
		}
		return nil
	})
	if err != nil {
		return Record{}, err
	}
	row.Key, row.ETag, row.Timestamp = key, row.meta.ETag, row.meta.Timestamp
	row.Origin = t.Origins.New(&row.meta, &row.unknown, nil, t.Stamped)
	return row.Record, nil
}
