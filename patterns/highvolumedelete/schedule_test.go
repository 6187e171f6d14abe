package highvolumedelete_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/query"
)

// Clients insert rows into the tables of a few hours and delete some, while another client
// drops tables, requests and replies are lost or arrive late, and processes are killed or
// paused. An acknowledged insert is there unless its table was dropped since; a refused one
// never is. DeleteWhere deletes all rows that match, and no others.
func TestEveryInsertOfARandomScheduleIsThereUnlessItsTableWasDropped(t *testing.T) {
	modes := []string{"plain", "accelerated", "accelerated, with Keep"}
	harness.Schedules(t, modes, 4, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(14 * time.Minute)
		s.Faults.Deny = float64(s.IntN(3)) / 20
		r := &dropRun{Schedule: s, mode: mode, retries: int32(s.IntN(4)) - 1, skewed: s.IntN(2) == 0, drops: map[string][]time.Time{}, rows: map[string]*inserted{}}
		s.Inner = &dropLog{s.Inner, r}
		stop := make(chan struct{})
		var clients, others sync.WaitGroup
		for n := range 1 + s.IntN(3) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(n+1)))
			clients.Go(func() { r.client(ctx, 100*n, chance) })
		}
		others.Go(func() { r.drop(ctx, stop) })
		clients.Wait()
		close(stop)
		others.Wait()
		s.WaitLate()
		r.check(ctx)
	})
}

type dropRun struct {
	*harness.Schedule
	mode    string
	retries int32
	skewed  bool

	mu    sync.Mutex
	drops map[string][]time.Time // when the service dropped a table
	rows  map[string]*inserted   // by user
}

// inserted is an insert that has ended.
type inserted struct {
	at      time.Time // of the event
	began   time.Time
	outcome harness.Outcome
	again   bool // an unanswered attempt may store the row again after it was deleted
	deleted bool // by a DeleteWhere that began later and has succeeded
}

// dropLog notes when the service drops a table.
type dropLog struct {
	policy.Transporter
	run *dropRun
}

func (d *dropLog) Do(req *http.Request) (*http.Response, error) {
	reply, err := d.Transporter.Do(req)
	if _, name, ok := strings.Cut(req.URL.Path, "/Tables('"); ok && req.Method == http.MethodDelete && err == nil && reply.StatusCode == http.StatusNoContent {
		d.run.mu.Lock()
		defer d.run.mu.Unlock()
		name = strings.TrimSuffix(name, "')")
		d.run.drops[name] = append(d.run.drops[name], time.Now())
		d.run.Log("dropped %s", name)
	}
	return reply, err
}

func (r *dropRun) tables(p *harness.Process) *highvolumedelete.Tables[login] {
	service, err := p.Tables(strings.HasPrefix(r.mode, "accelerated"), r.retries)
	if err != nil {
		panic(err)
	}
	o := loginOptions()
	if strings.HasSuffix(r.mode, "with Keep") {
		o.Keep = 2 * time.Hour
	}
	s, err := highvolumedelete.New(service, "Logins", highvolumedelete.Hour, o)
	if err != nil {
		panic(err)
	}
	return s
}

func (r *dropRun) client(ctx context.Context, number int, chance *rand.Rand) {
	var p *harness.Process
	var s *highvolumedelete.Tables[login]
	for i := range 3 + chance.IntN(6) {
		if p == nil || p.Dead() {
			p = r.Process(number + i)
			if r.skewed {
				p.Skew = time.Duration(chance.IntN(3)-1) * time.Hour
			}
			s = r.tables(p)
		}
		time.Sleep(time.Duration(chance.IntN(40)) * time.Second)
		at := time.Now().Add(-time.Duration(chance.IntN(4)) * time.Hour)
		if chance.IntN(5) == 0 {
			r.deleteWhere(ctx, p, s, at)
		} else {
			r.insert(ctx, p, s, at, fmt.Sprintf("%c%d", "dk"[chance.IntN(2)], number+i))
		}
	}
}

func (r *dropRun) insert(ctx context.Context, p *harness.Process, s *highvolumedelete.Tables[login], at time.Time, user string) {
	row := &inserted{at: at, began: time.Now(), outcome: harness.Unknown}
	ctx, unanswered := harness.CountUnanswered(ctx)
	_, err := s.Insert(ctx, &login{User: user, At: at, Address: user})
	switch {
	case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
	case err == nil:
		row.outcome = harness.Applied
	default:
		row.outcome = harness.NeverRan
	}
	row.again = unanswered.Load() > 0
	r.Log("insert %s: %s %v", user, row.outcome, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows[user] = row
}

// deleteWhere deletes the rows of one hour whose users start with d.
func (r *dropRun) deleteWhere(ctx context.Context, p *harness.Process, s *highvolumedelete.Tables[login], at time.Time) {
	began := time.Now()
	table, err := s.Table(at)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	var found []*inserted
	for user, row := range r.rows {
		if user[0] == 'd' && row.at.Truncate(time.Hour).Equal(at.Truncate(time.Hour)) && row.outcome == harness.Applied && !row.again {
			found = append(found, row)
		}
	}
	r.mu.Unlock()
	report, err := table.DeleteWhere(ctx, query.PartitionKey.Within(keys.Prefix("d")), "", nil)
	r.Log("delete since %v: %+v %v", began, report, err)
	if err != nil || p.Dead() {
		return
	}
	if report.Found != report.Done {
		r.Failf("the counts do not agree: %+v", report)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range found {
		row.deleted = true
	}
}

// drop drops the tables that are older than two hours, now and then.
func (r *dropRun) drop(ctx context.Context, stop <-chan struct{}) {
	for n := 0; ; n++ {
		s := r.tables(r.Process(1000 + n))
		age := 2 * time.Hour
		if strings.HasSuffix(r.mode, "with Keep") {
			age = 4 * time.Hour
		}
		_, err := s.DropBefore(ctx, time.Now().Add(-age), nil)
		r.Log("drop: %v", err)
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(n+1) * 30 * time.Second):
		}
	}
}

// check reads all rows.
func (r *dropRun) check(ctx context.Context) {
	s := r.tables(r.Reliable())
	there := map[string]int{}
	for item, err := range s.Query(ctx, time.Time{}, time.Time{}, query.Filter{}, scan(false)) {
		if err != nil {
			r.Failf("read: %w", err)
			return
		}
		if item.Value.Address != item.Key.Partition {
			r.Failf("row %v contains %q", item.Key, item.Value.Address)
		}
		there[item.Key.Partition]++
	}
	for user, row := range r.rows {
		dropped := false
		name, err := s.Name(row.at)
		if err != nil {
			panic(err)
		}
		for _, at := range r.drops[name] {
			dropped = dropped || !at.Before(row.began)
		}
		switch n := there[user]; {
		case n > 1, row.outcome == harness.NeverRan && n > 0, row.deleted && n > 0:
			r.Failf("%s is there %d times: %+v", user, n, *row)
		case row.outcome == harness.Applied && user[0] == 'k' && !dropped && n == 0:
			r.Failf("%s is not there: %+v", user, *row)
		}
	}
}
