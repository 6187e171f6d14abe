package shards_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/shards"
)

func TestAddMakesTheRequestsThatItDocuments(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 3)
		s, table := create(t, list[:2], o)
		fill(t, table, 3, 2)
		list[2].Weight = 1e9 // everything moves
		b.ResetRequests()
		var last patterns.Progress
		assert.NoError(t, s.Add(t.Context(), list[2], &shards.MoveOptions{Progress: func(p patterns.Progress) { last = p }}))
		assert.Equal(t, last, (patterns.Progress{Found: 6, Done: 6, Requests: 46}), "the progress is")
		b.WantRequests(t, map[string]int{
			"Table.CreateTable":   3,         // the table, and those of the copies
			"Table.UpsertReplace": 2,         // of the copies of the directory
			"Table.Replace":       5 + 2,     // of the directory: the move, the step, closed, moved, the end; of its copies
			"Table.Get":           3,         // of the directory: first, and before each deletion
			"Table.Query":         6*3 + 3*2, // the keys in each account, and each partition: what is in the way, and its rows
			"Table.Insert":        3,         // markers
			"Table.Delete":        3,
			"Table.Batch":         3 + 3, // copies, and deletes in the old accounts
		})
	})
}

// A governor therefore sends the requests of readers and writers first.
func TestTheRequestsOfAddAreBackgroundWork(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		var background, foreground atomic.Int64
		b.Configure = func(o *azcore.ClientOptions) {
			o.PerCallPolicies = append(o.PerCallPolicies, hook(func(req *http.Request) {
				if strings.Contains(fmt.Sprint(req.Context()), fmt.Sprint(govern.Background(context.Background()))[len("context.Background"):]) {
					background.Add(1)
				} else {
					foreground.Add(1)
				}
			}))
		}
		list, o := onBackend(t, b, 2)
		o.Lease = 1
		s, table := create(t, list, o)
		fill(t, table, 1, 2)
		if background.Load() > 0 || foreground.Load() == 0 {
			t.Errorf("%d requests of readers and writers are background work, %d are not", background.Load(), foreground.Load())
		}
		home := assert.Must(s.Account(t.Context(), "p000"))(t).Name
		to := list[0].Name
		if to == home {
			to = list[1].Name
		}
		foreground.Store(0)
		assert.NoError(t, s.Pin(t.Context(), "p000", to, nil))
		if background.Load() == 0 || foreground.Load() > 0 {
			t.Errorf("%d requests of the move are background work, %d are not", background.Load(), foreground.Load())
		}
	})
}

func TestAccountReturnsTheAccountThatHasTheRows(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		s, table := create(t, list, o)
		all := fill(t, table, 6, 1)
		used := map[string]bool{}
		for _, key := range all {
			a := assert.Must(s.Account(t.Context(), key.Partition))(t)
			rows := assert.Must(patterns.NewTable[doc](a.Tables.NewClient(a.Table), nil))(t)
			assert.Must(rows.Get(t.Context(), key))(t)
			used[a.Name] = true
		}
		assert.Equal(t, len(used), len(list), "the partitions are in", used)
	})
}

func TestWriteRefusesOtherPartitionsBeforeAnyRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		_, table := create(t, list, o)
		store := assert.Must(shards.NewStore(table, nil))(t)
		key := fill(t, table, 2, 1)[1]
		other := &doc{PartitionKey: key.Partition, RowKey: "new"}
		ctx := t.Context()
		b.ResetRequests()
		for name, f := range map[string]func(*patterns.Table[doc]) error{
			"insert": func(at *patterns.Table[doc]) error { return assert.ErrorOf(at.Insert(ctx, other)) },
			"delete": func(at *patterns.Table[doc]) error { return at.Delete(ctx, key, "") },
			"update": func(at *patterns.Table[doc]) error {
				return assert.ErrorOf(at.Update(ctx, key, func(*doc) error { return nil }))
			},
			"batch": func(at *patterns.Table[doc]) error { return assert.ErrorOf(at.Batch().Insert(other).Commit(ctx)) },
			"bulk": func(at *patterns.Table[doc]) error {
				return assert.ErrorOf(at.Bulk(ctx, slices.Values([]patterns.Op[doc]{patterns.InsertOp(other)}), nil))
			},
		} {
			assert.WantError(t, table.WriteWithin(ctx, "p000", f), patterns.ErrMixedPartitions, name)
		}
		err := store.WriteWithin(ctx, "p000", func(at *patterns.Store[doc]) error {
			return assert.ErrorOf(at.Batch().Put(other).Commit(ctx))
		})
		assert.WantError(t, err, patterns.ErrMixedPartitions)
		b.WantRequestCount(t, 0)
		assert.Must(table.Get(ctx, keys.Key{Partition: "p001", Row: "r000"}))(t)
	})
}
