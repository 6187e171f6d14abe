package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// A feed reads the changes of a partition epoch by epoch, and only those of closed epochs: they are complete, and their rows do not change.
//
//   - Before a program commits its first change in an epoch of a partition, it puts a message for each feed, with the partition and the epoch.
//   - Who receives the message closes the epoch, unless that has been done, reads all epochs up to it, and stores the position of the
//     feed. Only then is the message deleted. So no change can be committed in an epoch whose message is gone.
//   - A feed without a position stores that of the first epoch that is left before it delivers, unless that is epoch 1. A sweep stores it too,
//     before it deletes anything that the feed has not read: one of the two fails.
//   - Closing an epoch inserts its end row, with the next epoch. A sweep marks the end row before it deletes the first change of the epoch,
//     and a feed delivers a page of changes only if the end row, read after them, is not marked.

// ErrSwept means that changes were deleted before a feed has read them.
var ErrSwept = azerr.Sentinel("changes were swept before the feed read them")

const (
	feedPrefix   = rootRow + "_"
	readerPrefix = view.ReservedRow + "_read_" // the position of a feed
	leasePrefix  = view.ReservedRow + "_lease_"

	propPosition = "azp_position" // in the epoch, or in the snapshot
	propSnapshot = "azp_snapshot" // of a position: the entities themselves are being read
)

// epochPrefix is the prefix of the row keys of the marker, the changes and the end row of an epoch, in this order.
func epochPrefix(epoch int64) string { return fmt.Sprintf("%s%0*d_", feedPrefix, versionDigits, epoch) }

// endOf is the key of the end row of an epoch, which exists from when the epoch is closed until its changes have been swept.
func endOf(partition string, epoch int64) keys.Key {
	return keys.Key{Partition: partition, Row: epochPrefix(epoch) + "~"}
}

func (r *Row) feedKey() keys.Key {
	row := fmt.Sprintf("%s%s_%0*d", epochPrefix(r.Version.Epoch), view.Hash(r.Entity.Row), versionDigits, r.Version.Number)
	return keys.Key{Partition: r.Entity.Partition, Row: row}
}

// wake makes sure that each feed will read the epoch of the attempt. It makes no request if the program has done so of late: if the epoch is not
// closed in time, it puts another message, because the first one may be on a poison queue, or was one of a partition that was deleted since.
func (t *Transaction) wake(ctx context.Context) error {
	j := t.journal
	if j.knows(t.partition, t.epoch) {
		return nil
	}
	err := calls.Each(ctx, len(j.feeds), parallel, func(ctx context.Context, i int) error {
		// A later attempt gets more time, so that no feed closes its epoch too early again and again.
		return j.feeds[i].Wake(ctx, j.Table(), t.partition, t.epoch, j.feeds[i].Delay<<min(t.wakes, maxDoubled))
	})
	if err != nil {
		return fmt.Errorf("wake feeds: %w", err)
	}
	t.wakes++
	j.expect(t.partition, t.epoch)
	return nil
}

const maxDoubled = 6

// maxTries is how often a step is tried that other programs prevent.
const maxTries = 8

// Close makes sure that no change can be committed in an epoch of a partition any more, and returns the last epoch that is closed, at most
// this one. One request if it was not closed before, and otherwise two.
func (j *Journal) Close(ctx context.Context, partition string, epoch int64) (closed int64, err error) {
	err = j.advance(ctx, partition, root{epoch, "*"}, epoch+1, false)
	r, known := root{}, root{}
	for try := 1; err != nil; try++ {
		if try > maxTries || !errors.Is(err, azerr.ErrConflict) && !errors.Is(err, azerr.ErrExists) && !errors.Is(err, azerr.ErrNotFound) {
			return 0, err
		}
		if try > 2 {
			if perr := calls.Pause(ctx, try); perr != nil {
				return 0, perr
			}
		}
		if r, err = j.readRoot(ctx, partition); err != nil {
			return 0, err
		}
		lost := r == known && r.epoch > 0 // the marker
		switch known = r; {
		case r.epoch == 0: // so that who begins the journal finds its first epoch closed
			r.epoch, lost = 1, true
		case r.epoch != epoch: // it was closed, or is one from before the partition was deleted
			return min(r.epoch-1, epoch), nil
		}
		if err = j.advance(ctx, partition, r, r.epoch+1, lost); err == nil {
			epoch = r.epoch
		}
	}
	return epoch, nil
}

// Position is how far a feed has read a partition. The zero Position is where none has been stored.
type Position struct {
	Epoch    int64  // the first one that was not read completely
	After    string // of the epoch: the row of the last change that was delivered; of a snapshot: the cursor of the next page
	Snapshot bool   // the entities are delivered before the epoch
	etag     string
}

func positionKey(partition, feed string) keys.Key {
	return keys.Key{Partition: partition, Row: readerPrefix + feed}
}

// LeaseRow is the row key of the lease of a feed in a partition.
func LeaseRow(feed string) string { return leasePrefix + feed }

// Position returns the position of a feed. One request.
func (j *Journal) Position(ctx context.Context, partition, feed string) (p Position, err error) {
	row, err := txn.ReadRow(ctx, j.rows.Client, positionKey(partition, feed))
	if err != nil || row.Absent() {
		return p, err
	}
	content, err := row.Content()
	if err != nil {
		return p, err
	}
	p.Epoch, _ = content.Properties[propEpoch].(int64)
	p.Snapshot, _ = content.Properties[propSnapshot].(bool)
	p.After, p.etag = content.Text(propPosition), row.ETag
	if p.Epoch < 1 {
		err = fmt.Errorf("position of a feed: %w", azerr.ErrBadReply)
	}
	return p, err
}

// Save stores the position of a feed, on condition that the stored one is that which was read. One request.
func (j *Journal) Save(ctx context.Context, partition, feed string, p *Position) error {
	op := put(wire.Insert, positionKey(partition, feed), edm.Properties{propEpoch: p.Epoch, propPosition: p.After, propSnapshot: p.Snapshot})
	if p.etag != "" {
		op.Kind, op.ETag = wire.Replace, p.etag
	}
	etag, err := j.commit(ctx, op)
	if err == nil {
		p.etag = etag
	}
	return err
}

// commit carries out one operation, and returns the new ETag.
func (j *Journal) commit(ctx context.Context, op *txn.Op) (etag string, err error) {
	change, err := j.rows.Prepare(op, nil)
	if err != nil {
		return "", err
	}
	return txn.Send(ctx, j.rows.Client, change)
}

// First returns the position before the oldest change of a partition that is still stored. One request or two.
func (j *Journal) First(ctx context.Context, partition string) (p Position, err error) {
	ends := query.And(query.PartitionKey.Eq(partition), query.RowKey.Within(keys.Prefix(feedPrefix)), query.Prop(propEpoch).Gt(int64(0)))
	for e, err := range fetch.Properties(ctx, j.rows.Client, ends, &types.QueryOptions{Limit: 1, PageSize: 1}) {
		if err == nil {
			p.Epoch, err = epochIn(e.Key)
		}
		return p, err
	}
	r, err := j.readRoot(ctx, partition)
	return Position{Epoch: r.epoch}, err
}

// epochIn returns the epoch of which a row is.
func epochIn(row keys.Key) (epoch int64, err error) {
	number, _, _ := strings.Cut(strings.TrimPrefix(row.Row, feedPrefix), "_")
	if _, err = fmt.Sscanf(number, "%d", &epoch); err != nil || epoch < 1 {
		return 0, fmt.Errorf("row of a journal: %w", azerr.ErrBadReply)
	}
	return epoch, nil
}

// Delivery is a change that a feed has read.
type Delivery struct {
	Change
	After Position // when this change was delivered
}

// Read returns the next changes of a closed epoch, up to 2000, in the order of each entity, and the position after them. It fails with [ErrSwept]
// if some were deleted. One request for up to 999 changes, two for up to 1999, and otherwise three.
func (j *Journal) Read(ctx context.Context, partition string, p Position) (changes []Delivery, next Position, err error) {
	rows := keys.Prefix(epochPrefix(p.Epoch))
	f := query.And(query.PartitionKey.Eq(partition), query.RowKey.Within(rows))
	if p.After != "" {
		f = query.And(f, query.RowKey.Gt(p.After))
	}
	page, cursor, err := fetch.PropertiesPage(ctx, j.rows.Client, f, nil, "")
	for n := 1; err == nil && cursor != "" && (n < 2 || len(page) == 0); n++ {
		var more []fetch.Entry
		more, cursor, err = fetch.PropertiesPage(ctx, j.rows.Client, f, nil, cursor)
		page = append(page, more...)
	}
	if err != nil {
		return nil, p, err
	}
	end := endOf(partition, p.Epoch)
	next = p
	var follows int64 // the next epoch; the end row follows the changes
	if n := len(page); n > 0 && page[n-1].Key == end {
		follows, _ = page[n-1].Properties[propEpoch].(int64)
		page = page[:n-1]
		next.Epoch, next.After = follows, ""
	} else if n > 0 {
		if follows, err = j.following(ctx, end); err != nil {
			return nil, p, err
		}
		next.After = page[n-1].Key.Row
	}
	if follows <= p.Epoch {
		return nil, p, ErrSwept
	}
	for i := range page {
		row, err := read(page[i].Content)
		if err != nil {
			return nil, p, err
		}
		after := p
		after.After = page[i].Key.Row
		changes = append(changes, Delivery{Change{row, page[i].Timestamp}, after})
	}
	return changes, next, nil
}

// following returns the epoch after the one with an end row, less than 1 if that is being swept, or was.
func (j *Journal) following(ctx context.Context, end keys.Key) (epoch int64, err error) {
	row, err := txn.ReadRow(ctx, j.rows.Client, end)
	if err != nil || row.Absent() {
		return 0, err
	}
	content, err := row.Content()
	epoch, _ = content.Properties[propEpoch].(int64)
	return epoch, err
}

// Lag is how many changes a feed has not read, and when the service stored the first of them.
type Lag struct {
	Changes int
	Since   time.Time
}

// LagOf returns the lag of a position. One request for each 1000 changes.
func (j *Journal) LagOf(ctx context.Context, partition string, p Position) (l Lag, err error) {
	f := query.And(query.PartitionKey.Eq(partition), query.RowKey.Within(keys.Range{From: epochPrefix(p.Epoch), To: keys.Prefix(feedPrefix).To}))
	if !p.Snapshot && p.After != "" {
		f = query.And(f, query.RowKey.Gt(p.After))
	}
	for e, err := range fetch.Properties(ctx, j.rows.Client, f, &types.QueryOptions{Select: []string{"Timestamp", propKind}}) {
		if err != nil {
			return l, err
		}
		if _, isChange := e.Properties[propKind]; !isChange {
			continue
		}
		if l.Changes++; l.Since.IsZero() || e.Timestamp.Before(l.Since) {
			l.Since = e.Timestamp
		}
	}
	return l, nil
}
