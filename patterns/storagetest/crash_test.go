package storagetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// ledger moves amounts between two accounts in two partitions, which a transaction cannot
// span.
type ledger struct{ table *aztables.Client }

func (l ledger) set(ctx context.Context, pk, rk string, v int) error {
	b, err := json.Marshal(map[string]any{"PartitionKey": pk, "RowKey": rk, "V": v})
	if err != nil {
		return err
	}
	_, err = l.table.UpsertEntity(ctx, b, nil)
	return err
}

func (l ledger) get(ctx context.Context, pk, rk string) (int, error) {
	res, err := l.table.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return 0, err
	}
	var e struct{ V int }
	return e.V, json.Unmarshal(res.Value, &e)
}

// naive moves v in two steps, which a crash may separate.
func (l ledger) naive(ctx context.Context, v int) error {
	if err := l.set(ctx, "a", "balance", 100-v); err != nil {
		return err
	}
	return l.set(ctx, "b", "balance", v)
}

// safe first stores its intent, from which recover can complete the move.
func (l ledger) safe(ctx context.Context, v int) error {
	if err := l.set(ctx, "intent", "1", v); err != nil {
		return err
	}
	return l.recover(ctx)
}

func (l ledger) recover(ctx context.Context) error {
	v, err := l.get(ctx, "intent", "1")
	if err != nil {
		return nil // no move was started
	}
	if err := l.naive(ctx, v); err != nil {
		return err
	}
	_, err = l.table.DeleteEntity(ctx, "intent", "1", nil)
	return err
}

func openLedger(ctx context.Context, acct *storagetest.Account) (ledger, error) {
	l := ledger{acct.Tables().NewClient("ledger")}
	if _, err := l.table.CreateTable(ctx, nil); err != nil {
		return l, err
	}
	return l, errors.Join(l.set(ctx, "a", "balance", 100), l.set(ctx, "b", "balance", 0))
}

// onLedger returns a scenario whose crash points are the calls of do.
func onLedger(do func(context.Context, ledger) error) func(context.Context, *storagetest.Account) error {
	return func(ctx context.Context, acct *storagetest.Account) error {
		l, err := openLedger(ctx, acct)
		if err != nil {
			return err
		}
		acct.Arm()
		return do(ctx, l)
	}
}

func sum(t *testing.T, l ledger) int {
	t.Helper()
	a := assert.Must(l.get(t.Context(), "a", "balance"))(t)
	b := assert.Must(l.get(t.Context(), "b", "balance"))(t)
	return a + b
}

func TestACrashPointIsBeforeAfterAndDuringEachCall(t *testing.T) {
	var seen []string
	storagetest.CrashPoints(t,
		onLedger(func(ctx context.Context, l ledger) error { return l.naive(ctx, 10) }),
		func(t *testing.T, acct *storagetest.Account) {
			l := ledger{acct.Tables().NewClient("ledger")}
			a, _ := l.get(t.Context(), "a", "balance")
			b, _ := l.get(t.Context(), "b", "balance")
			seen = append(seen, fmt.Sprintf("%d+%d", a, b))
		})
	want := []string{
		"90+10",                          // without a crash
		"100+0", "90+0", "100+0", "90+0", // before, after, late at the first call: before and after it arrives
		"90+0", "90+10", "90+0", "90+10", // at the second call
		"90+10", // before the third call, which does not exist
	}
	assert.EqualSlices(t, seen, want)
}

func TestASafeSagaSurvivesEveryCrash(t *testing.T) {
	storagetest.CrashPoints(t,
		onLedger(func(ctx context.Context, l ledger) error { return l.safe(ctx, 10) }),
		func(t *testing.T, acct *storagetest.Account) {
			l := ledger{acct.Tables().NewClient("ledger")}
			assert.NoError(t, l.recover(t.Context()))
			assert.Equal(t, sum(t, l), 100, "the sum is")
		})
}

func TestCallsAfterTheCrashFailImmediately(t *testing.T) {
	storagetest.CrashPoints(t,
		func(ctx context.Context, acct *storagetest.Account) error {
			start := time.Now()
			client := acct.Tables().NewClient("people")
			_, err := client.CreateTable(ctx, nil)
			if err == nil {
				return nil
			}
			if !errors.Is(err, storagetest.ErrKilled) && !errors.Is(err, context.Canceled) || !errors.Is(context.Cause(ctx), storagetest.ErrKilled) {
				t.Errorf("error %v, cause %v", err, context.Cause(ctx))
			}
			// A call with another context is not carried out either.
			assert.WantError(t, assert.ErrorOf(client.CreateTable(context.Background(), nil)), storagetest.ErrKilled, "a further call")
			assert.Equal(t, time.Since(start), 0, "dying took")
			assert.Equal(t, acct.Log().Count("Table.CreateTable"), 2, "attempts")
			return err
		},
		func(t *testing.T, acct *storagetest.Account) {
			assert.Equal(t, len(acct.Log()), 0, "the next process begins with", "requests in its log")
			if _, err := acct.Tables().NewClient("others").CreateTable(t.Context(), nil); existing(err) != nil {
				t.Errorf("after the restart: %v", err)
			}
		})
}

func TestConcurrentCallsFailAfterTheCrash(t *testing.T) {
	storagetest.CrashPoints(t,
		onLedger(func(ctx context.Context, l ledger) error {
			var wg sync.WaitGroup
			var errs [4]error
			for i := range errs {
				wg.Go(func() { errs[i] = l.set(ctx, "c", fmt.Sprint(i), i) })
			}
			wg.Wait()
			return errors.Join(errs[:]...)
		}),
		func(t *testing.T, acct *storagetest.Account) {
			l := ledger{acct.Tables().NewClient("ledger")}
			assert.Equal(t, sum(t, l), 100, "the sum is")
		})
}
