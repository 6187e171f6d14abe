package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// A job that stores its results together with the cursor of each page is killed, paused or
// fails at any page, and continues from the cursor. Writers insert and delete other rows
// meanwhile, replies are lost, and pages are short or empty. The job has every row that
// existed all the time exactly once, and no row twice. Concurrent requests for pages make
// some schedules not repeatable.
func TestAScanThatIsResumedReturnsEveryRowOnce(t *testing.T) {
	harness.Schedules(t, []string{"plain", "accelerated"}, 4, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(14 * time.Minute)
		some := func(n ...int) int { return n[s.IntN(len(n))] }
		account := storagetest.Start(&storagetest.Options{PageRows: some(0, 2, 7), PageScan: some(0, 0, 3, 10), PageBoundary: s.IntN(2) == 0})
		s.Inner = harness.Inner(account)
		r := &scanRun{
			Schedule: s, fast: mode == "accelerated", retries: int32(s.IntN(4)) - 1, want: map[keys.Key]bool{}, got: map[keys.Key]bool{},
			opts: &patterns.QueryOptions{PageSize: some(0, 2, 20), Parallel: some(1, 1, 2, 4)},
		}
		if s.IntN(3) == 0 {
			r.filter = query.Prop("A").Eq("yes")
		}
		own := r.table(s.Reliable(), true)
		if err := own.Create(ctx); err != nil {
			s.Failf("create: %w", err)
		}
		r.fill(ctx, own)
		stop := make(chan struct{})
		var writers sync.WaitGroup
		for n := range s.IntN(3) {
			writers.Go(func() { r.write(ctx, own, rand.New(rand.NewPCG(s.Seed, uint64(n+1))), stop) })
		}
		r.scan(ctx)
		close(stop)
		writers.Wait()
		for key := range r.want {
			if !r.got[key] {
				s.Failf("%q is missing", key)
			}
		}
	})
}

type scanRun struct {
	*harness.Schedule
	fast    bool
	retries int32
	filter  query.Filter
	opts    *patterns.QueryOptions
	want    map[keys.Key]bool // the matching rows that exist all the time
	got     map[keys.Key]bool
}

func (r *scanRun) table(p *harness.Process, fast bool) *patterns.Table[doc] {
	service, err := p.Tables(fast, r.retries)
	if err == nil {
		var t *patterns.Table[doc]
		if t, err = patterns.NewTable[doc](service.NewClient("docs"), nil); err == nil {
			return t
		}
	}
	panic(err)
}

// drawKey draws a key. One of stable rows differs from all others.
func drawKey(chance *rand.Rand, stable bool) keys.Key {
	key := keys.Key{Partition: []string{"", "a", "b", "ba", "\U0010FFFF"}[chance.IntN(5)]}
	if n := chance.IntN(20); n > 0 {
		key.Row = fmt.Sprintf("%02d", n)
	}
	if !stable {
		key.Row += "~"
	}
	return key
}

func drawDoc(chance *rand.Rand, stable bool) *doc {
	key := drawKey(chance, stable)
	return &doc{PartitionKey: key.Partition, RowKey: key.Row, A: []string{"yes", "yes", "no"}[chance.IntN(3)]}
}

// fill inserts the rows that exist all the time.
func (r *scanRun) fill(ctx context.Context, own *patterns.Table[doc]) {
	for range r.IntN(25) {
		d := drawDoc(r.Rand, true)
		item, err := own.Insert(ctx, d)
		if err != nil && !errors.Is(err, patterns.ErrExists) {
			r.Failf("insert: %w", err)
		}
		if err == nil && (d.A == "yes" || r.filter == (query.Filter{})) {
			r.want[item.Key] = true
		}
	}
}

// write inserts and deletes other rows until stop is closed.
func (r *scanRun) write(ctx context.Context, own *patterns.Table[doc], chance *rand.Rand, stop <-chan struct{}) {
	for range 15 {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(chance.IntN(8000)) * time.Millisecond):
		}
		d := drawDoc(chance, false)
		err := own.Delete(ctx, keys.Key{Partition: d.PartitionKey, Row: d.RowKey}, "")
		if chance.IntN(3) > 0 {
			_, err = own.Upsert(ctx, d, patterns.Replace)
		}
		if err != nil && !errors.Is(err, patterns.ErrNotFound) {
			r.Failf("write: %w", err)
		}
	}
}

// scan runs the job until it has read all pages.
func (r *scanRun) scan(ctx context.Context) {
	cursor := ""
	for number := range 300 {
		p := r.Process(number)
		if number > 30 {
			p = r.Reliable()
		}
		table := r.table(p, r.fast)
		for page, err := range table.Scan(ctx, r.filter, cursor, r.opts) {
			if err != nil {
				r.Log("scan: %v", err)
				r.expect(err)
				break
			}
			if p.Dead() || r.IntN(12) == 0 && number < 30 { // killed before it has stored the page
				p.Kill()
				break
			}
			for _, item := range page.Items {
				if r.got[item.Key] {
					r.Failf("%q is returned twice", item.Key)
				}
				r.got[item.Key] = true
			}
			r.Log("%d rows, %d in all", len(page.Items), len(r.got))
			if cursor = page.Cursor; cursor == "" {
				return
			}
			if r.IntN(12) == 0 {
				p.Kill()
				break
			}
		}
	}
	r.Failf("the scan does not end")
}

// expect checks the error of a scan.
func (r *scanRun) expect(err error) {
	var status *patterns.Error
	for _, e := range []error{harness.ErrLost, harness.ErrDead, patterns.ErrThrottled} {
		if errors.Is(err, e) {
			return
		}
	}
	if !errors.As(err, &status) || status.Status < 500 || strings.Contains(err.Error(), "cursor") {
		r.Failf("scan: %w", err)
	}
}
