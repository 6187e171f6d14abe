package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// Two transactions on an empty partition: each puts one entity and deletes the other one. One
// after the other, the second would delete what the first has put.
func TestABatchThatDeletesAnAbsentEntityIsRefused(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		a, b := r.process(), r.process()
		x, y := &hire{Dept: "Sales", ID: "1"}, &hire{Dept: "Sales", ID: "2"}
		var other error
		a.inside(1, func() { _, other = b.Batch().Put(y).Delete(x.key()).Commit(r.ctx) })
		_, err := a.Batch().Put(x).Delete(y.key()).Commit(r.ctx)
		if other == nil && err == nil {
			t.Error("both transactions were applied")
		}
		steps := a.steps
		_, err = a.Batch().Put(x).Delete(y.key()).Commit(r.ctx)
		var failed *patterns.BatchError
		if !errors.Is(err, patterns.ErrNotFound) || !errors.As(err, &failed) || failed.Index != 1 || failed.Key != y.key() {
			t.Errorf("got %+v", err)
		}
		if n := a.steps - steps; n != 2 { // the reads
			t.Errorf("%d requests", n)
		}
		_, err = a.Batch().Delete(y.key()).Commit(r.ctx)
		assert.WantError(t, err, patterns.ErrNotFound, "one operation")
		r.must(a.Delete(r.ctx, y.key()))
		report, err := a.Bulk(r.ctx, slices.Values([]patterns.StoreOp[hire]{
			patterns.DeleteEntity[hire](y.key()), patterns.InsertEntity(x), patterns.DeleteEntity[hire](x.key()),
		}), nil)
		if r.must(err); report.Done != 3 {
			t.Errorf("bulk: %+v", report)
		}
	})
}

// Clients change three entities of a partition, several of them in one transaction, while
// requests are lost, delivered twice or late. The results have an order.
func TestTransactionsOverSeveralEntitiesAreIsolated(t *testing.T) {
	harness.Schedules(t, []string{"batches of a table", "bulks of a table", "no views", "rows in the partition", "rows elsewhere", "bulks"}, 20, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(10 * time.Minute)
		if s.IntN(2) == 0 {
			s.Faults = harness.Faults{Latency: 5 * time.Second}
		}
		r := &isolation{storeRun: &storeRun{Schedule: s, cluster: &cluster{inner: s.Inner, expiry: time.Hour, stamped: s.IntN(2) == 0, plain: s.IntN(4) == 0}}, mode: mode}
		switch r.views = []string{}; mode {
		case "rows in the partition":
			r.views = []string{"lastHere"}
		case "rows elsewhere":
			r.views = []string{"byName"}
		case "bulks":
			r.views = [][]string{{}, {"lastHere"}, {"byName"}}[s.IntN(3)]
		}
		r.few = s.IntN(2) == 0
		r.check("create", r.create(ctx))
		var writers sync.WaitGroup
		clients := 2 + s.IntN(2)
		if strings.HasPrefix(mode, "bulks") { // whose operations make many more orders possible
			clients, r.few = 2, true
		}
		for n := range clients {
			writers.Go(func() { r.commit(ctx, n) })
		}
		writers.Wait()
		s.WaitLate()
		r.check("recovery", r.recover(ctx))
		reliable, err := r.start(&process{})
		r.check("start", err)
		var all []harness.Change
		for id := range 3 {
			all = append(all, r.read(ctx, reliable, id))
		}
		r.history.Add(time.Now(), all, harness.TransactionResult{Outcome: harness.Applied}, 0)
		r.check("isolated", r.history.Check())
	})
}

// isolation is one schedule of transactions.
type isolation struct {
	*storeRun
	mode    string
	few     bool // only inserts, puts and deletes of two entities
	history harness.Transactions
}

func (r *isolation) commit(ctx context.Context, number int) {
	p, chance := r.process(100 * number)
	for i := range 1 + chance.IntN(3) {
		time.Sleep(time.Duration(chance.IntN(3)) * time.Second)
		if err := r.transaction(ctx, p, chance, int32(100*number+i+1)); !r.expected(err) && !p.Dead() {
			r.Failf("client %d, transaction %d: %w", number, i, err)
		}
		if p.Dead() {
			p, chance = r.process(100*number + i + 1)
		}
	}
}

// read reads an entity.
func (r *isolation) read(ctx context.Context, p *process, id int) harness.Change {
	h := &hire{Dept: "Sales", ID: fmt.Sprint(id)}
	c := harness.Change{Key: h.ID, Kind: harness.Read}
	item, err := p.Store.Get(ctx, h.key())
	if err == nil {
		c.Value = fmt.Sprint(item.Value.Age)
	} else if !errors.Is(err, patterns.ErrNotFound) {
		r.Failf("read: %w", err)
	}
	return c
}

// transaction carries out changes of one to three entities.
func (r *isolation) transaction(ctx context.Context, p *process, chance *rand.Rand, age int32) error {
	bulk, table := r.mode == "bulks" || r.mode == "bulks of a table", r.mode == "bulks of a table" || r.mode == "batches of a table"
	var changes []harness.Change
	var ops []patterns.StoreOp[hire]
	var rows []patterns.Op[hire]
	saw := make([]string, 3)
	twice := true // an attempt may take effect twice
	ids := chance.Perm(3)[:1+chance.IntN(3)]
	if r.few {
		ids = chance.Perm(2)
	}
	for nth, id := range ids {
		h := &hire{Dept: "Sales", ID: fmt.Sprint(id), Name: fmt.Sprint(id), Last: fmt.Sprint(id), Age: age}
		c := harness.Change{Key: h.ID, Value: fmt.Sprint(age)}
		kind := chance.IntN(6)
		if r.few {
			kind = chance.IntN(3)
		}
		var was patterns.Item[hire]
		if kind >= 4 || table && kind == 3 {
			var err error
			if was, err = p.Store.Get(ctx, h.key()); err != nil {
				return err
			}
			c.Saw = fmt.Sprint(was.Value.Age)
		}
		var op patterns.StoreOp[hire]
		var row patterns.Op[hire]
		switch kind {
		case 0:
			c.Kind, op, row = harness.InsertRow, patterns.InsertEntity(h), patterns.InsertOp(h)
		case 1:
			c.Kind, op, row = harness.PutRow, patterns.PutEntity(h), patterns.UpsertOp(h, patterns.Replace)
		case 2:
			c.Kind, c.Value, op = harness.DeleteRow, "", patterns.DeleteEntity[hire](h.key())
			row = patterns.DeleteOp[hire](h.key(), azcore.ETagAny)
			if bulk && !table {
				c.Kind = harness.Remove
			}
		case 3:
			c.Kind, row = harness.UpdateRow, patterns.ReplaceOp(patterns.WithValue(was, *h))
			op = patterns.UpdateEntity(h.key(), func(now *hire) error {
				saw[nth] = fmt.Sprint(now.Age)
				*now = *h
				return nil
			})
			saw[nth] = c.Saw
		case 4:
			c.Kind, op, row = harness.ReplaceRow, patterns.PutEntity(h).Was(was), patterns.ReplaceOp(patterns.WithValue(was, *h))
		default:
			c.Kind, c.Value, op, row = harness.DeleteRow, "", patterns.DeleteEntity[hire](h.key()).Was(was), patterns.DeleteOp[hire](h.key(), was.ETag)
		}
		if kind >= 3 {
			twice = twice && bulk
		}
		changes, ops, rows = append(changes, c), append(ops, op), append(rows, row)
	}
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	failed := make([]error, len(changes))
	var err error
	switch {
	case bulk && table:
		var report patterns.BulkReport[patterns.Op[hire]]
		report, err = p.Table().Bulk(ctx, slices.Values(rows), nil)
		for _, f := range report.Failures {
			failed[f.Index] = f.Err
		}
	case bulk:
		var report patterns.BulkReport[patterns.StoreOp[hire]]
		report, err = p.Bulk(ctx, slices.Values(ops), nil)
		for _, f := range report.Failures {
			failed[f.Index] = f.Err
		}
	case table:
		b := p.Table().Batch()
		for _, row := range rows {
			b.Add(row)
		}
		_, err = b.Commit(ctx)
	default:
		b := p.Batch()
		for _, op := range ops {
			b.Add(op)
		}
		_, err = b.Commit(ctx)
	}
	for i := range changes {
		if changes[i].Kind == harness.UpdateRow {
			changes[i].Saw = saw[i]
		}
	}
	again := int(unanswered.Load())
	if slices.Contains(r.views, "byName") || !twice {
		again = 0
	}
	if !bulk {
		r.history.Add(began, changes, resultOf(p, changes, err), again)
		return err
	}
	for i := range changes {
		c := changes[i : i+1]
		res, again := resultOf(p, c, failed[i]), again
		if c[0].Saw != "" || res.Outcome != harness.Applied && res.Outcome != harness.Unknown {
			again = 0 // it was under an ETag, or not applied
		}
		r.history.Add(began, c, res, again)
	}
	return err
}

// resultOf returns what err means for a transaction.
func resultOf(p *process, changes []harness.Change, err error) (res harness.TransactionResult) {
	e := new(patterns.BatchError)
	if errors.As(err, &e) {
		res.Failed = max(e.Index, 0)
	}
	named := len(changes) == 1 || e.Index >= 0
	if len(changes) == 1 {
		res.Failed = 0
	}
	switch {
	case p.Dead() && err != nil, errors.Is(err, patterns.ErrOutcomeUnknown):
		res.Outcome = harness.Unknown
	case err == nil:
		res.Outcome = harness.Applied
	case named && errors.Is(err, patterns.ErrExists) && changes[res.Failed].Kind == harness.InsertRow:
		res.Outcome = harness.Exists
	case named && errors.Is(err, patterns.ErrNotFound):
		res.Outcome = harness.Missing
	case named && errors.Is(err, patterns.ErrConflict) && changes[res.Failed].Kind == harness.ReplaceRow:
		res.Outcome = harness.Changed
	default:
		res.Outcome = harness.NeverRan
	}
	return res
}
