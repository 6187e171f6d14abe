package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// emails is a local view of one version: it derives its key by key.
func emails(version string, key func(string) string) patterns.View[hire] {
	return patterns.ViewOf("emails", patterns.Shape{Version: version}, func(h *hire) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: h.Dept, Row: "mail_" + key(h.Email)}, patterns.CopySpec{})}, nil
	})
}

func asIs(s string) string { return s }

// writes are the calls of a Store that change an entity which exists.
func writes(ctx context.Context, s *patterns.Store[hire], h *hire) map[string]error {
	change := func(h *hire) error { h.Age++; return nil }
	was, err := s.Get(ctx, h.key())
	errs := map[string]error{"get": err}
	_, errs["update"] = s.Update(ctx, h.key(), change)
	_, errs["put"] = s.Put(ctx, h)
	_, errs["put item"] = s.PutItem(ctx, was, h)
	_, errs["update item"] = s.UpdateItem(ctx, was, change)
	errs["repair"] = s.Repair(ctx, h.key())
	errs["repair a row"] = s.Repair(ctx, h.key(), patterns.RowRef{View: "emails", Partition: h.Dept, Row: "mail_" + h.Email})
	errs["delete item"] = s.DeleteItem(ctx, was)
	errs["delete"] = s.Delete(ctx, h.key())
	return errs
}

// mustRefuse checks that every write fails because of the view and changes nothing.
func mustRefuse(t *testing.T, s *patterns.Store[hire], client *aztables.Client, h *hire, view string, missing bool) {
	t.Helper()
	before, err1 := readTable(t.Context(), client)
	for what, err := range writes(t.Context(), s, h) {
		if what == "get" {
			assert.NoError(t, err)
			continue
		}
		var m *patterns.ViewMismatchError
		if what == "repair a row" && missing { // the Store does not know the row's view either
			assert.WantError(t, err, patterns.ErrBadView, what)
			continue
		}
		if !errors.As(err, &m) || m.View != view || m.Missing != missing || !errors.Is(err, patterns.ErrBadView) {
			t.Errorf("%s: %v", what, err)
		}
	}
	after, err2 := readTable(t.Context(), client)
	assert.NoError(t, errors.Join(err1, err2))
	assert.DeepEqual(t, before, after, "rows before", "after")
}

func TestAnotherDefinitionUnderTheSameNameIsRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		one := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{emails("1", asIs)}}))(t)
		two := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{emails("2", strings.ToLower)}}))(t)
		assert.NoError(t, assert.ErrorOf(one.Insert(t.Context(), jones())))
		mustRefuse(t, two, client, jones(), "emails", false)
	})
}

func TestAViewThatTheStoreDoesNotHaveIsRefusedUnlessItIsRetired(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		has := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{emails("", asIs)}}))(t)
		lacks := assert.Must(newHires(client, patterns.StoreOptions[hire]{}))(t)
		retired := assert.Must(newHires(client, patterns.StoreOptions[hire]{Retired: []string{"emails"}}))(t)
		h := jones()
		assert.NoError(t, assert.ErrorOf(has.Insert(ctx, h)))
		mustRefuse(t, lacks, client, h, "emails", true)

		change := func(h *hire) error { h.Age++; return nil }
		_, err1 := retired.Update(ctx, h.key(), change)
		_, err2 := lacks.Update(ctx, h.key(), change) // the entity no longer lists the view
		rows, err3 := readTable(ctx, client)
		assert.NoError(t, errors.Join(err1, err2, err3))
		if rows["Sales|mail_"+h.Email]["Age"] != float64(h.Age) || rows["Sales|id_"+h.ID]["Age"] != float64(h.Age+2) {
			t.Errorf("%v", rows)
		}
	})
}

// An early version of the library stored no fingerprints, so the definition may have
// changed: the rows are read before they are replaced.
func TestARowOfAnUnknownDefinitionIsNotReplacedUnread(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		one := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{emails("1", asIs)}}))(t)
		two := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{emails("2", strings.ToLower)}}))(t)
		lower, upper := &hire{Dept: "Sales", ID: "1", Email: "a"}, &hire{Dept: "Sales", ID: "2", Email: "A"}
		for _, h := range []*hire{lower, upper} {
			assert.NoError(t, assert.ErrorOf(one.Insert(ctx, h)))
			row := fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":%q,"azp_views":"emails"}`, h.key().Partition, h.key().Row)
			assert.NoError(t, assert.ErrorOf(client.UpdateEntity(ctx, row, nil)))
		}
		change := func(h *hire) error { h.Age++; return nil }
		if _, err := two.Update(ctx, upper.key(), change); !errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("a row of another entity: %v", err)
		}
		assert.NoError(t, assert.ErrorOf(two.Update(ctx, lower.key(), change)))
		rows := assert.Must(readTable(ctx, client))(t)
		if row := rows["Sales|mail_a"]; row["azp_rk"] != "id_1" || row["Age"] != 1.0 {
			t.Errorf("%v", row)
		}
	})
}

// A worker and a sweep of a program without a view leave its operations to others.
func TestAnOperationOfAnUnknownViewIsLeftToOthers(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byBadge", "byName"})
		if err != nil {
			return err
		}
		crashed, err1 := c.start(&process{})
		old, err2 := c.start(&process{version: version{views: []string{"byName"}}})
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		crashed.sending = killAfterTransaction(crashed)
		_, _ = crashed.Insert(ctx, jones())
		before, err := readTable(ctx, c.own)
		if err != nil {
			return err
		}
		for range 3 {
			time.Sleep(2 * testGrace)
			if _, err := c.queue.WorkOne(ctx, old, workerHides); !errors.As(err, new(*patterns.ViewMismatchError)) {
				return fmt.Errorf("a worker without the view: %w", err)
			}
		}
		report, err := old.Sweep(ctx, nil)
		if err != nil || len(report.Failures) != 1 || !errors.As(report.Failures[0].Err, new(*patterns.ViewMismatchError)) {
			return fmt.Errorf("sweep: %+v, %w", report, err)
		}
		after, err := readTable(ctx, c.own)
		if !reflect.DeepEqual(before, after) || c.queue.Len() == 0 {
			err = fmt.Errorf("rows before %v, after %v; %d messages", before, after, c.queue.Len())
		}
		return errors.Join(err, c.recover(ctx), c.clean(ctx))
	})
	assert.Equal(t, err, nil)
}

// The former head is still counted in the row, but no longer sets its name there.
func TestAPropertyIsFreeIfTheEntityHasOnlyACounterInTheRow(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		merge := func(name string, spec func(h *hire) (patterns.MergeSpec, bool)) patterns.View[hire] {
			return patterns.ViewOf(name, patterns.Shape{Kind: patterns.Merges, Remote: true}, func(h *hire) ([]patterns.DerivedRow, error) {
				s, ok := spec(h)
				if !ok {
					return nil, nil
				}
				return []patterns.DerivedRow{patterns.MergeRow(keys.Key{Partition: "company", Row: h.Dept}, s)}, nil
			})
		}
		head := merge("head", func(h *hire) (patterns.MergeSpec, bool) {
			return patterns.MergeSpec{Set: map[string]any{"Head": h.Name}}, h.Head
		})
		count := merge("count", func(h *hire) (patterns.MergeSpec, bool) {
			return patterns.MergeSpec{Add: map[string]any{"Count": int64(1)}}, true
		})
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{
			Views: []patterns.View[hire]{head, count}, Outbox: &harness.OutboxQueue{},
			OnPending: func(_ context.Context, _ keys.Key, err error) { t.Error(err) },
		}))(t)
		former := &hire{Dept: "Sales", ID: "1", Name: "Ann", Head: true}
		next := &hire{Dept: "Sales", ID: "2", Name: "Bob"}
		for _, h := range []*hire{former, next} {
			assert.NoError(t, assert.ErrorOf(s.Insert(ctx, h)))
		}
		// As if the process had crashed before the drain.
		_, err1 := s.Table().Update(ctx, former.key(), func(h *hire) error { h.Head = false; return nil })
		_, err2 := s.Update(ctx, next.key(), func(h *hire) error { h.Head = true; return nil })
		rows, err3 := readTable(ctx, client)
		assert.NoError(t, errors.Join(err1, err2, err3))
		if row := rows["company|Sales"]; row["Head"] != "Bob" || row["Count"] != "2" {
			t.Errorf("%v", row)
		}
	})
}

// A program without the view inserts an entity again, while the rows of the former entity
// are still to be removed, and later changes it: a row that a worker stored for it would
// become an orphan.
func TestARowIsNotStoredForAnEntityThatDoesNotListItsView(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byBadge", "byName"})
		if err != nil {
			return err
		}
		crashed, err1 := c.start(&process{})
		old, err2 := c.start(&process{version: version{views: []string{"byBadge"}}})
		current, err3 := c.start(&process{})
		_, err4 := crashed.Insert(ctx, jones())
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
		crashed.sending = killAfterTransaction(crashed)
		_ = crashed.Delete(ctx, jones().key())
		_, err5 := old.Insert(ctx, &hire{Dept: "Sales", ID: jones().ID, Name: "Ann Jones"})
		err6 := c.recover(ctx)
		_, err7 := old.Update(ctx, jones().key(), func(h *hire) error { h.Name = "Ann Smith"; return nil })
		rows, err8 := readTable(ctx, c.other)
		if len(rows) > 0 {
			err8 = errors.Join(err8, fmt.Errorf("rows %v", rows))
		}
		err9 := current.Repair(ctx, jones().key(), patterns.RowRef{View: "byName", Partition: "name_Ann Smith", Row: "Sales_" + jones().ID})
		return errors.Join(err5, err6, err7, err8, err9, c.recover(ctx), c.clean(ctx))
	})
	assert.Equal(t, err, nil)
}

// killAfterTransaction kills p before the request that follows its first transaction. A drain
// sends requests concurrently.
func killAfterTransaction(p *process) func(method, path string) {
	var committed atomic.Bool
	return func(_, path string) {
		if committed.Load() {
			p.Kill()
		}
		if strings.HasSuffix(path, "$batch") {
			committed.Store(true)
		}
	}
}
