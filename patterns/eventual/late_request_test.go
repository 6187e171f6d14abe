package eventual_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// late delays the first n requests of an operation until arrive is called.
func late(b *harness.Backend, op string, n int) {
	b.Fault(storagetest.On(op).Nth(1).Times(n).LateRequest(14*time.Minute, 14*time.Minute))
}

// arrive carries out the late requests.
func arrive(t testing.TB, b *harness.Backend) {
	t.Helper()
	b.ClearFaults()
	if b.Account.Arrive() == 0 {
		t.Error("no request was late")
	}
}

// noReply is as many attempts as a client makes for one request.
const noReply = 4

func TestLatePutOfAMessageIsADuplicate(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, infrequentPolls)
		var ids []string
		eventual.Handle(s.worker, "letter", func(_ context.Context, job eventual.Job[letter]) error {
			ids = append(ids, job.ID)
			return nil
		})
		late(b, "Queue.Put", 1)
		s.put(t, "letter", letter{}, nil)
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		arrive(t, b)
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		if len(ids) != 2 || ids[0] != ids[1] {
			t.Errorf("processed %v", ids)
		}
		wantEmpty(t, s.queue)
	})
}

func TestLatePayloadIsFoundByASweep(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		payloads := b.Container(t)
		s := newFixture(t, b, func(o *eventual.Options) { infrequentPolls(o); o.Container = payloads })
		eventual.Handle(s.worker, "full", func(context.Context, eventual.Job[string]) error { return nil })
		late(b, "Blob.Put", 1)
		s.put(t, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		if left := blobs(t, payloads); len(left) != 0 {
			t.Fatalf("%v are left", left)
		}
		arrive(t, b)
		for _, want := range []struct{ done, skipped int }{{0, 1}, {1, 0}, {0, 0}} {
			report, err := sweepClaims(t, payloads, nil)
			wantSwept(t, report, err, want.done, want.skipped, int64(want.done)*(60<<10+2))
			time.Sleep(31 * 24 * time.Hour)
		}
	})
}

// The payload of the second message has another name, so the late delete of the first does
// not concern it.
func TestLateDeleteOfAPayloadDoesNotConcernAnother(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		payloads := b.Container(t)
		s := newFixture(t, b, func(o *eventual.Options) { infrequentPolls(o); o.Container = payloads })
		eventual.Handle(s.worker, "full", func(context.Context, eventual.Job[string]) error { return nil })
		opts := &eventual.EnqueueOptions{ID: "op", Container: payloads}
		s.put(t, "full", strings.Repeat("x", 60<<10), opts)
		late(b, "Blob.Delete", noReply)
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		s.put(t, "full", strings.Repeat("x", 60<<10), opts)
		arrive(t, b)
		wantOutcomes(t, s.until(t, 1), eventual.Done)
	})
}

func TestLateUpdateOrDeleteOfAMessageIsRefusedAfterItsNextDelivery(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for op, result := range map[string]error{
			"Queue.Delete": nil, "Queue.Update": eventual.Snooze(7 * 24 * time.Hour),
		} {
			s := newFixture(t, b, infrequentPolls)
			attempts, results := 0, []error{result, nil}
			eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
				attempts++
				if attempts == 2 { // the second delivery is in progress
					arrive(t, b)
				}
				return results[attempts-1]
			})
			s.put(t, "letter", letter{}, nil)
			late(b, op, noReply)
			stop := s.start(t)
			es := s.next(t, 2)
			stop()
			assert.Equal(t, es[1].Outcome, eventual.Done, op, es)
			wantEmpty(t, s.queue)
			refused := 0
			for _, q := range b.Requests().Only(op) {
				if strings.Contains(q.Fault, "Arrived") && q.Status >= 400 {
					refused++
				}
			}
			assert.Equal(t, refused, noReply, op, "late requests were refused\n", b.Requests())
			b.ResetRequests()
		}
	})
}

// A snooze that arrives late hides the message from then on, if no worker has received it.
func TestLateUpdateOfAMessageOnlyDelaysIt(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, infrequentPolls)
		attempts := 0
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			if attempts++; attempts == 1 {
				return eventual.Snooze(time.Hour)
			}
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		late(b, "Queue.Update", noReply)
		s.until(t, 1)
		time.Sleep(5 * time.Minute)
		arrive(t, b)
		assert.Equal(t, len(messages(t, s.queue)), 0, "messages are visible")
		es := s.until(t, 1)
		wantOutcomes(t, es, eventual.Done)
		wantEmpty(t, s.queue)
	})
}

func TestLateCopyInThePoisonQueueHasTheIDOfTheOperation(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { infrequentPolls(o); o.Tries = 3 })
		attempts := 0
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			if attempts++; attempts == 1 {
				return eventual.Cancel("", errFails)
			}
			return nil
		})
		s.put(t, "letter", letter{}, &eventual.EnqueueOptions{ID: "op"})
		late(b, "Queue.Put", noReply)
		wantOutcomes(t, s.until(t, 2), eventual.Retrying, eventual.Done)
		arrive(t, b)
		dead := peek(t, s.poisonQueue(t))
		if len(dead) != noReply || dead[0].ID != "op" {
			t.Errorf("got %v", dead)
		}
	})
}

func TestLateRequestsOfAReplayAreDuplicatesOrRefused(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for _, op := range []string{"Queue.Put", "Queue.Delete"} {
			s := newFixture(t, b, func(o *eventual.Options) { infrequentPolls(o); o.Tries = 1 })
			works, ids := false, map[string]int{}
			eventual.Handle(s.worker, "letter", func(_ context.Context, job eventual.Job[letter]) error {
				if !works {
					return errFails
				}
				ids[job.ID]++
				return nil
			})
			s.put(t, "letter", letter{}, &eventual.EnqueueOptions{ID: "op"})
			wantOutcomes(t, s.until(t, 1), eventual.Poisoned)
			works = true
			p := s.poisonQueue(t)
			replay := func(want error) {
				t.Helper()
				takeAll(t, p, func(d *eventual.PoisonMessage) {
					assert.WantError(t, p.Replay(t.Context(), d), want, op)
				})
			}
			late(b, op, noReply)
			replay(patterns.ErrOutcomeUnknown)
			b.ClearFaults()
			time.Sleep(6 * time.Minute) // the lease of the poison message ends
			replay(nil)
			arrive(t, b)
			s.drain(t)()
			if len(ids) != 1 || ids["op"] == 0 {
				t.Errorf("%s: processed %v", op, ids)
			}
			wantEmpty(t, s.poison)
		}
	})
}

// The insert into the archive arrives after the row was deleted there.
func TestLateInsertOfAMoveRestoresTheRowInTheTargetOnly(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			a.reset(t, employee("1", "Ken"), "")
			late(b, a.names[0], 1)
			row := eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"}
			assert.NoError(t, a.move(t.Context(), row))
			a.reset(t, employee("2", "is back"), "") // archived rows were deleted, and the employee is hired again
			arrive(t, b)
			a.want(t, employee("2", "is back"), employee("1", "Ken"))

			// The next move replaces it, like a row that was archived earlier.
			row.Where = "Contract eq '2'"
			assert.NoError(t, a.move(t.Context(), row))
			a.want(t, "", employee("2", "is back"))
		})
	})
}

func TestLateRequestsOfAMoveDoNotConcernANewerRow(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			for _, c := range []struct{ op, earlier string }{
				{"Table.Delete", ""},                    // of the source
				{a.names[0], ""},                        // the insert into the target
				{a.names[2], employee("0", "long ago")}, // the replacement in the target
				{"Table.Delete", employee("0", "long ago")},
			} {
				a.reset(t, employee("1", "Ken"), c.earlier)
				late(b, c.op, 1)
				assert.Equal(t, a.move(t.Context(), eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"}), nil, c.op)
				putRow(t, a.direct, employee("2", "is back"))
				assert.NoError(t, a.move(t.Context(), eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '2'"}))
				putRow(t, a.direct, employee("3", "again"))
				arrive(t, b)
				a.want(t, employee("3", "again"), employee("2", "is back"))
			}
		})
	})
}

// The process abandons the delete of the source. The copy stays, and the late delete
// completes the move.
func TestLateDeleteOfAMoveLeavesTheRowInTheTarget(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			a.reset(t, employee("1", "Ken"), "")
			late(b, "Table.Delete", noReply)
			row := eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"}
			assert.WantError(t, a.move(t.Context(), row), patterns.ErrOutcomeUnknown)
			a.want(t, employee("1", "Ken"), employee("1", "Ken"))
			arrive(t, b)
			a.want(t, "", employee("1", "Ken"))
			assert.NoError(t, a.move(t.Context(), row))
		})
	})
}

func TestLateMoveToTheQueueForLateChecksIsADuplicate(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newLateFixture(t, b, infrequentPolls)
		store := s.newStore(t)
		b.Fault(crashBefore(4)...)
		_, _ = store.Insert(t.Context(), ken("ken"))
		b.ClearFaults()
		time.Sleep(storeGrace)
		late(b, "Queue.Put", 1)
		wantOutcomes(t, s.until(t, 1), eventual.Snoozed)
		wantEmpty(t, s.queue)
		arrive(t, b)
		assert.Equal(t, count(t, s.late.queue), 2, "late checks")
		s.late.drain(t)()
		wantFinished(t, store)
	})
}

// The reply to the insert into the target is lost, and the next try finds a copy, which may
// be that of an earlier move. Then the row is changed.
func TestMoveIsNotReportedAsSupersededIfItsCopyMayBeInTheTarget(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			row := row456()
			row.ETag = a.reset(t, employee("1", "Ken"), "")
			b.Fault(storagetest.On(a.names[0]).Nth(1).LoseReply(), storagetest.On("Table.Delete").Where(func(storagetest.Request) bool {
				a.change(t, employee("1", "Ken Kwok"))
				return false
			}))
			err := a.move(t.Context(), row)
			b.ClearFaults()
			if !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, eventual.ErrSuperseded) {
				t.Errorf("got %v", err)
			}
			a.want(t, employee("1", "Ken Kwok"), employee("1", "Ken"))
			assert.WantError(t, a.move(t.Context(), row), eventual.ErrSuperseded, "second call")
		})
	})
}
