package shards_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

const partitions = 3

// Clients read and write the same rows while one or two runs add an account, pin a partition, abort
// moves, and move the partitions of one account to another. Requests and replies are lost, arrive late or twice, and processes are killed or
// paused. The results of each row must have an order in which each successful operation takes
// effect between its call and its return; two rows that are only written together must be equal
// in the end; and a query must return every row once. In two modes the clients are governed, or the primary region fails
// meanwhile and some reads use the secondary; such a read has a place in the order that is at most its age ago.
func TestNothingIsLostWhilePartitionsMove(t *testing.T) {
	harness.Schedules(t, []string{"plain", "accelerated", "governed", "two regions"}, 4, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(time.Hour)
		r := &run{Schedule: s, mode: mode, retries: int32(s.IntN(4)) - 1}
		// Slow requests take longer than the lease while partitions move, fast ones are shorter.
		r.speed = []time.Duration{1, 8, 30}[s.IntN(3)]
		setup, _ := r.open(s.Reliable(), 2)
		if err := setup.Create(ctx); err != nil {
			s.Failf("create: %w", err)
			return
		}
		var all sync.WaitGroup
		for c := range 1 + s.IntN(2) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(c+100)))
			r.moving.Add(1)
			pin := fmt.Sprint("account", s.IntN(2))
			all.Go(func() { r.moves(ctx, 10+c, pin, chance) })
		}
		for c := range 2 + s.IntN(3) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(c+1)))
			all.Go(func() { r.client(ctx, c, chance) })
		}
		stopped := make(chan struct{})
		if mode == "two regions" {
			s.Account.Replicate(time.Duration(s.IntN(60)) * time.Second)
			go r.outages(rand.New(rand.NewPCG(s.Seed, 1000)), stopped)
		} else {
			close(stopped)
		}
		all.Wait()
		r.ended.Store(true)
		<-stopped
		s.WaitLate()
		for try := 0; ; try++ {
			err := r.move(ctx, s.Reliable(), 4, "account0")
			if err == nil {
				break
			}
			if try == 3 {
				s.Failf("the move does not end: %w", err)
				return
			}
		}
		_, table := r.open(s.Reliable(), 4)
		r.check(ctx, table)
		if mode == "two regions" {
			time.Sleep(s.Faults.PauseTime + time.Hour) // the slower request of a race may be paused
		}
	})
}

type run struct {
	*harness.Schedule
	harness.History
	mode    string
	retries int32
	speed   time.Duration
	moving  atomic.Int32
	ended   atomic.Bool // of all clients
	mu      sync.Mutex
}

// process starts a process. Those that move have fast connections, so that much happens during a request
// of a client.
func (r *run) process(number int, fast bool) *harness.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func(was time.Duration) { r.Faults.Latency = was }(r.Faults.Latency)
	if fast {
		r.Faults.Latency = 0
	}
	p := r.Process(number)
	decide := p.Decide
	p.Decide = func(method, path string) harness.Fate {
		f := decide(method, path)
		f.Before /= r.speed
		if f.After < time.Minute { // not a pause
			f.After /= r.speed
		}
		return f
	}
	return p
}

// outages lets the primary region fail and return until all clients have ended.
func (r *run) outages(chance *rand.Rand, stopped chan<- struct{}) {
	defer close(stopped)
	for !r.ended.Load() {
		time.Sleep(time.Duration(chance.IntN(60)) * time.Second / r.speed)
		r.Account.Down(storagetest.Primary)
		time.Sleep(time.Duration(chance.IntN(90)) * time.Second / r.speed)
		r.Account.Down()
	}
}

// service returns a client of the process, with what the mode attaches to it.
func (r *run) service(p *harness.Process) *aztables.ServiceClient {
	var pair regions.Pair
	switch r.mode {
	case "governed":
		governor, err := govern.New(nil)
		if err != nil {
			panic(err)
		}
		p.Attach = governor.Attach
	case "two regions":
		p.Attach = pair.Attach
	}
	service, err := p.Tables(r.mode == "accelerated", r.retries)
	if err != nil {
		panic(err)
	}
	if r.mode == "two regions" {
		pair.Use(service)
	}
	return service
}

func (r *run) open(p *harness.Process, known int) (*shards.Shards, *shards.Table[doc]) {
	service := r.service(p)
	s, err := shards.New(accounts(service, known), "docs", &shards.Options{Lease: time.Duration(1+r.Seed%40) * time.Second / r.speed})
	if err != nil {
		panic(err)
	}
	t, err := shards.NewTable(s, &patterns.TableOptions[doc]{StampWrites: true})
	if err != nil {
		panic(err)
	}
	return s, t
}

// move adds the third account and pins one partition, in a process that knows so many accounts.
func (r *run) move(ctx context.Context, p *harness.Process, known int, pin string) error {
	s, _ := r.open(p, known)
	o := &shards.MoveOptions{Rows: 1 + int(r.Seed%5)}
	added := accounts(r.service(p), 3)[2]
	added.Weight = 10 // most partitions move
	if err := s.Add(ctx, added, o); err != nil {
		return err
	}
	return s.Pin(ctx, "p1", pin, o)
}

// replace lets a fourth account take the place of the second.
func (r *run) replace(ctx context.Context, p *harness.Process) error {
	s, _ := r.open(p, 4)
	return s.Move(ctx, "account1", accounts(r.service(p), 4)[3], &shards.MoveOptions{Rows: 1 + int(r.Seed%5)})
}

// moves repeats a move in further processes until it succeeds. Concurrent ones pin the partition to
// different accounts. Some lack the third account, which another has added, until they add it.
func (r *run) moves(ctx context.Context, n int, pin string, chance *rand.Rand) {
	defer r.moving.Add(-1)
	for i := range 4 {
		p := r.process(16*n+i, true)
		time.Sleep(time.Duration(chance.IntN(20)) * time.Second / r.speed)
		switch chance.IntN(5) {
		case 0:
			s, _ := r.open(p, 4)
			r.Log("abort %d: %v", n, s.Abort(ctx, nil))
		case 1:
			r.Log("replace %d: %v", n, r.replace(ctx, p))
		}
		err := r.move(ctx, p, 2+chance.IntN(3), pin)
		r.Log("move %d: %v", n, err)
		if err == nil {
			return
		}
	}
}

func (r *run) client(ctx context.Context, n int, chance *rand.Rand) {
	var p *harness.Process
	var t *shards.Table[doc]
	least := 6 + chance.IntN(8)
	for i := 0; i < least || i < 40 && r.moving.Load() > 0 && r.speed > 1; i++ {
		if p == nil || p.Dead() {
			p = r.process(16*n+i, false)
			_, t = r.open(p, 4)
		}
		time.Sleep(time.Duration(chance.IntN(4_000)) * time.Millisecond / min(r.speed, 8))
		key := keys.Key{Partition: fmt.Sprint("p", chance.IntN(partitions)), Row: "x"}
		r.operate(ctx, p, t, key, chance, fmt.Sprint("c", n, ".", i))
	}
}

func (r *run) operate(ctx context.Context, p *harness.Process, t *shards.Table[doc], key keys.Key, chance *rand.Rand, value string) {
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	ctx, end := context.WithTimeout(ctx, time.Duration(1+chance.IntN(300))*time.Second) // all runs may have died
	defer end()
	d := &doc{PartitionKey: key.Partition, RowKey: key.Row, A: value, B: value}
	a := harness.Action{A: value, B: value}
	var err error
	switch chance.IntN(10) {
	case 0, 1, 7, 8:
		if r.mode == "two regions" && chance.IntN(3) > 0 {
			r.readEither(ctx, t, key)
		} else {
			r.read(ctx, t, key)
		}
		return
	case 9:
		r.query(ctx, t)
		return
	case 2:
		a.Kind = harness.InsertRow
		_, err = t.Insert(ctx, d)
	case 3:
		a.Kind = harness.PutRow
		_, err = t.Upsert(ctx, d, patterns.Replace)
	case 4:
		a.Kind = harness.Remove
		err = t.Delete(ctx, key, "")
	case 5:
		a = harness.Action{Kind: harness.UpdateRow, A: value}
		_, err = t.Update(ctx, key, func(d *doc) error {
			a.Saw, d.A = d.A, value
			return nil
		})
	case 6:
		err = t.WriteWithin(ctx, key.Partition, func(at *patterns.Table[doc]) error {
			b := at.Batch()
			for _, row := range []string{"left", "right"} {
				b.Upsert(&doc{PartitionKey: key.Partition, RowKey: row, A: value}, patterns.Replace)
			}
			_, err := b.Commit(ctx)
			return err
		})
		r.Log("pair %v %s: %v", key, value, err)
		return
	}
	outcome := outcomeOf(p, err)
	again := 0
	if a.Kind != harness.UpdateRow && (outcome == harness.Applied || outcome == harness.Unknown) {
		again = int(unanswered.Load())
	}
	r.Log("%v %+v: %s, %v", key, a, outcome, err)
	r.Add(name(key), began, a, harness.Result{Outcome: outcome}, again)
}

func (r *run) read(ctx context.Context, t *shards.Table[doc], key keys.Key) {
	began := time.Now()
	item, err := t.Get(ctx, key)
	row := harness.Row{Exists: true, A: item.Value.A, B: item.Value.B}
	if errors.Is(err, patterns.ErrNotFound) {
		row = harness.Row{}
	} else if err != nil {
		return
	}
	r.Log("%v read %+v", key, row)
	r.Add(name(key), began, harness.Action{Kind: harness.Read}, harness.Result{Outcome: harness.Applied, Row: row}, 0)
}

// readEither reads a row from either region. What the secondary returns was there at some time of its age.
func (r *run) readEither(ctx context.Context, t *shards.Table[doc], key keys.Key) {
	began := time.Now()
	var item regions.Item[doc]
	ctx, _ = regions.Permit(ctx) // has no effect on reads of the directory
	err := t.ReadWithin(ctx, key.Partition, func(at *patterns.Table[doc]) error {
		rows, err := regions.NewTable(at, nil)
		if err == nil {
			item, err = rows.Get(ctx, key)
		}
		return err
	})
	row := harness.Row{Exists: true, A: item.Value.A, B: item.Value.B}
	if errors.Is(err, patterns.ErrNotFound) {
		row = harness.Row{}
	} else if err != nil {
		return
	}
	r.Log("%v read %+v, %+v", key, row, item.Source)
	if item.MaxAge != regions.UnknownAge {
		r.Add(name(key), began.Add(-item.MaxAge), harness.Action{Kind: harness.Read}, harness.Result{Outcome: harness.Applied, Row: row}, 0)
	}
}

// query reads the rows of all partitions. Each is read at some time between the beginning and the end.
func (r *run) query(ctx context.Context, t *shards.Table[doc]) {
	began := time.Now()
	found := map[keys.Key]harness.Row{}
	for item, err := range t.Query(ctx, query.Filter{}, everything) {
		if err != nil {
			return
		}
		if found[item.Key].Exists {
			r.Failf("%v was returned twice", item.Key)
		}
		found[item.Key] = harness.Row{Exists: true, A: item.Value.A, B: item.Value.B}
	}
	r.Log("query %+v", found)
	for p := range partitions {
		key := keys.Key{Partition: fmt.Sprint("p", p), Row: "x"}
		r.Add(name(key), began, harness.Action{Kind: harness.Read}, harness.Result{Outcome: harness.Applied, Row: found[key]}, 0)
	}
}

// check checks the final state.
func (r *run) check(ctx context.Context, t *shards.Table[doc]) {
	for p := range partitions {
		r.read(ctx, t, keys.Key{Partition: fmt.Sprint("p", p), Row: "x"})
	}
	if err := r.Check(); err != nil {
		r.Failf("%w", err)
	}
	found := map[string]string{}
	for item, err := range t.Query(ctx, query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
		if err != nil {
			r.Failf("query: %w", err)
			return
		}
		if _, twice := found[name(item.Key)]; twice {
			r.Failf("%v was returned twice", item.Key)
		}
		found[name(item.Key)] = item.Value.A
		if got, err := t.Get(ctx, item.Key); err != nil || got.Value != item.Value {
			r.Failf("%v: the query returned %+v, Get %+v, %w", item.Key, item.Value, got.Value, err)
		}
	}
	for key, value := range found {
		if other := strings.Replace(key, "left", "right", 1); found[other] != value {
			r.Failf("half of a transaction: %s %q, %s %q", key, value, other, found[other])
		}
	}
}

// outcomeOf is what the caller of a write knows. A process that was killed knows nothing.
func outcomeOf(p *harness.Process, err error) harness.Outcome {
	switch {
	case err == nil && !p.Dead():
		return harness.Applied
	case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
		return harness.Unknown
	case errors.Is(err, patterns.ErrExists):
		return harness.Exists
	case errors.Is(err, patterns.ErrNotFound):
		return harness.Missing
	case errors.Is(err, patterns.ErrConflict):
		return harness.NeverRan // of an update, in every try
	}
	return harness.NeverRan
}

func name(key keys.Key) string { return key.Partition + "/" + key.Row }
