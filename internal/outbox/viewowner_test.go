package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// owners returns the owner rows of the table with the rows of views.
func (c *cluster) owners(ctx context.Context) (owners []string, err error) {
	filter := "PartitionKey eq '~azp'"
	for pager := c.other.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, body := range page.Entities {
			var row map[string]any
			if err := json.Unmarshal(body, &row); err != nil {
				return nil, err
			}
			owners = append(owners, fmt.Sprint(row["RowKey"], " ", row["azp_table"]))
		}
	}
	return owners, nil
}

// ownerScenario returns a cluster whose queue has the message of an insert that was applied, and
// whose view "byName" is the only one with rows in the other table.
func ownerScenario(ctx context.Context, t *testing.T) *cluster {
	c := assert.Must(newCluster(ctx, []string{"byName"}))(t)
	writer := assert.Must(c.start(&process{}))(t)
	writer.changed = writer.Kill
	_, _ = writer.Insert(ctx, withBadge("B7"))
	if found := assert.Must(c.owners(ctx))(t); len(found) != 0 || !writer.Dead() {
		t.Fatalf("owners before the worker: %q", found)
	}
	time.Sleep(testGrace)
	return c
}

// The first worker reads the owner rows of the other table and the name of its own, and records itself as
// the owner. It is killed before and after each of these requests, or does not receive the reply.
func TestAWorkerRecordsTheOwnerOfAViewWhateverIsLost(t *testing.T) {
	for at := 1; at <= 4; at++ {
		for what, w := range map[string]*process{"killed before": {die: at}, "killed after": {die: at, after: true}, "lost reply": {lost: at}} {
			t.Run(fmt.Sprint(what, " request ", at), func(t *testing.T) {
				assert.NoError(t, inVirtualTime(t, func(ctx context.Context) error {
					c := ownerScenario(ctx, t)
					w := assert.Must(c.start(w))(t)
					_, err := c.queue.WorkOne(ctx, w, workerHides)
					if w.lost != 0 && err != nil || w.die != 0 && !w.Dead() {
						t.Errorf("(dead: %v) %v", w.Dead(), err)
					}
					assert.NoError(t, c.recover(ctx))
					if found := assert.Must(c.owners(ctx))(t); len(found) != 1 || found[0] != "~azp_owner_byName hires" {
						t.Errorf("owners: %q", found)
					}
					return c.clean(ctx)
				}))
			})
		}
	}
}

// A Store reads the owner rows for the first message only, also if it receives several at a time.
func TestAWorkerAsksOnceWhoseTheViewsAre(t *testing.T) {
	assert.NoError(t, inVirtualTime(t, func(ctx context.Context) error {
		c := ownerScenario(ctx, t)
		for _, recorded := range []int{1, 0} { // inserts of the owner row
			w := assert.Must(c.start(&process{takes: time.Second}))(t)
			reads, names, inserts := 0, 0, 0
			w.sending = func(method, path string) {
				switch {
				case method == "GET" && strings.HasSuffix(path, "/other()"):
					reads++
				case method == "GET" && strings.HasSuffix(path, "(PartitionKey='~azp',RowKey='~azp')"):
					names++
				case method == "POST" && strings.HasSuffix(path, "/other"):
					inserts++
				}
			}
			done := make(chan error)
			for i := range 8 { // operations that were not applied
				go func() {
					_, err := w.Handle(ctx, patterns.OutboxMessage{Partition: "p", ID: fmt.Sprint("op", recorded, i)})
					done <- err
				}()
			}
			for range 8 {
				assert.NoError(t, <-done)
			}
			if reads != 1 || names != 1 || inserts != recorded {
				t.Errorf("%d reads of owner rows, %d of the table's name, %d inserts, want 1, 1 and %d", reads, names, inserts, recorded)
			}
			if want := reads + names + inserts + 2*8; w.steps != want { // each operation is read and fenced
				t.Errorf("%d requests, want %d", w.steps, want)
			}
		}
		return nil
	}))
}

// The worker of a Store over another table, whose views have the same names, does nothing.
func TestAWorkerOfAnotherTableIsRefused(t *testing.T) {
	assert.NoError(t, inVirtualTime(t, func(ctx context.Context) error {
		c := ownerScenario(ctx, t)
		assert.NoError(t, c.recover(ctx)) // the owner of the view
		before := assert.Must(readTable(ctx, c.other))(t)

		service := assert.Must((&harness.Process{Inner: c.inner}).Tables(true, 0))(t)
		_, err := service.CreateTable(ctx, "contractors", nil)
		assert.NoError(t, err)
		queue := &harness.OutboxQueue{}
		second := assert.Must(openHires(service.NewClient("contractors"), false, patterns.StoreOptions[hire]{
			Views: someViews(service.NewClient("other"), []string{"byName"}), Outbox: queue, Grace: testGrace,
		}))(t)
		_, err = queue.Put(ctx, patterns.OutboxMessage{Partition: "Sales", ID: "op", Row: jones().key().Row,
			Reserved: []patterns.RowRef{{View: "byName", Partition: "name_Ann Jones", Row: "Sales_000223"}}}, 0)
		assert.NoError(t, err)
		for range 3 {
			_, err := queue.WorkOne(ctx, second, workerHides)
			var v *patterns.ViewError
			if !errors.Is(err, patterns.ErrBadView) || !errors.As(err, &v) || v.View != "byName" || queue.Len() != 1 {
				t.Errorf("%d messages, %v", queue.Len(), err)
				continue
			}
			for _, text := range []string{"other", "hires", "contractors", `delete the row "~azp_owner_byName"`} {
				assert.Contains(t, err.Error(), text, err, "does not contain")
			}
			assert.WantHidden(t, err, "Ann", "Sales", "000223")
			time.Sleep(workerHides)
		}
		assert.Equal(t, len(assert.Must(readTable(ctx, c.other))(t)), len(before), "rows, there were")
		if rows := assert.Must(readTable(ctx, service.NewClient("contractors")))(t); len(rows) != 0 {
			t.Errorf("rows in the table of the refused worker: %v", rows)
		}
		return c.clean(ctx)
	}))
}
