package logdata_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/logdata"
)

// Writers of one name store records in blobs that another client leases now and then, while
// requests and replies are lost or arrive late, and processes are killed or paused. Each
// record that was acknowledged is stored exactly once, one that was not accepted never, and
// every other one at most once. No record is ever read in part.
func TestEveryAcknowledgedRecordOfARandomScheduleIsStoredOnce(t *testing.T) {
	modes := []string{"sync", "flush", "in the background"}
	harness.Schedules(t, modes, 2, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(14 * time.Minute)
		s.Faults.Deny = float64(s.IntN(3)) / 20
		r := &logRun{Schedule: s, mode: mode, start: time.Now(), retries: int32(s.IntN(4)) - 1, promises: map[string]promise{}}
		if _, err := r.container(s.Reliable()).Create(ctx, nil); err != nil {
			s.Failf("create: %w", err)
		}
		stop := make(chan struct{})
		var writers, others sync.WaitGroup
		for n := range 1 + s.IntN(3) {
			writers.Go(func() { r.write(ctx, 100*n, rand.New(rand.NewPCG(s.Seed, uint64(n+1)))) })
		}
		if s.IntN(2) == 0 {
			chance := rand.New(rand.NewPCG(s.Seed, 1000))
			others.Go(func() { r.lease(ctx, stop, chance) })
		}
		others.Go(func() { r.watch(ctx, stop) })
		writers.Wait()
		close(stop)
		others.Wait()
		s.WaitLate()
		r.check(ctx, nil, r.promised())
	})
}

// promise is what the writer of a record knows of it.
type promise string

const (
	refused promise = "refused" // it is never stored
	open    promise = "open"    // it is stored once at most
	stored  promise = "stored"  // it is stored once
)

type logRun struct {
	*harness.Schedule
	mode    string
	start   time.Time
	retries int32

	mu       sync.Mutex
	promises map[string]promise // by message
}

func (r *logRun) container(p *harness.Process) *container.Client {
	c, err := p.Container("logs", r.retries)
	if err != nil {
		panic(err)
	}
	return c
}

func (r *logRun) promise(p promise, messages ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range messages {
		r.promises[m] = p
	}
}

func (r *logRun) promised() map[string]promise {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.promises)
}

// write writes records and closes the Writer. It starts another process if its process is
// killed.
func (r *logRun) write(ctx context.Context, number int, chance *rand.Rand) {
	var p *harness.Process
	var w *logdata.Writer
	var pending []string // accepted by w, not known to be stored
	for i := range 2 + chance.IntN(6) {
		if p == nil || p.Dead() {
			if w != nil {
				_ = w.Close(ctx) // waits for a flush in the background; a dead process sends nothing
			}
			p, pending = r.Process(number+i), nil
			w = r.writer(p)
		}
		time.Sleep(time.Duration(chance.IntN(40)) * time.Second)
		m := fmt.Sprint("record ", number+i)
		r.promise(open, m)
		when := time.Now().Add(-time.Duration(chance.IntN(2)*chance.IntN(100)) * time.Minute)
		err := w.Write(ctx, logdata.Record{Time: when, Message: m})
		r.Log("%s: %v", m, err)
		switch {
		case err == nil && r.mode == "sync":
			r.acknowledge(p, m)
		case err == nil, errors.Is(err, logdata.ErrPending):
			pending = append(pending, m)
		case !p.Dead():
			r.promise(refused, m)
		}
		if r.mode == "flush" && chance.IntN(2) == 0 && w.Flush(ctx) == nil {
			r.acknowledge(p, pending...)
		}
	}
	for range 600 { // until a lease has ended and a request gets through
		err := w.Close(ctx)
		if err == nil {
			r.acknowledge(p, pending...)
		}
		if err == nil || p.Dead() {
			return
		}
		r.Log("close: %+v", err)
		time.Sleep(10 * time.Second)
	}
	r.Failf("writer %d cannot store its records", number)
}

func (r *logRun) acknowledge(p *harness.Process, messages ...string) {
	if !p.Dead() {
		r.promise(stored, messages...)
	}
}

func (r *logRun) writer(p *harness.Process) *logdata.Writer {
	o := logdata.WithBlocks(logdata.WriterOptions{Name: "w", FlushAge: never, Sync: r.mode == "sync"}, 3)
	if r.mode == "in the background" {
		o.FlushAge = 20 * time.Second
	}
	w, err := logdata.NewWriter(r.container(p), "web", &o)
	if err != nil {
		panic(err)
	}
	return w
}

// lease acquires leases for some blobs, which end after 15 seconds.
func (r *logRun) lease(ctx context.Context, stop <-chan struct{}, chance *rand.Rand) {
	c := r.container(r.Reliable())
	for pause := 10 * time.Second; ; pause += pause / 2 {
		for pages := c.NewListBlobsFlatPager(nil); pages.More(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				r.Failf("list: %w", err)
				return
			}
			for _, item := range page.Segment.BlobItems {
				l, err := lease.NewBlobClient(c.NewBlobClient(*item.Name), nil)
				if err == nil && chance.IntN(2) == 0 {
					_, err = l.AcquireLease(ctx, 15, nil)
					r.Log("lease of %s: %v", *item.Name, err)
				}
			}
		}
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
	}
}

// watch reads all records again and again.
func (r *logRun) watch(ctx context.Context, stop <-chan struct{}) {
	for pause := 47 * time.Second; ; pause += pause {
		r.check(ctx, r.promised(), nil)
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
	}
}

// check reads all records. Those that were acknowledged before must be among them, and in the end none
// that was refused.
func (r *logRun) check(ctx context.Context, before, end map[string]promise) {
	reader, err := logdata.NewReader(r.container(r.Reliable()), "web", nil)
	if err != nil {
		panic(err)
	}
	times := map[string]int{}
	for e, err := range reader.Query(ctx, r.start.Add(-2*time.Hour), time.Now().Add(time.Hour), "", nil) {
		if err != nil {
			r.Failf("read: %w", err)
			return
		}
		times[e.Message]++
	}
	for m, n := range times {
		if n > 1 {
			r.Failf("%s was read %d times", m, n)
		}
		if end != nil && end[m] != open && end[m] != stored {
			r.Failf("%s was %q and is stored", m, end[m])
		}
	}
	for _, promises := range []map[string]promise{before, end} {
		for m, p := range promises {
			if p == stored && times[m] != 1 {
				r.Failf("%s was acknowledged and read %d times", m, times[m])
			}
		}
	}
}
