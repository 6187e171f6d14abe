package outbox_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// engineQueue is a queue of messages that no worker receives.
type engineQueue struct{ puts, deletes int }

func (q *engineQueue) Put(context.Context, types.OutboxMessage, time.Duration) (types.Receipt, error) {
	q.puts++
	return types.Receipt{ID: "m"}, nil
}

func (q *engineQueue) Delete(context.Context, types.Receipt) error {
	q.deletes++
	return nil
}

// Thirty entities were written by a program without views. One transaction writes their rows
// in the partition, the listing of views, and one message for their rows elsewhere; a second
// one finds that all of them are correct.
func TestSeveralEntitiesAreRepairedInOneTransaction(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, other, ctx := b.Table(t), b.Table(t), t.Context()
		hires := people(30)
		plain := assert.Must(newHires(client, patterns.StoreOptions[hire]{}))(t)
		assert.NoError(t, insertAll(ctx, plain, hires))

		codec := assert.Must(edm.CodecFor(reflect.TypeFor[hire]()))(t)
		copies := func(key func(h *hire) keys.Key) func(any) ([]types.DerivedRow, error) {
			return func(entity any) ([]types.DerivedRow, error) {
				return []types.DerivedRow{{Key: key(entity.(*hire))}}, nil
			}
		}
		queue := &engineQueue{}
		views := assert.Must(view.NewSet(codec, []*view.View{
			{Name: "byEmail", Rows: copies(func(h *hire) keys.Key { return keys.Key{Partition: h.Dept, Row: "email_" + h.Email} })},
			{Name: "byName", Shape: types.Shape{Target: view.NewTable("other", wire.NewClient(other))},
				Rows: copies(func(h *hire) keys.Key { return keys.Key{Partition: "name_" + h.Name, Row: h.Dept + "_" + h.ID} })},
		}, true, func(dst, src any) any {
			if dst == nil {
				dst = new(hire)
			}
			*dst.(*hire) = *src.(*hire)
			return dst
		}, nil, nil))(t)
		engine := assert.Must(outbox.New(outbox.Config{
			Table: &txn.Table{Client: wire.NewClient(client), Codec: codec, Zero: func() any { return new(hire) },
				Key: func(v any) (keys.Key, error) { return v.(*hire).key(), nil }},
			Views: views, Queue: queue, Grace: time.Minute, Expiry: time.Hour, Parallel: 8, Tries: 4,
		}))(t)
		repair := func(requests map[string]int) {
			t.Helper()
			var ins []*outbox.Intent
			for _, h := range hires {
				ins = append(ins, &outbox.Intent{Op: "repair", Key: h.key(), Reread: true, Repeatable: true, Repair: true,
					Next: func(was *txn.Record) (any, error) { return was.Value, nil }})
			}
			b.ResetRequests()
			assert.Must(engine.RunAll(ctx, ins))(t)
			b.WantRequests(t, requests)
			if queue.puts != 1 || queue.deletes != 1 {
				t.Errorf("%d messages were put, %d deleted", queue.puts, queue.deletes)
			}
			*queue = engineQueue{}
			assert.NoError(t, verify(ctx, client, other, []string{"byEmail", "byName"}, nil))
		}
		// The entities, and the rows of both views, are read; each remote row is written, and
		// its entity read again.
		repair(map[string]int{"Table.Get": 30 + 30 + 30 + 30, "Table.Insert": 30, "Table.Batch": 2})
		repair(map[string]int{"Table.Get": 30 + 30 + 30, "Table.Batch": 2})
	})
}
