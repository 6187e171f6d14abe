package largeentity_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// upload is a large entity that expires.
type upload struct {
	PartitionKey, RowKey string
	Until                time.Time
	Content              []byte `table:",blob"`
}

func uploadAt(row string) keys.Key { return keys.Key{Partition: "p", Row: row} }

// uploads are large entities whose rows are inserted by a Store.
type uploads struct {
	store *patterns.Store[upload]
	large *largeentity.Table[upload]
	sweep *expiry.Sweeper[upload]
	grace time.Duration
}

func newUploads(client *aztables.Client, blobs *container.Client, expires, grace time.Duration) (*uploads, error) {
	large, err := largeentity.New(client, blobs, &largeentity.Options[upload]{Grace: grace})
	if err != nil {
		return nil, err
	}
	byTime := expiry.At("expiry", nil, func(u *upload) time.Time { return u.Until }, &expiry.Options[upload]{Bucket: time.Second})
	store, err := patterns.NewStore(large.Table(), &patterns.StoreOptions[upload]{Views: []patterns.View[upload]{byTime}, Expiry: expires})
	return &uploads{store, large, byTime.On(store), grace}, err
}

func (u *uploads) create(ctx context.Context) error {
	return errors.Join(u.store.Create(ctx), u.large.Create(ctx))
}

// insert inserts the row, and then its content.
func (u *uploads) insert(ctx context.Context, row, content string, until time.Time) error {
	item, err := u.store.Insert(ctx, &upload{PartitionKey: "p", RowKey: row, Until: until})
	if err != nil {
		return err
	}
	entity, err := u.large.FromRow(item)
	if err != nil {
		return err
	}
	entity.Value.Content = noise(content, large)
	_, err = u.large.Replace(ctx, entity)
	return err
}

// get returns an entity that has not expired with its content.
func (u *uploads) get(ctx context.Context, row string) (largeentity.Item[upload], error) {
	item, err := u.store.Get(ctx, uploadAt(row))
	if err != nil {
		return largeentity.Item[upload]{}, err
	}
	entity, err := u.large.FromRow(item)
	if err != nil {
		return entity, err
	}
	return u.large.Load(ctx, entity)
}

// sweepAll deletes the entities that have expired, and their blobs.
func (u *uploads) sweepAll(ctx context.Context) (patterns.SweepReport, error) {
	r, err := u.sweep.Sweep(ctx, nil)
	for range 2 {
		_, blobs := u.large.Sweep(ctx, nil)
		err = errors.Join(err, blobs)
		time.Sleep(u.grace + time.Second) // the mark must be older than Grace
	}
	_, blobs := u.large.Sweep(ctx, nil)
	return r, errors.Join(err, blobs)
}

func TestTheBlobsOfEntitiesThatExpireAreDeleted(t *testing.T) {
	t.Parallel()
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		body := func(t *testing.T) {
			ctx := t.Context()
			u := assert.Must(newUploads(b.Table(t), b.Container(t), 2*time.Second, time.Second))(t)
			assert.NoError(t, u.create(ctx))
			lasts := 4 * time.Second
			if b.InProcess() {
				lasts = 10 * time.Minute // the clock of the account may differ
			}
			end := time.Now().Add(lasts)
			assert.NoError(t, u.insert(ctx, "gone", "a", end))
			assert.NoError(t, u.insert(ctx, "postponed", "b", end))
			assert.NoError(t, u.insert(ctx, "again", "c", end))
			postpone := func(u *upload) error { u.Until = end.Add(time.Hour); return nil }
			assert.Must(u.large.UpdateMeta(ctx, uploadAt("postponed"), postpone))(t)
			assert.Equal(t, string(assert.Must(u.get(ctx, "gone"))(t).Value.Content), string(noise("a", large)))

			time.Sleep(time.Until(end) + lasts)
			_, err := u.get(ctx, "gone")
			assert.WantError(t, err, patterns.ErrNotFound)
			assert.NoError(t, u.insert(ctx, "again", "d", end.Add(time.Hour)))
			assert.Equal(t, len(stored(t, u.large.Container())), 4)

			r := assert.Must(u.sweepAll(ctx))(t)
			assert.Equal(t, [2]int{r.Done, r.Failed}, [2]int{2, 0}, "one entity, and the row of the one that was inserted again")
			assert.Equal(t, len(stored(t, u.large.Container())), 2)
			assert.Equal(t, string(assert.Must(u.get(ctx, "postponed"))(t).Value.Content), string(noise("b", large)))
			assert.Equal(t, string(assert.Must(u.get(ctx, "again"))(t).Value.Content), string(noise("d", large)))
			_, err = u.large.Get(ctx, uploadAt("gone"))
			assert.WantError(t, err, patterns.ErrNotFound)
		}
		if b.InProcess() {
			synctest.Test(t, body)
		} else {
			body(t)
		}
	})
}

// If a process dies at any request, no entity loses a blob that its row names, and sweeps leave neither rows nor blobs.
func TestACrashLeavesNothingOfEntitiesThatExpire(t *testing.T) {
	const life = 2 * time.Hour
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		u, err := newUploads(acct.Tables().NewClient("Uploads"), acct.Container("uploads"), time.Hour, day)
		if err == nil {
			err = u.create(ctx)
		}
		if err != nil {
			return err
		}
		acct.Arm()
		for _, step := range []func() error{
			func() error { return u.insert(ctx, "1", "a", time.Now().Add(life)) },
			func() error { return u.insert(ctx, "2", "b", time.Now().Add(life)) },
			func() error { time.Sleep(2 * life); return u.insert(ctx, "1", "c", time.Now().Add(life)) },
			func() error { return assert.ErrorOf(u.sweepAll(ctx)) },
			func() error { time.Sleep(2 * life); return assert.ErrorOf(u.sweepAll(ctx)) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}, func(t *testing.T, acct *storagetest.Account) {
		ctx := t.Context()
		u := assert.Must(newUploads(acct.Tables().NewClient("Uploads"), acct.Container("uploads"), time.Hour, day))(t)
		for item, err := range u.large.Table().Query(ctx, query.And(query.PartitionKey.Eq("p"), query.RowKey.Ge("")), nil) {
			assert.NoError(assert.Now(t), err)
			entity := assert.Must(u.large.FromRow(item))(t)
			assert.NoError(t, assert.ErrorOf(u.large.Load(ctx, entity)))
		}
		time.Sleep(2 * life)
		for range 2 {
			assert.NoError(t, assert.ErrorOf(u.sweepAll(ctx)))
		}
		rows := 0
		for _, err := range u.large.Table().Query(ctx, query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
			assert.NoError(assert.Now(t), err)
			rows++
		}
		assert.Equal(t, [2]int{rows, len(stored(t, u.large.Container()))}, [2]int{}, "rows and blobs")
	})
}
