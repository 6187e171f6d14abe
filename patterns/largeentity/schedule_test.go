package largeentity_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/query"
)

const grace = time.Hour

// Clients write and read two entities, next to workers and a sweeper, while requests for
// rows, blobs and messages are lost or arrive late, processes are killed or paused, and
// clocks are wrong. The blobs of an entity can be read for the grace period after it was
// read, no reference dangles, the results for each entity have an order, and in the end just
// the blobs exist to which an entity refers: with an outbox, without a sweep.
func TestRandomSchedulesLeaveNoDanglingReferenceAndNoOrphan(t *testing.T) {
	harness.Schedules(t, []string{"swept", "outbox", "both", "both, with addresses"}, 4, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(grace/2 - time.Minute)
		r := &filmRun{
			Schedule: s, mode: mode, retries: int32(s.IntN(4)) - 1, accelerated: s.IntN(2) == 0, skewed: s.IntN(2) == 0,
			pause: []time.Duration{time.Minute, 45 * time.Minute}[s.IntN(2)],
		}
		films, _ := r.open(s.Reliable())
		if err := films.Create(ctx); err != nil {
			s.Failf("create: %w", err)
		}
		r.run(ctx)
	})
}

// filmRun is one schedule.
type filmRun struct {
	*harness.Schedule
	harness.History
	mode                string
	retries             int32
	accelerated, skewed bool
	pause               time.Duration // between the operations of a client
	queue               harness.OutboxQueue
}

// faultyQueue is the queue as a process reaches it. A Process sees times of the service that
// are earlier by its Skew, so it writes such times into its messages. The queue contains
// the times of the service.
type faultyQueue struct {
	patterns.OutboxQueue
	p *harness.Process
}

func (q faultyQueue) Put(ctx context.Context, m patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	m = shiftMessage(m, q.p.Skew)
	return patterns.Receipt{}, q.p.Step(ctx, "POST", "/queue", func(bool) error {
		_, err := q.OutboxQueue.Put(ctx, m, after)
		return err
	}, func(status int) error { return fmt.Errorf("refused by the queue: status %d", status) })
}

// skewedHandler handles the messages of the queue in a process that sees earlier times.
type skewedHandler struct{ *program }

func (h skewedHandler) Handle(ctx context.Context, m patterns.OutboxMessage) (time.Duration, error) {
	return h.films.Handle(ctx, shiftMessage(m, -h.Skew))
}

// shiftMessage returns m with the time in its ID shifted.
func shiftMessage(m patterns.OutboxMessage, by time.Duration) patterns.OutboxMessage {
	sent, unique, _ := strings.Cut(m.ID, "_")
	at, err := time.Parse(time.RFC3339, sent)
	if err != nil {
		panic(err)
	}
	m.ID = at.Add(by).Format(time.RFC3339) + "_" + unique
	return m
}

func (r *filmRun) open(p *harness.Process) (*largeentity.Table[film], *container.Client) {
	service, err := p.Tables(r.accelerated, r.retries)
	if err != nil {
		panic(err)
	}
	blobs, err := p.Container("photos", r.retries)
	if err != nil {
		panic(err)
	}
	o := &largeentity.Options[film]{Grace: grace, Threshold: largeentity.Always}
	if strings.HasSuffix(r.mode, "addresses") {
		o.Addresses = map[string]string{"Poster": "PosterAddress", "Video": "VideoAddress"}
	}
	if r.mode != "swept" {
		o.Outbox = faultyQueue{&r.queue, p}
	}
	films, err := largeentity.New(service.NewClient("Films"), blobs, o)
	if err != nil {
		panic(err)
	}
	largeentity.SetBlockSize(films, 1<<10) // blocks of 8 MiB take most of the time
	return films, blobs
}

// program is a process that uses the table.
type program struct {
	*harness.Process
	films *largeentity.Table[film]
}

// process starts the process with this number.
func (r *filmRun) process(number int) (*program, *rand.Rand) {
	chance := rand.New(rand.NewPCG(r.Seed, uint64(number+1)))
	p := r.Process(number)
	if r.skewed {
		p.Skew = time.Duration(chance.IntN(11)-5) * time.Hour
	}
	decide := p.Decide
	p.Decide = func(method, path string) harness.Fate {
		path, _, _ = strings.Cut(path, "/films/") // the name of the blob is random
		return decide(method, path)
	}
	films, _ := r.open(p)
	return &program{p, films}, chance
}

func (r *filmRun) run(ctx context.Context) {
	stop := make(chan struct{})
	var clients, others sync.WaitGroup
	for c := range 2 + r.IntN(2) {
		clients.Go(func() { r.client(ctx, 8*c) })
	}
	if r.mode != "swept" {
		for w := range 1 + r.IntN(2) {
			others.Go(func() {
				r.repeat(stop, 1000+100*w, 7*time.Minute, func(p *program, early bool) { r.work(ctx, p, early) })
			})
		}
	}
	if r.mode != "outbox" {
		others.Go(func() {
			r.repeat(stop, 2000, 25*time.Minute, func(p *program, _ bool) {
				report, err := p.films.Sweep(ctx, nil) // the next sweep repeats what failed
				r.Log("sweep: %+v %v", report, err)
			})
		})
	}
	clients.Wait()
	close(stop)
	others.Wait()
	r.WaitLate()
	reliable := r.Reliable()
	films, blobs := r.open(reliable)
	for n := 0; r.queue.Len() > 0; n++ {
		if time.Sleep(10 * time.Minute); n == 100 {
			r.Failf("the queue does not become empty")
			return
		}
		r.work(ctx, &program{reliable, films}, false)
	}
	if r.mode == "outbox" {
		r.checkBlobs(ctx, "after recovery", films, blobs)
	}
	for range 2 {
		time.Sleep(grace + time.Minute)
		if _, err := films.Sweep(ctx, nil); err != nil {
			r.Failf("sweep: %w", err)
		}
	}
	r.checkBlobs(ctx, "after sweeps", films, blobs)
	for _, id := range []string{"x", "y"} {
		r.get(ctx, &program{reliable, films}, id)
	}
	if err := r.Check(); err != nil {
		r.Failf("%w", err)
	}
}

// repeat calls do repeatedly, in another process if the process was killed.
func (r *filmRun) repeat(stop <-chan struct{}, number int, every time.Duration, do func(p *program, early bool)) {
	p, chance := r.process(number)
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(every):
		}
		if do(p, chance.IntN(5) == 0); p.Dead() {
			p, _ = r.process(number + n)
		}
	}
}

// work handles the visible messages. Another worker may receive them at the same time.
func (r *filmRun) work(ctx context.Context, p *program, early bool) {
	if early {
		r.queue.ShowFirst()
	}
	for range 10 {
		if ok, err := r.queue.WorkOne(ctx, skewedHandler{p}, time.Minute); !ok || err != nil {
			r.Log("work: %v", err)
			return
		}
	}
}

// checkBlobs checks that the blobs are those to which the entities refer.
func (r *filmRun) checkBlobs(ctx context.Context, when string, films *largeentity.Table[film], blobs *container.Client) {
	referenced := map[string]bool{}
	for row, err := range films.Table().Query(ctx, query.PartitionKey.Eq("films"), nil) {
		item, ferr := films.FromRow(row)
		if err = errors.Join(err, ferr); err != nil {
			r.Failf("%s: %w", when, err)
			return
		}
		for _, property := range []string{"Video", "Poster"} {
			if b, ok := item.Blob(property); ok {
				referenced[b.Name] = true
			}
		}
	}
	for pager := blobs.NewListBlobsFlatPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			r.Failf("%s: %w", when, err)
			return
		}
		for _, b := range page.Segment.BlobItems {
			if !referenced[*b.Name] {
				r.Failf("%s: no entity refers to a blob of %v", when, *b.Properties.CreationTime)
			}
			delete(referenced, *b.Name)
		}
	}
	if len(referenced) > 0 {
		r.Failf("%s: %d blobs do not exist to which an entity refers", when, len(referenced))
	}
}
