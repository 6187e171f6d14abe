package eventual_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Several workers; any request may be lost, refused, delayed or carried out twice or late, and
// any message may be delivered twice.
func TestNoJobIsLostUnderRandomFaults(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		harness.WithoutTargets(b.Account)
		const rows = 60
		current, old := b.Table(t), b.Table(t)
		queue, poison := b.Queue(t), b.Queue(t)
		faults := []storagetest.Rule{
			storagetest.On("*").Probability(0.08).LoseReply(),
			storagetest.On("*").Probability(0.08).LoseRequest(),
			storagetest.On("*").Probability(0.05).Status(503, "ServerBusy"),
			storagetest.On("Queue.*").Probability(0.05).LateRequest(0, 10*time.Minute),
			storagetest.On("Table.Insert").Probability(0.05).LateRequest(0, 10*time.Minute),
			storagetest.On("Table.Delete").Probability(0.05).LateRequest(0, 10*time.Minute),
			storagetest.On("*").Probability(0.05).Delay(45 * time.Second),
			storagetest.On("Queue.Put").Probability(0.1).Twice(),
			storagetest.On("Queue.Get").Probability(0.1).Redeliver(),
			storagetest.On("Queue.Get").Probability(0.1).NoMessages(),
		}
		b.Fault(faults...)
		processed := make(chan string, 100_000)
		var stops []func()
		for range 4 {
			s := newFixtureOn(t, b, queue, poison, func(o *eventual.Options) {
				infrequentPolls(o)
				o.Tries, o.Parallel, o.Backoff = 1000, 4, nil
				o.Observe = nil
			})
			eventual.HandleMove(s.worker, "move", current, old)
			eventual.Handle(s.worker, "count", func(ctx context.Context, job eventual.Job[int]) error {
				processed <- job.ID
				return nil
			})
			stops = append(stops, s.start(t))
		}
		for i := range rows {
			row := eventual.Row{PartitionKey: "Sales", RowKey: fmt.Sprint(i)}
			body := fmt.Sprintf(`{"PartitionKey":"Sales","RowKey":"%d","N":%d}`, i, i)
			retried(t, func() error {
				resp, err := current.UpsertEntity(t.Context(), []byte(body), nil)
				row.ETag = resp.ETag
				return err
			})
			retried(t, func() error { return eventual.Enqueue(t.Context(), queue, "move", row, nil) })
			retried(t, func() error {
				return eventual.Enqueue(t.Context(), queue, "count", i, &eventual.EnqueueOptions{ID: fmt.Sprint(i)})
			})
		}
		time.Sleep(10 * time.Hour)
		b.ClearFaults()
		time.Sleep(time.Hour)
		for _, stop := range stops {
			stop()
		}
		wantEmpty(t, queue)
		wantEmpty(t, poison)
		close(processed)
		times := map[string]int{}
		for id := range processed {
			times[id]++
		}
		assert.Equal(t, len(times), rows, "of", "jobs were processed")
		assert.Equal(t, len(harness.Rows(t, current)), 0, "rows remain")
		assert.Equal(t, len(harness.Rows(t, old)), rows, "of", "rows in the archive")
	})
}

// retried calls do until it succeeds.
func retried(t testing.TB, do func() error) {
	t.Helper()
	var err error
	for range 100 {
		if err = do(); err == nil {
			return
		}
	}
	t.Fatal(err)
}
