package highvolumedelete_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestDropBeforeDropsWholePeriods(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		prefix := uniquePrefix()
		s := newTables(t, b, prefix, highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3, 4}, "a", "b")
		b.ResetRequests()
		limit := day(3).Add(13 * time.Hour) // in the third, which is kept

		r, err := s.DropBefore(t.Context(), limit, &highvolumedelete.DropOptions{DryRun: true})
		if err != nil || r.Found != 2 || r.Done != 0 || !r.Limit.Equal(day(3)) || !s.Limit().IsZero() {
			t.Errorf("dry run: %+v, %v", r, err)
		}
		want(t, "dry run", names(r.Tables, prefix), "20140801", "20140802")
		b.WantRequests(t, map[string]int{"Table.ListTables": 1})

		var steps []int
		r, err = s.DropBefore(t.Context(), limit, &highvolumedelete.DropOptions{Progress: func(p patterns.Progress) {
			steps = append(steps, p.Done)
		}})
		if err != nil || r.Found != 2 || r.Done != 2 || !slices.Equal(steps, []int{1, 2}) {
			t.Errorf("%+v, %v, progress %v", r, err, steps)
		}
		b.WantRequests(t, map[string]int{"Table.ListTables": 1, "Table.DeleteTable": 2})

		if r, err = s.DropBefore(t.Context(), limit, nil); err != nil || r.Found != 0 {
			t.Errorf("again: %+v, %v", r, err)
		}
		b.WantRequests(t, map[string]int{"Table.ListTables": 1})
		want(t, "what is left", read(t, s.Query(t.Context(), day(1), day(9), filterAll, scan(false))), "a 03 00", "b 03 00", "a 04 00", "b 04 00")
		b.ResetRequests()

		_, err = s.Insert(t.Context(), &login{User: "late", At: day(2)})
		var dropped *highvolumedelete.DroppedError
		if !errors.Is(err, highvolumedelete.ErrDropped) || !errors.As(err, &dropped) || !dropped.Limit.Equal(day(3)) || dropped.Deleting {
			t.Errorf("a late write: %v", err)
		}
		b.WantRequests(t, nil)
		insert(t, s, "late", day(3))
		// The limit never decreases.
		if _, err := s.DropBefore(t.Context(), day(1), nil); err != nil || !s.Limit().Equal(day(3)) {
			t.Errorf("limit %v, %v", s.Limit(), err)
		}
	})
}

func TestDropBeforeCanRunConcurrently(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		prefix := uniquePrefix()
		s := newTables(t, b, prefix, highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3, 4, 5, 6, 7, 8}, "a")
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if r, err := newTables(t, b, prefix, highvolumedelete.Day, nil).DropBefore(t.Context(), day(8), nil); err != nil || r.Found != r.Done {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		both.Wait()
		tables := assert.Must(s.List(t.Context(), time.Time{}, time.Time{}))(t)
		want(t, "what is left", names(tables, prefix), "20140808")
	})
}

func TestATableThatIsGoneCountsAsDropped(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, rule := range []storagetest.Rule{
			storagetest.On("Table.DeleteTable").Nth(1).Twice(),
			storagetest.On("Table.DeleteTable").Nth(1).LoseReply(),
			storagetest.On("Table.DeleteTable").Nth(1).Status(404, "ResourceNotFound"),
			storagetest.On("Table.DeleteTable").Nth(1).Status(409, "TableBeingDeleted"),
		} {
			s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
			fill(t, s, []int{1, 2}, "a")
			b.Fault(rule)
			assert.Equal(t, assert.Must(s.DropBefore(t.Context(), day(3), nil))(t).Done, 2)
			b.ClearFaults()
		}
	})
}

func TestATableThatCannotBeDroppedDoesNotStopTheOthers(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		prefix := uniquePrefix()
		s := newTables(t, b, prefix, highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3}, "a")
		name, _ := s.Name(day(2))
		b.Fault(storagetest.On("Table.DeleteTable").Resource(name).Status(403, "AuthorizationFailure"))
		r, err := s.DropBefore(t.Context(), day(9), nil)
		var refused *patterns.Error
		if !errors.As(err, &refused) || refused.Status != 403 || r.Found != 3 || r.Done != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		b.ClearFaults()
		assert.Equal(t, assert.Must(s.DropBefore(t.Context(), day(9), nil))(t).Done, 1)
	})
}

// A write that was admitted just before DropBefore creates its table after the listing. It has
// to drop the table again.
func TestATableCreatedDuringDropBeforeIsDropped(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, "Logins", highvolumedelete.Day, nil)
		b.Fault(storagetest.On("Table.CreateTable").Delay(time.Second))
		var late sync.WaitGroup
		late.Go(func() {
			if _, err := s.Insert(t.Context(), &login{User: "late", At: day(1)}); !errors.Is(err, highvolumedelete.ErrDropped) {
				t.Errorf("the late write: %v", err)
			}
		})
		synctest.Wait()
		assert.NoError(t, assert.ErrorOf(s.DropBefore(t.Context(), day(2), nil)))
		late.Wait()
		assert.Equal(t, len(assert.Must(s.List(t.Context(), time.Time{}, time.Time{}))(t)), 0)
	})
}

func TestTheNextDropBeforeCompletesAnInterruptedOne(t *testing.T) {
	open := func(acct *storagetest.Account) (*highvolumedelete.Tables[login], error) {
		return highvolumedelete.New(acct.Tables(), "Logins", highvolumedelete.Day, loginOptions())
	}
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		s, err := open(acct)
		if err != nil {
			return err
		}
		for d := range 5 {
			if _, err := s.Insert(ctx, &login{User: "a", At: day(d + 1)}); err != nil {
				return err
			}
		}
		acct.Arm()
		_, err = s.DropBefore(ctx, day(4), nil)
		return err
	}, func(t *testing.T, acct *storagetest.Account) {
		s := assert.Must(open(acct))(t)
		assert.NoError(t, assert.ErrorOf(s.DropBefore(t.Context(), day(4), nil)))
		want(t, "what is left", read(t, s.Query(t.Context(), time.Time{}, time.Time{}, filterAll, scan(false))), "a 04 00", "a 05 00")
	})
}

func TestAnInterruptedWriteCanBeRepeated(t *testing.T) {
	write := func(ctx context.Context, acct *storagetest.Account) error {
		s, err := highvolumedelete.New(acct.Tables(), "Logins", highvolumedelete.Day, loginOptions())
		if err != nil {
			return err
		}
		_, err = s.Upsert(ctx, &login{User: "a", At: day(1)}, patterns.Replace)
		return err
	}
	storagetest.CrashPoints(t, write, func(t *testing.T, acct *storagetest.Account) {
		assert.NoError(t, write(t.Context(), acct))
		s := assert.Must(highvolumedelete.New(acct.Tables(), "Logins", highvolumedelete.Day, loginOptions()))(t)
		want(t, "rows", read(t, s.Query(t.Context(), time.Time{}, time.Time{}, filterAll, scan(false))), "a 01 00")
	})
}
