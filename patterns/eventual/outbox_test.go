package eventual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/query"
)

// member is an entity with a copy in another partition, by e-mail address.
type member struct {
	PartitionKey, RowKey string
	Email                string
	Age                  int32
}

var keyKen = keys.Key{Partition: "Sales", Row: "456"}

func ken(email string) *member { return &member{"Sales", "456", email, 23} }

// newStore returns a store whose outbox is the queue of the fixture, and registers it with
// the worker.
func (s *fixture) newStore(t testing.TB, client *aztables.Client, name string) *patterns.Store[member] {
	t.Helper()
	return s.newFinishedStore(t, client, name, nil)
}

func (s *fixture) newFinishedStore(t testing.TB, client *aztables.Client, name string, f *patterns.Finisher) *patterns.Store[member] {
	t.Helper()
	byEmail := patterns.ViewOf("byEmail", patterns.Shape{Kind: patterns.Copies, Remote: true}, func(m *member) ([]patterns.DerivedRow, error) {
		key := keys.Key{Partition: "email", Row: m.Email}
		return []patterns.DerivedRow{patterns.CopyRow(key, patterns.CopySpec{Unique: true})}, nil
	})
	store := harness.NewStore(t, client, &patterns.StoreOptions[member]{
		Views:  []patterns.View[member]{byEmail},
		Outbox: newOutbox(t, s.queue, name), Finisher: f,
	})
	eventual.HandleOutbox(s.worker, name, store)
	return store
}

func newOutbox(t testing.TB, queue *azqueue.QueueClient, name string) *eventual.Outbox {
	t.Helper()
	outbox := assert.Must(eventual.NewOutbox(queue, name, nil))(t)
	return outbox
}

func inPartition(p string) query.Filter { return query.PartitionKey.Eq(p) }

// wantCopy checks that the e-mail partition contains that copy only, or none if email is "".
func wantCopy(t testing.TB, table *patterns.Table[member], email string) {
	t.Helper()
	var got []string
	for m, err := range table.Query(context.Background(), inPartition("email"), nil) {
		assert.NoError(t, err)
		got = append(got, m.Key.Row)
	}
	if email == "" && len(got) != 0 || email != "" && (len(got) != 1 || got[0] != email) {
		t.Errorf("copies %v, want %q", got, email)
	}
}

func TestCompletedStoreOperationLeavesNoOutboxMessage(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		store := s.newStore(t, b.Table(t), "staff")
		assert.NoError(t, assert.ErrorOf(store.Insert(t.Context(), ken("ken"))))
		wantCopy(t, store.Table(), "ken")
		wantEmpty(t, s.queue)
		assert.NoError(t, assert.ErrorOf(store.Update(t.Context(), keyKen, func(m *member) error { m.Email = "kwok"; return nil })))
		wantCopy(t, store.Table(), "kwok")
		wantEmpty(t, s.queue)
	})
}

// 16 entities of one partition are inserted and changed at the same time. The messages are fewer than the operations.
func TestAFinisherLeavesNoOutboxMessage(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		finisher := assert.Must(patterns.NewFinisher(nil))(t)
		store := s.newFinishedStore(t, b.Table(t), "staff", finisher)
		const members = 16
		each := func(do func(key keys.Key) error) {
			t.Helper()
			var all sync.WaitGroup
			errs := make([]error, members)
			for i := range members {
				all.Go(func() { errs[i] = do(keys.Key{Partition: "Sales", Row: fmt.Sprint(i)}) })
			}
			all.Wait()
			assert.NoError(t, errors.Join(errs...))
		}
		each(func(key keys.Key) error {
			return assert.ErrorOf(store.Insert(t.Context(), &member{key.Partition, key.Row, "old" + key.Row, 0}))
		})
		each(func(key keys.Key) error {
			return assert.ErrorOf(store.Update(t.Context(), key, func(m *member) error { m.Email = "new" + key.Row; return nil }))
		})
		assert.NoError(t, finisher.Close(t.Context()))
		assert.Equal(t, finisher.Stats().Finished, 2*members)
		wantEmpty(t, s.queue)
		for _, partition := range []string{"Sales", "email"} {
			rows := 0
			for row, err := range store.Table().Query(t.Context(), inPartition(partition), nil) {
				assert.NoError(t, err)
				if rows++; row.Key.Row != strings.TrimPrefix(row.Value.Email, "new") && row.Key.Row != row.Value.Email {
					t.Errorf("%v remains", row.Key)
				}
			}
			assert.Equal(t, rows, members, "rows of", partition)
		}
	})
}

func TestWorkerFinishesInterruptedStoreOperations(t *testing.T) {
	for name, change := range map[string]func(context.Context, *patterns.Store[member]) error{
		"insert": func(ctx context.Context, s *patterns.Store[member]) error {
			if err := s.Delete(ctx, keyKen); err != nil {
				return err
			}
			_, err := s.Insert(ctx, ken("new"))
			return err
		},
		"update": func(ctx context.Context, s *patterns.Store[member]) error {
			_, err := s.Update(ctx, keyKen, func(m *member) error { m.Email = "new"; return nil })
			return err
		},
		"delete": func(ctx context.Context, s *patterns.Store[member]) error { return s.Delete(ctx, keyKen) },
	} {
		t.Run(name, func(t *testing.T) {
			crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
				s := newFixture(t, b, infrequentPolls)
				store := s.newStore(t, b.Table(t), "")
				assert.NoError(t, assert.ErrorOf(store.Insert(t.Context(), ken("old"))))
				finish := func() {
					released(t, s.queue, store)
					s.drain(t)()
				}
				return scenario{func() { _ = change(t.Context(), store) }, finish, func(string) {
					item, err := store.Get(t.Context(), keyKen)
					if err != nil && !errors.Is(err, patterns.ErrNotFound) {
						t.Fatal(err)
					}
					wantCopy(t, store.Table(), item.Value.Email)
					wantEmpty(t, s.poison)
					for row, err := range store.Table().Query(t.Context(), inPartition("Sales"), nil) {
						assert.NoError(t, err)
						assert.Equal(t, row.Key, keyKen)
					}
				}}
			})
		})
	}
}

func TestOutboxMessageIsDeliveredAgainIfTheStoreAsks(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, infrequentPolls)
		want := patterns.OutboxMessage{Partition: "p", ID: "op", Row: "r", Reserved: []patterns.RowRef{{View: "v", Partition: "x", Row: "y"}}}
		drainer := &fakeDrainer{want: want, t: t, fails: 20, redeliveries: 3}
		eventual.HandleOutbox(s.worker, "", drainer)
		outbox := newOutbox(t, s.queue, "")
		assert.NoError(t, assert.ErrorOf(outbox.Put(t.Context(), want, time.Minute)))
		assert.Equal(t, len(messages(t, s.queue)), 0, "the message is visible immediately")
		began := time.Now()
		es := s.until(t, 24) // more failures than Tries, then three redeliveries
		if es[19].Outcome != eventual.Retrying || es[22].Outcome != eventual.Snoozed || es[23].Outcome != eventual.Done {
			t.Errorf("got %v", es)
		}
		if took := time.Since(began); took < time.Minute+3*time.Hour {
			t.Errorf("it took %v", took)
		}
		wantEmpty(t, s.queue)
		wantEmpty(t, s.poison)
	})
}

// During an upgrade, workers of the old version of a program receive messages that concern a
// view which they do not have.
func TestOutboxMessageForAnotherVersionWaitsForItsWorkers(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		harness.WithoutTargets(b.Account)
		table := b.Table(t)
		s := newFixture(t, b, infrequentPolls)
		store := s.newStore(t, table, "")
		b.Fault(crashBefore(4)...) // crash after put, reserve and transaction
		_, _ = store.Insert(t.Context(), ken("ken"))
		b.ClearFaults()

		old := newFixtureOn(t, b, s.queue, s.poison, infrequentPolls)
		eventual.HandleOutbox(old.worker, "", harness.NewStore(t, table, &patterns.StoreOptions[member]{Outbox: newOutbox(t, s.queue, "")}))
		for _, e := range old.until(t, 150) {
			assert.Equal(assert.Now(t), e.Outcome, eventual.Snoozed)
			assert.Equal(assert.Now(t), e.Attempt, 1)
		}
		assert.Equal(t, records(t, store), 1, "records")
		s.drain(t)()
		wantFinished(t, store)
		wantEmpty(t, s.poison)
	})
}

// fakeDrainer fails some times, then asks for the message again some times, then is done.
type fakeDrainer struct {
	t                   testing.TB
	want                patterns.OutboxMessage
	fails, redeliveries int
}

func (d *fakeDrainer) Handle(_ context.Context, w patterns.OutboxMessage) (time.Duration, error) {
	if w.Partition != d.want.Partition || w.ID != d.want.ID || w.Row != d.want.Row || len(w.Reserved) != 1 || w.Reserved[0] != d.want.Reserved[0] {
		d.t.Errorf("got %+v", w)
	}
	switch {
	case d.fails > 0:
		d.fails--
		return 0, errFails
	case d.redeliveries > 0:
		d.redeliveries--
		return time.Hour, nil
	}
	return 0, nil
}

func TestOutboxMessageLeasedByAWorkerIsNotDeleted(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		queue := b.Queue(t)
		outbox := newOutbox(t, queue, "")
		for _, leased := range []bool{false, true} {
			r := assert.Must(outbox.Put(t.Context(), patterns.OutboxMessage{Partition: "p", ID: "op"}, 0))(t)
			if leased {
				assert.NoError(t, assert.ErrorOf(queue.DequeueMessage(t.Context(), nil)))
			}
			for range 2 {
				assert.Equal(t, outbox.Delete(t.Context(), r), nil)
			}
			if n := count(t, queue); leased != (n == 1) {
				t.Errorf("%d messages remain", n)
			}
		}
	})
}

func TestInvalidOutboxIsRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, name := range []string{"a b", "ä", string(make([]byte, 65))} {
			assert.WantError(t, assert.ErrorOf(eventual.NewOutbox(b.Queue(t), name, nil)), eventual.ErrBadKind, name)
			s := newFixture(t, b, nil)
			eventual.HandleOutbox(s.worker, name, &fakeDrainer{})
			assert.WantError(t, s.worker.Run(t.Context()), eventual.ErrBadKind, name)
		}
		assert.WantError(t, assert.ErrorOf(eventual.NewOutbox(nil, "", nil)), patterns.ErrNil)
		var zero eventual.Outbox
		assert.WantError(t, assert.ErrorOf(zero.Put(t.Context(), patterns.OutboxMessage{}, 0)), patterns.ErrNil)
		assert.WantError(t, zero.Delete(t.Context(), patterns.Receipt{}), patterns.ErrNil)
	})
}

func TestHandleSweepFinishesOperationsWithoutOutboxMessage(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, infrequentPolls)
		store := s.newStore(t, b.Table(t), "")
		b.Fault(crashBefore(4)...) // crash after put, reserve and transaction
		if _, err := store.Insert(t.Context(), ken("ken")); err != nil {
			t.Log(err)
		}
		b.ClearFaults()
		if _, err := s.queue.ClearMessages(t.Context(), nil); err != nil { // the outbox messages are lost
			t.Fatal(err)
		}
		eventual.HandleSweep(s.worker, 24*time.Hour, store, nil)
		stop := s.start(t)
		time.Sleep(49 * time.Hour)
		stop()
		wantCopy(t, store.Table(), "ken")
		for row, err := range store.Table().Query(t.Context(), inPartition("Sales"), nil) {
			assert.NoError(t, err)
			assert.Equal(t, row.Key, keyKen)
		}
	})
}
