package largeentity_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The first attempt to insert the row arrives late, after another client's entity made the
// second attempt fail, and was deleted.
func TestABlobIsKeptWhileAnInsertThatRefersToItMayArrive(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		theirs := assert.Must(table.Insert(t.Context(), newJones("theirs", 1)))(t)
		acct.Fault(storagetest.On("Table.Insert").Nth(1).LateRequest(time.Minute, time.Minute))
		_, err := table.Insert(t.Context(), newJones("mine", large))
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
		if errors.Is(err, patterns.ErrExists) {
			t.Errorf("%v is a certain refusal", err)
		}
		assert.NoError(t, table.Delete(t.Context(), jones, theirs.ETag))
		time.Sleep(2 * time.Minute)
		acct.Arrive()
		got := assert.Must(table.Get(t.Context(), jones))(t)
		wantEmployee(t, got.Value, *newJones("mine", large))
	})
}

// The clock of the process is two hours behind that of the service, or two hours ahead.
func TestAgesAreMeasuredByTheClockOfTheService(t *testing.T) {
	for _, skew := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.Start(&storagetest.Options{ClockSkew: skew})
			var queue harness.OutboxQueue
			writer := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &queue, Grace: time.Hour})
			assert.NoError(t, writer.Create(t.Context()))
			item := assert.Must(writer.Insert(t.Context(), newJones("a", large)))(t)
			item.Value.Photo = noise("b", large)
			item = assert.Must(writer.Replace(t.Context(), item))(t)

			worker := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &queue, Grace: time.Hour})
			wait, err := worker.Handle(t.Context(), queue.Message(1))
			if err != nil || wait < 59*time.Minute || wait > 61*time.Minute {
				t.Errorf("skew %v: the message is to be handled again after %v, want the grace period: %v", skew, wait, err)
			}
			assert.Must(worker.Sweep(t.Context(), nil))(t)
			assert.Equal(t, len(stored(t, worker.Container())), 2, "skew", skew, "blobs within the grace period")
			time.Sleep(2 * time.Hour)
			assert.NoError(t, queue.Work(t.Context(), worker.Handle))
			assert.Equal(t, len(stored(t, worker.Container())), 1, "skew", skew, "blobs")
			wantEmployee(t, assert.Must(worker.Get(t.Context(), jones))(t).Value, item.Value)
		})
	}
}

// A worker with another clock computes the age of the message.
func TestAMessageNamesTheTimeOfTheService(t *testing.T) {
	for _, skew := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.Start(&storagetest.Options{ClockSkew: skew})
			var queue harness.OutboxQueue
			table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &queue})
			assert.NoError(t, table.Create(t.Context()))
			assert.Must(table.Insert(t.Context(), newJones("a", large)))(t)
			want := time.Now().Add(skew).UTC().Format("2006-01-02T15:04")
			assert.Equal(t, queue.Message(0).ID[:len(want)], want, "the message was sent at")
		})
	}
}

// A process pauses after it has sent the outbox message, until a worker has handled it.
func TestAWriteWhoseMessageWasHandledBeforeItFails(t *testing.T) {
	for name, write := range map[string]func(t *testing.T, table table, item largeentity.Item[employee]) error{
		"insert": func(t *testing.T, table table, _ largeentity.Item[employee]) error {
			v := newJones("b", large)
			v.Email = "other"
			return assert.ErrorOf(table.Insert(t.Context(), v))
		},
		"replace": func(t *testing.T, table table, item largeentity.Item[employee]) error {
			item.Value.Photo = nil
			return assert.ErrorOf(table.Replace(t.Context(), item))
		},
		"delete": func(t *testing.T, table table, item largeentity.Item[employee]) error {
			return table.Delete(t.Context(), jones, item.ETag)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var queue delayedOutbox
			inVirtualTime(t, &largeentity.Options[employee]{Outbox: &queue, Grace: time.Hour}, func(t *testing.T, acct *storagetest.Account, table table) {
				item := assert.Must(table.Insert(t.Context(), newJones("a", large)))(t)
				queue.until(t, time.Now().Add(5*time.Hour), false, table.Handle)
				queue.onPut = func(m patterns.OutboxMessage) time.Duration {
					time.Sleep(3 * time.Hour)
					return assert.Must(table.Handle(t.Context(), m))(t)
				}
				assert.WantError(t, write(t, table, item), largeentity.ErrTooSlow)
				if n := len(stored(t, table.Container())); n != 1 || acct.Log().Count("Blob.Put") != 1 {
					t.Errorf("%d blobs, want that of the entity only", n)
				}
				wantEmployee(t, assert.Must(table.Get(t.Context(), jones))(t).Value, *newJones("a", large))
			})
		})
	}
}

// The reply that shows the time of the service is delayed for longer than the grace period,
// because the process is suspended. The message of the next write arrives before the write.
func TestAMessageIsNotOlderThanItsWriteIfAReplyWasDelayed(t *testing.T) {
	var queue delayedOutbox
	inVirtualTime(t, &largeentity.Options[employee]{Outbox: &queue, Grace: time.Hour}, func(t *testing.T, acct *storagetest.Account, table table) {
		assert.Must(table.Insert(t.Context(), newJones("a", large)))(t)
		queue.until(t, time.Now().Add(5*time.Hour), false, table.Handle)
		worker := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &queue, Grace: time.Hour})
		acct.Fault(storagetest.On("Table.Get").Nth(1).DelayReply(3 * time.Hour))
		item := assert.Must(table.GetMeta(t.Context(), jones))(t)
		queue.onPut = func(m patterns.OutboxMessage) time.Duration {
			return assert.Must(worker.Handle(t.Context(), m))(t)
		}
		item.Value.Photo = noise("b", large)
		assert.Must(table.Replace(t.Context(), item))(t)
		queue.until(t, time.Now().Add(5*time.Hour), false, worker.Handle)
		assert.Equal(t, len(stored(t, table.Container())), 1, "blobs")
	})
}

// A message is delivered to two workers. One changes the metadata of the blob after the other
// has read its properties.
func TestABlobThatChangedBeforeItsDeleteIsHandledAgain(t *testing.T) {
	var queue harness.OutboxQueue
	inVirtualTime(t, &largeentity.Options[employee]{Outbox: &queue, Grace: time.Hour}, func(t *testing.T, acct *storagetest.Account, table table) {
		item := assert.Must(table.Insert(t.Context(), newJones("a", large)))(t)
		item.Value.Photo = noise("b", large)
		assert.Must(table.Replace(t.Context(), item))(t)
		time.Sleep(3 * time.Hour)
		acct.Fault(storagetest.On("Blob.Delete").Nth(1).Delay(time.Minute))
		wait := make(chan time.Duration)
		go func() {
			after, err := table.Handle(t.Context(), queue.Message(1))
			assert.Equal(t, err, nil)
			wait <- after
		}()
		time.Sleep(30 * time.Second)
		for _, name := range stored(t, table.Container()) {
			assert.NoError(t, assert.ErrorOf(table.Container().NewBlobClient(name).SetMetadata(t.Context(), nil, nil)))
		}
		if after := <-wait; after <= 0 {
			t.Error("the message is not delivered again, although the blob still exists")
		}
	})
}
