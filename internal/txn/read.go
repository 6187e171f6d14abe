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
	var r Record
	var unknown edm.Unknown
	var meta edm.Meta
	err := t.Client.Get(ctx, key.Partition, key.Row, func(etag string, body []byte) error {
		r.Value, meta, unknown = t.Zero(), edm.Meta{}, edm.Unknown{} // this may be a second attempt
		if err := t.Codec.DecodeEntity(body, r.Value, &meta, &unknown); err != nil {
			return err
		}
		if meta.PartitionKey != key.Partition || meta.RowKey != key.Row {
			return fmt.Errorf("%w: another row than asked for", azerr.ErrBadReply)
		}
		if etag != "" {
			meta.ETag = etag
		}
		return nil
	})
	if err != nil {
		return Record{}, err
	}
	r.Key, r.ETag, r.Timestamp = key, meta.ETag, meta.Timestamp
	r.Origin = NewOrigin(&meta, &unknown, nil, t.Stamped)
	return r, nil
}
