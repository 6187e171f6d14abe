// Package journal records the changes of entities in rows of their own, in the transaction of each change.
//
// The order of an entity's changes must not depend on a clock, and must go on if the entity is deleted and created again. So each change
// has a [Version] that only grows, and the row of the change is inserted at a key with the version: no two changes have the same one.
// A partition has an epoch, and each change is numbered within the epoch. The rules, all in one transaction:
//
//   - The entity stores its version. The next version is the next number if the entity's epoch is the present one, and otherwise number
//     1 of the present epoch. An insert takes number 1. If the row of that version exists, because the entity was deleted in this epoch,
//     the newest row of the entity has the last version.
//   - The row of the change is inserted, so a request that arrives late, or twice, has no effect.
//   - The marker of the epoch is merged into on the condition that it exists (If-Match: *), which any number of writers can do
//     without a conflict. A transaction whose epoch was closed fails, reads the root, which has the present epoch, and starts over.
//
// To close an epoch takes one transaction: the root gets the next epoch, the marker is deleted, an end row and the next marker are inserted. Only
// rows of closed epochs are swept: numbers of an epoch that is not closed are known from its rows.
package journal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Journal is the journal of the entities of a table. It is safe for concurrent use.
type Journal struct {
	entities *txn.Table
	rows     *txn.Table // the rows of the journal, in the same table

	feeds []view.Feed

	mu     sync.Mutex
	epochs map[string]knownEpoch
}

// knownEpoch is the last known epoch of a partition, which may be closed. If there are feeds, each has a message of it.
type knownEpoch struct {
	epoch int64
	until time.Time     // when feeds have probably closed it
	wait  time.Duration // how long until was after the message
}

// Of returns the journal of the entities of a table.
func Of(entities *txn.Table, v *view.Journal) *Journal {
	return &Journal{entities: entities, feeds: v.Feeds, epochs: map[string]knownEpoch{}, rows: &txn.Table{
		Client: entities.Client, Codec: edm.PropertiesCodec(), Zero: func() any { return new(edm.Properties) },
	}}
}

func (j *Journal) base() string {
	a, _ := j.rows.Client.Address()
	return a.Base
}

// Table is the name of the table, which messages have. It is known after the first request.
func (j *Journal) Table() string {
	a, _ := j.rows.Client.Address()
	return a.Table()
}

// maxEpochs is of how many partitions a Journal remembers the epoch, at most.
const maxEpochs = 10_000

// epochOf returns the epoch to begin with, 0 if the root must be read: the epoch of an entity was probably closed if there are feeds.
func (j *Journal) epochOf(partition string, ofEntities int64) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	known := j.epochs[partition]
	if len(j.feeds) > 0 && (known.epoch < ofEntities || !time.Now().Before(known.until)) {
		return 0
	}
	return max(known.epoch, ofEntities)
}

// knows reports whether feeds will soon have closed an epoch.
func (j *Journal) knows(partition string, epoch int64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	known := j.epochs[partition]
	return known.epoch == epoch && time.Now().Before(known.until)
}

// setEpoch stores the epoch of a partition, 0 for unknown. If there are feeds, each has got a message of it.
func (j *Journal) setEpoch(partition string, epoch int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.store(partition, epoch)
}

// store is setEpoch while the mutex is held.
func (j *Journal) store(partition string, epoch int64) {
	known := j.epochs[partition]
	delete(j.epochs, partition)
	if epoch == 0 {
		return
	}
	for other := range j.epochs {
		if len(j.epochs) < maxEpochs {
			break
		}
		delete(j.epochs, other)
	}
	if known.epoch != epoch {
		known = knownEpoch{epoch: epoch}
	}
	j.epochs[partition] = known
}

// expect stores that feeds will soon have closed an epoch, after a message of it was put. It expects that later each time.
func (j *Journal) expect(partition string, epoch int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.store(partition, epoch)
	known := j.epochs[partition]
	known.wait = max(j.feeds[0].Delay, min(2*known.wait, j.feeds[0].Delay<<maxDoubled))
	known.until = time.Now().Add(known.wait)
	j.epochs[partition] = known
}

// root is the root of a partition's journal. The zero root does not exist.
type root struct {
	epoch int64
	etag  string
}

func (j *Journal) readRoot(ctx context.Context, partition string) (r root, err error) {
	row, err := txn.ReadRow(ctx, j.rows.Client, keys.Key{Partition: partition, Row: rootRow})
	if err != nil || row.Absent() {
		return r, err
	}
	content, err := row.Content()
	if err != nil {
		return r, err
	}
	epoch, ok := content.Properties[propEpoch].(int64)
	if !ok || epoch < 1 {
		return r, fmt.Errorf("root of a journal: %w", azerr.ErrBadReply)
	}
	return root{epoch, row.ETag}, nil
}

// advance closes the epoch of a partition and begins a later one. It fails with [azerr.ErrConflict], [azerr.ErrExists] or [azerr.ErrNotFound] if
// another program has done so. lost means that the marker of the epoch does not exist. The ETag of the root may be "*" if it does: then
// the root is not read, and the marker decides. It is "" if there is no root.
func (j *Journal) advance(ctx context.Context, partition string, r root, to int64, lost bool) error {
	next := put(wire.Merge, keys.Key{Partition: partition, Row: rootRow}, edm.Properties{propEpoch: to})
	if next.ETag = r.etag; r.etag == "" {
		next.Kind = wire.Insert
	}
	closed := &txn.Op{Kind: wire.Delete, ETag: "*"}
	closed.At(marker(partition, r.epoch))
	batch := txn.NewBatch(j.rows.Client)
	batch.Add(j.rows, next)
	if !lost {
		batch.Add(j.rows, closed)
	}
	batch.Add(j.rows, put(wire.Insert, endOf(partition, r.epoch), edm.Properties{propEpoch: to}))
	batch.Add(j.rows, put(wire.Insert, marker(partition, to), edm.Properties{}))
	_, err := batch.Commit(ctx)
	return err
}
