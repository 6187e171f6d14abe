package eventual_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// An employee is hired, changed, and archived by several workers, under one contract after
// the other, while requests are lost or arrive late, and workers are killed or paused. After
// every request the last version of the row is in the source or in the target, and a row that
// was moved is not in the source. In some schedules archived rows are deleted; only then a
// late insert into the target may restore a row there.
func TestNoRandomScheduleLosesARowThatIsMoved(t *testing.T) {
	harness.Schedules(t, []string{"table", "blob"}, 3, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(14 * time.Minute)
		r := &moveRun{Schedule: s, toBlob: mode == "blob", purges: s.IntN(3) == 0, retries: int32(s.IntN(4)) - 1, acked: map[int]bool{}}
		inner := s.Inner
		r.own = r.clients(s.Reliable())
		s.Inner = harness.Transport(func(req *http.Request) (*http.Response, error) { return r.carry(ctx, inner, req) })
		_, err1 := r.own.from.CreateTable(ctx, nil)
		_, err2 := r.own.to.CreateTable(ctx, nil)
		_, err3 := r.own.blobs.Create(ctx, nil)
		if err := errors.Join(err1, err2, err3); err != nil {
			s.Failf("create: %w", err)
		}
		var all sync.WaitGroup
		all.Go(func() { r.write(ctx, rand.New(rand.NewPCG(s.Seed, 1))) })
		for n := range 1 + s.IntN(3) {
			all.Go(func() { r.work(ctx, 100*(n+1)) })
		}
		all.Wait()
		s.WaitLate()
		r.finish(ctx)
	})
}

// version is a version of the row: the number of its contract, from 1, and of the version.
type version struct{ Contract, N int }

// moveRun is one schedule.
type moveRun struct {
	*harness.Schedule
	toBlob, purges bool
	retries        int32
	own            moveClients // their requests never fail, and take no time

	mu     sync.Mutex
	last   version      // of the row, wherever it is
	before version      // the last one of the contract before
	etag   azcore.ETag  // of last, when it was written
	purged int          // the last contract whose row was deleted from the target
	acked  map[int]bool // contracts whose row was moved according to a reply
}

// moveClients are the clients of one process.
type moveClients struct {
	from, to *aztables.Client
	blobs    *container.Client
}

func (r *moveRun) clients(p *harness.Process) moveClients {
	tables, err1 := p.Tables(true, r.retries)
	blobs, err2 := p.Container("old", r.retries)
	if err := errors.Join(err1, err2); err != nil {
		panic(err)
	}
	return moveClients{tables.NewClient("staff"), tables.NewClient("old"), blobs}
}

// carry carries out a request of a worker.
func (r *moveRun) carry(ctx context.Context, inner policy.Transporter, req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	res, err := inner.Do(req)
	if req.Method != http.MethodGet {
		r.watch(ctx)
	}
	return res, err
}

// watch checks the invariants. The caller holds the lock.
func (r *moveRun) watch(ctx context.Context) {
	src, dst := r.source(ctx), r.target(ctx)
	switch {
	case src != version{} && src != r.last:
		r.Failf("the source contains %v, want %v", src, r.last)
	case src != version{} && r.acked[src.Contract]:
		r.Failf("%v is in the source, but was moved", src)
	case src == version{} && dst != r.last && r.purged < r.last.Contract:
		r.Failf("the source is empty, the target contains %v, want %v", dst, r.last)
	case dst.Contract > r.last.Contract:
		r.Failf("the target contains %v, the last version is %v", dst, r.last)
	case src != version{} && dst.Contract < src.Contract && dst != r.before && r.purged == 0:
		r.Failf("the target contains %v, want %v", dst, r.before)
	}
}

func (r *moveRun) source(ctx context.Context) version {
	res, err := r.own.from.GetEntity(ctx, "Sales", "456", nil)
	return r.decode(res.Value, err)
}

func (r *moveRun) target(ctx context.Context) version {
	if r.toBlob {
		text := make([]byte, 4<<10)
		n, err := r.own.blobs.NewBlobClient("Sales/456.json").DownloadBuffer(ctx, text, nil)
		return r.decode(text[:max(n, 0)], err)
	}
	res, err := r.own.to.GetEntity(ctx, "Sales", "456", nil)
	return r.decode(res.Value, err)
}

// decode returns the zero version if there is no row.
func (r *moveRun) decode(row []byte, err error) (v version) {
	var refused *azcore.ResponseError
	if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
		return v
	}
	if err == nil {
		err = json.Unmarshal(row, &v)
	}
	if err != nil {
		r.Failf("read: %w", err)
	}
	return v
}

// write hires the employee, changes the row, and deletes archived rows.
func (r *moveRun) write(ctx context.Context, chance *rand.Rand) {
	for range 4 + chance.IntN(8) {
		time.Sleep(time.Duration(chance.IntN(120))*time.Second + 500*time.Millisecond)
		r.mu.Lock()
		now, archived := r.source(ctx), r.target(ctx)
		next := version{r.last.Contract, r.last.N + 1}
		switch {
		case r.purges && archived != (version{}) && chance.IntN(3) == 0 && (now == version{} || archived.Contract < now.Contract):
			r.purge(ctx)
			r.purged = max(r.purged, archived.Contract)
		case now == version{}:
			next.Contract++
			r.before = r.last
			fallthrough
		default:
			row := fmt.Appendf(nil, `{"PartitionKey":"Sales","RowKey":"456","Contract":%d,"N":%d}`, next.Contract, next.N)
			res, err := r.own.from.UpsertEntity(ctx, row, nil)
			if err != nil {
				r.Failf("write: %w", err)
			}
			r.last, r.etag = next, res.ETag
			r.Log("wrote %v", next)
		}
		r.watch(ctx)
		r.mu.Unlock()
	}
}

// purge deletes the row in the target.
func (r *moveRun) purge(ctx context.Context) {
	var err error
	if r.toBlob {
		_, err = r.own.blobs.NewBlobClient("Sales/456.json").Delete(ctx, nil)
	} else {
		_, err = r.own.to.DeleteEntity(ctx, "Sales", "456", nil)
	}
	r.Log("purged: %v", err)
	if err != nil {
		r.Failf("purge: %w", err)
	}
}

// work moves the row a few times. If the worker is killed, or an attempt fails, another one repeats it.
func (r *moveRun) work(ctx context.Context, number int) {
	chance := rand.New(rand.NewPCG(r.Seed, uint64(number)))
	p := r.Process(number)
	clients := r.clients(p)
	for range 2 + chance.IntN(4) {
		time.Sleep(time.Duration(chance.IntN(240)) * time.Second)
		row := row456()
		r.mu.Lock()
		contract := r.last.Contract
		if chance.IntN(3) == 0 {
			row.ETag = r.etag
		} else {
			row.Where = fmt.Sprintf("Contract eq %d", contract)
		}
		r.mu.Unlock()
		if contract == 0 {
			continue
		}
		for range 1 + chance.IntN(4) {
			err := r.move(ctx, clients, row)
			r.Log("moved contract %d %+v: %v", contract, row, err)
			if p.Dead() {
				number++
				p = r.Process(number)
				clients = r.clients(p)
			} else if r.check(contract, row, err) {
				break
			}
		}
	}
}

func (r *moveRun) move(ctx context.Context, c moveClients, row eventual.Row) error {
	if r.toBlob {
		return eventual.MoveToBlob(ctx, c.from, c.blobs, row)
	}
	return eventual.Move(ctx, c.from, c.to, row)
}

// check checks the result of a move, and reports whether it is final.
func (r *moveRun) check(contract int, row eventual.Row, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var status *patterns.Error
	switch {
	case err == nil:
		r.acked[contract] = true
	case errors.Is(err, patterns.ErrOutcomeUnknown), errors.Is(err, harness.ErrLost), errors.Is(err, patterns.ErrThrottled), errors.Is(err, patterns.ErrConflict):
		return false
	case errors.Is(err, eventual.ErrSuperseded):
		if row.Where != "" && contract == r.last.Contract {
			r.Failf("contract %d is the last one: %w", contract, err)
		}
	case errors.Is(err, patterns.ErrNotFound):
		if r.purged == 0 {
			r.Failf("contract %d: %w", contract, err)
		}
	default:
		if !errors.As(err, &status) || status.Status < 500 {
			r.Failf("contract %d: %w", contract, err)
		}
		return false
	}
	return true
}

// finish moves the last row.
func (r *moveRun) finish(ctx context.Context) {
	row := row456()
	row.Where = fmt.Sprintf("Contract eq %d", r.last.Contract)
	err := r.move(ctx, r.own, row)
	if err != nil && (!errors.Is(err, patterns.ErrNotFound) || r.purged == 0) {
		r.Failf("in the end: %w", err)
	}
	if src := r.source(ctx); src != (version{}) {
		r.Failf("in the end %v is in the source", src)
	}
	r.watch(ctx)
}
