package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

func addOne(c *counter) error { c.N++; return nil }

func TestUpdateStartsOverWhenItLosesTheRace(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		ctx := t.Context()
		table := newTable[counter](t, b.Table(t), nil)
		insert(t, table, counter{"hits", "0", 0})
		b.ResetRequests()
		runs := 0
		item, err := table.Update(ctx, tally, func(c *counter) error {
			if runs++; runs <= 2 {
				if _, err := table.Upsert(ctx, &counter{"hits", "0", int64(10 * runs)}, patterns.Replace); err != nil {
					t.Error(err)
				}
			}
			return addOne(c)
		})
		if err != nil || item.Value.N != 21 || runs != 3 {
			t.Errorf("%+v after %d runs, %v", item.Value, runs, err)
		}
		cost(t, b, 3*2+2) // three readings, three attempts, two rivals
		if got := get(t, table, tally); got.Value != item.Value || got.ETag != item.ETag {
			t.Errorf("the row is %+v, returned was %+v", got, item)
		}
	})
}

func TestUpdateGivesUpAfterItsTries(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		synctest.Test(t, func(t *testing.T) {
			client := b.Table(t)
			for _, c := range []struct{ option, tries int }{{0, 16}, {3, 3}, {1, 1}} {
				table := newTable(t, client, &patterns.TableOptions[counter]{UpdateTries: c.option})
				if _, err := table.Upsert(t.Context(), &counter{"hits", "0", 0}, patterns.Replace); err != nil {
					t.Fatal(err)
				}
				b.ClearFaults()
				b.Fault(fault.On("Table.Replace").Status(http.StatusPreconditionFailed, "UpdateConditionNotSatisfied"))
				runs, start := 0, time.Now()
				_, err := table.Update(t.Context(), tally, func(c *counter) error { runs++; return addOne(c) })
				wantError(t, err, patterns.ErrConflict)
				if waited := time.Since(start); runs != c.tries || waited > 15*time.Second || runs > 8 && waited < time.Second {
					t.Errorf("UpdateTries %d: %d tries in %v", c.option, runs, waited)
				}
				b.ClearFaults()
			}
		})
	})
}

func TestUpdateChangesNothingWhenItFails(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		ctx := t.Context()
		table := newTable[counter](t, b.Table(t), nil)
		before := insert(t, table, counter{"hits", "0", 5})
		b.ResetRequests()

		own := errors.New("own")
		_, err := table.Update(ctx, tally, func(c *counter) error { c.N = 99; return own })
		if err != own {
			t.Errorf("got %v, want the function's own error as it is", err)
		}
		_, err = table.Update(ctx, tally, func(c *counter) error { c.Name = "SECRET"; return nil })
		wantError(t, err, patterns.ErrKeyChanged)
		silent(t, err, "SECRET", "hits")
		_, err = table.Update(ctx, keys.Key{Partition: "hits", Row: "none"}, addOne)
		wantError(t, err, patterns.ErrNotFound)
		cost(t, b, 3)
		_, err = table.Update(ctx, tally, nil)
		wantError(t, err, patterns.ErrNil)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_, err = table.Update(gone, tally, addOne)
		wantError(t, err, context.Canceled)
		cost(t, b, 0)

		ctx, cancel = context.WithCancel(ctx)
		_, err = table.Update(ctx, tally, func(c *counter) error { cancel(); return addOne(c) })
		wantError(t, err, context.Canceled)
		cost(t, b, 1)
		if got := get(t, table, tally); got.ETag != before.ETag {
			t.Errorf("the row was changed to %+v", got.Value)
		}
	})
}

// weather lets a part of the writes fail in every way.
func weather(op string) []fault.Rule {
	return []fault.Rule{
		fault.On(op).Probability(0.15).LoseReply(),
		fault.On(op).Probability(0.15).LoseRequest(),
		fault.On(op).Probability(0.1).Status(http.StatusServiceUnavailable, "ServerBusy"),
		fault.On(op).Probability(0.05).Status(http.StatusInternalServerError, "InternalError"),
	}
}

// Every success raised the counter once, and nothing else did but what was
// reported as unknown.
func TestStampedCounterCountsEverySuccessOnce(t *testing.T) {
	t.Parallel()
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		rapid.Check(t, func(rt *rapid.T) {
			writers := rapid.IntRange(1, 4).Draw(rt, "writers")
			each := rapid.IntRange(1, 12).Draw(rt, "updates of each")
			name := testbed.UniqueName()
			client := b.NamedTable(t, name)
			stamped := &patterns.TableOptions[counter]{StampWrites: true, UpdateTries: 100}
			direct := newTable(t, b.Direct(t, name), stamped)
			insert(t, direct, counter{"hits", "0", 0})
			b.ClearFaults()
			b.Fault(weather("Table.Replace")...)

			var mu sync.Mutex
			var group sync.WaitGroup
			var won, unknown int64
			for range writers {
				group.Go(func() {
					table := newTable(t, client, stamped)
					for range each {
						_, err := table.Update(t.Context(), tally, addOne)
						mu.Lock()
						if err == nil {
							won++
						} else if errors.Is(err, patterns.ErrOutcomeUnknown) {
							unknown++
						}
						mu.Unlock()
					}
				})
			}
			group.Wait()
			if n := get(t, direct, tally).Value.N; n < won || n > won+unknown {
				rt.Errorf("%d updates succeeded and %d are unknown, the counter is %d\n%v", won, unknown, n, b.Requests())
			}
		})
	})
}

// Of all who insert the same row exactly one is told that it is theirs, although
// the rows are equal.
func TestStampedInsertHasOneWinner(t *testing.T) {
	t.Parallel()
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		rapid.Check(t, func(rt *rapid.T) {
			const rows = 10
			inserters := rapid.IntRange(2, 5).Draw(rt, "inserters")
			client := b.Table(t)
			b.ClearFaults()
			b.Fault(weather("Table.Insert")...)
			var mu sync.Mutex
			var group sync.WaitGroup
			won, unknown := make(map[int]int), make(map[int]int)
			for range inserters {
				group.Go(func() {
					table := newTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
					for row := range rows {
						_, err := table.Insert(t.Context(), &counter{"hits", fmt.Sprint(row), 1})
						mu.Lock()
						if err == nil {
							won[row]++
						} else if errors.Is(err, patterns.ErrOutcomeUnknown) {
							unknown[row]++
						}
						mu.Unlock()
					}
				})
			}
			group.Wait()
			table := newTable[counter](t, client, nil)
			for row := range rows {
				there := etagOf(t, table, keys.Key{Partition: "hits", Row: fmt.Sprint(row)}) != ""
				if won[row] > 1 || there && won[row]+unknown[row] == 0 || !there && won[row] > 0 {
					rt.Errorf("row %d: there %v, %d winners, %d unknown\n%v", row, there, won[row], unknown[row], b.Requests())
				}
			}
		})
	})
}
