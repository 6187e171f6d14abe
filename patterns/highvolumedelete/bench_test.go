package highvolumedelete_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// BenchmarkDelete100000 deletes 100,000 rows of 625 partitions from an account in this
// process, alternately with aztables alone in a sequential loop, with DeleteWhere, and with
// DropBefore. It reports the time and the requests of the latter two relative to the first. In
// "latency" each request takes 5 ms.
func BenchmarkDelete100000(b *testing.B) {
	for name, latency := range map[string]time.Duration{"cpu": 0, "latency": 5 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			took := map[string]time.Duration{}
			requests := map[string]int{}
			for b.Loop() {
				for _, way := range []struct {
					name string
					run  func(context.Context, *aztables.ServiceClient, string) error
				}{{"hand", deleteByHand}, {"where", deleteWhere}, {"drop", dropBefore}} {
					acct := storagetest.Start(nil)
					service := acct.TablesWith(harness.Accelerated())
					fillTable(b, service, "Logins20140731", 625, 160)
					acct.Fault(storagetest.On("*").Delay(latency))
					acct.ResetLog()
					start := time.Now()
					assert.NoError(b, way.run(b.Context(), service, "Logins20140731"))
					took[way.name] += time.Since(start)
					requests[way.name] = len(acct.Log())
				}
			}
			for _, way := range []string{"where", "drop"} {
				b.ReportMetric(took[way].Seconds()/took["hand"].Seconds(), way+"-time/hand")
				b.ReportMetric(float64(requests[way])/float64(requests["hand"]), way+"-requests/hand")
			}
			b.ReportMetric(float64(requests["hand"]), "hand-requests")
			b.ReportMetric(float64(requests["where"]), "where-requests")
			b.ReportMetric(took["hand"].Seconds()/float64(b.N), "hand-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func fillTable(b *testing.B, service *aztables.ServiceClient, name string, partitions, rows int) {
	b.Helper()
	table := notes(b, service.NewClient(name))
	assert.NoError(b, table.Create(b.Context()))
	for p := range partitions {
		store(b, table, oldNotes(fmt.Sprintf("user%04d", p), rows)...)
	}
}

// deleteByHand deletes with aztables alone: it reads only keys, groups them by partition, and
// deletes a hundred at a time.
func deleteByHand(ctx context.Context, service *aztables.ServiceClient, name string) error {
	client := service.NewClient(name)
	filter, selected := "Old eq true", "PartitionKey,RowKey"
	pager := client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Select: &selected})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		groups := map[string][]aztables.TransactionAction{}
		for _, raw := range page.Entities {
			var e aztables.Entity
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			groups[e.PartitionKey] = append(groups[e.PartitionKey], aztables.TransactionAction{
				ActionType: aztables.TransactionTypeDelete, Entity: raw})
		}
		for _, actions := range groups {
			for some := range slices.Chunk(actions, 100) {
				if _, err := client.SubmitTransaction(ctx, some, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func deleteWhere(ctx context.Context, service *aztables.ServiceClient, name string) error {
	table, err := patterns.NewTable[note](service.NewClient(name), nil)
	if err != nil {
		return err
	}
	p, err := table.DeleteWhere(ctx, old, "", &patterns.DeleteOptions{QueryOptions: scan(false).QueryOptions})
	if err == nil && p.Done != 100_000 {
		err = fmt.Errorf("%d rows deleted", p.Done)
	}
	return err
}

func dropBefore(ctx context.Context, service *aztables.ServiceClient, name string) error {
	s, err := highvolumedelete.New(service, "Logins", highvolumedelete.Day, loginOptions())
	if err != nil {
		return err
	}
	_, err = s.DropBefore(ctx, day(1), nil)
	return err
}

// note is a row of a table that also contains rows to keep.
type note struct {
	PartitionKey, RowKey string
	Old                  bool
	Text                 string
}

func notes(t testing.TB, client *aztables.Client) *patterns.Table[note] {
	t.Helper()
	return harness.NewTable[note](t, client, nil)
}

func store(t testing.TB, table *patterns.Table[note], rows ...note) {
	t.Helper()
	_, err := table.Bulk(t.Context(), func(yield func(patterns.Op[note]) bool) {
		for i := range rows {
			if !yield(patterns.InsertOp(&rows[i])) {
				return
			}
		}
	}, nil)
	assert.NoError(t, err)
}

// oldNotes returns n old notes of a partition.
func oldNotes(partition string, n int) []note {
	rows := make([]note, n)
	for i := range rows {
		rows[i] = note{PartitionKey: partition, RowKey: fmt.Sprintf("%06d", i), Old: true, Text: "text"}
	}
	return rows
}

var old = query.Prop("Old").Eq(true)
