package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// cluster is an account with the tables and the queue that the processes of a test share,
// in virtual time.
type cluster struct {
	views   []string // of the Store, by name
	account *storagetest.Account
	queue   *harness.OutboxQueue
	own     *aztables.Client // for the test itself; its requests never fail
	other   *aztables.Client
}

func newCluster(ctx context.Context, views []string) (*cluster, error) {
	c := &cluster{views: views, account: storagetest.Start(nil), queue: &harness.OutboxQueue{}}
	c.own = c.account.Tables().NewClient("hires")
	c.other = c.account.Tables().NewClient("other")
	_, err1 := c.own.CreateTable(ctx, nil)
	_, err2 := c.other.CreateTable(ctx, nil)
	return c, errors.Join(err1, err2)
}

const (
	workerHides = 30 * time.Second // a message that it handles
	testGrace   = time.Minute
	testExpiry  = 12 * time.Hour
)

// process is a program with a Store of its own. At any request it can be killed: none of
// its later requests is sent.
type process struct {
	*patterns.Store[hire]
	inner policy.Transporter
	queue *harness.OutboxQueue
	views []string // of its Store; nil for those of the cluster

	mu    sync.Mutex
	steps int  // requests so far, to tables and the queue
	die   int  // the step at which the process is killed, 0 for never
	after bool // it is killed after that step, else before
	dead  bool
	lost  int  // the step whose reply is lost, 0 for none
	tries int  // StoreOptions.Tries
	guard bool // StoreOptions.GuardInserts

	chance  *rand.Rand    // nil for no delays and no losses
	latency time.Duration // the longest of a request
	lose    float64       // the probability that a request, or a reply, is lost
	changed func()        // is called after each transaction that was sent

	sending     func(method, path string)      // is called before each request
	loseRequest func(method, path string) bool // reports whether a request is lost
	holdBack    func(req *http.Request) bool   // reports whether a request is not sent now
	loseReply   func(method, path string) bool // reports whether the reply to a request is lost
}

func (c *cluster) start(pr *process) (*process, error) {
	pr.inner, pr.queue = c.account.Transport(), c.queue
	if pr.views == nil {
		pr.views = c.views
	}
	retry := policy.RetryOptions{MaxRetries: 1, RetryDelay: time.Second}
	if pr.die > 0 {
		retry.MaxRetries = -1 // a killed process does not retry
	}
	client, err := aztables.NewServiceClientFromConnectionString(c.account.ConnectionString(),
		patterns.Accelerate(&aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: pr, Retry: retry}}))
	if err != nil {
		return nil, err
	}
	pr.Store, err = newHires(client.NewClient("hires"), patterns.StoreOptions[hire]{
		Views: someViews(client.NewClient("other"), pr.views), Outbox: processQueue{pr}, Grace: testGrace, Expiry: testExpiry, Tries: pr.tries, GuardInserts: pr.guard,
	})
	return pr, err
}

var (
	errKilled = errors.New("the process is dead")
	errLost   = errors.New("connection lost")
)

// step calls do, unless the process is dead or the request is lost, and returns its
// error, unless the reply is lost.
func (p *process) step(ctx context.Context, do func() error) error {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return errKilled
	}
	p.steps++
	dies := p.steps == p.die
	var before, after time.Duration
	var requestLost, replyLost bool
	if p.chance != nil {
		before, after = time.Duration(p.chance.Int64N(int64(p.latency)))+1, time.Duration(p.chance.Int64N(int64(p.latency)))+1
		requestLost, replyLost = p.chance.Float64() < p.lose, p.chance.Float64() < p.lose
	}
	p.dead = dies
	replyLost = replyLost || p.steps == p.lost
	p.mu.Unlock()
	time.Sleep(before)
	if dies && !p.after {
		return errKilled
	}
	if requestLost {
		return errLost
	}
	err := do()
	time.Sleep(after)
	if dies {
		return errKilled
	}
	if replyLost && err == nil {
		return errLost
	}
	return err
}

// replyIsLost reports whether the reply of step lost has been lost.
func (p *process) replyIsLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost != 0 && p.steps > p.lost
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (p *process) Do(req *http.Request) (res *http.Response, err error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	err = p.step(req.Context(), func() (err error) {
		if p.sending != nil {
			p.sending(req.Method, req.URL.Path)
		}
		if p.loseRequest != nil && p.loseRequest(req.Method, req.URL.Path) {
			return errLost
		}
		if p.holdBack != nil && p.holdBack(req) {
			return errLost
		}
		res, err = p.inner.Do(req)
		if p.changed != nil && strings.HasSuffix(req.URL.Path, "$batch") {
			p.changed()
		}
		if p.loseReply != nil && p.loseReply(req.Method, req.URL.Path) {
			return errLost
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// processQueue is the queue of a process, whose requests are steps.
type processQueue struct{ p *process }

func (q processQueue) Put(ctx context.Context, w patterns.OutboxMessage, after time.Duration) (r patterns.Receipt, err error) {
	err = q.p.step(ctx, func() (err error) {
		r, err = q.p.queue.Put(ctx, w, after)
		return err
	})
	return r, err
}

func (q processQueue) Delete(ctx context.Context, r patterns.Receipt) error {
	return q.p.step(ctx, func() error { return q.p.queue.Delete(ctx, r) })
}

// recover runs a worker until the queue is empty, and lets time pass.
func (c *cluster) recover(ctx context.Context) error {
	w, err := c.start(&process{})
	if err != nil {
		return err
	}
	for range 1000 {
		if c.queue.Len() == 0 {
			return nil
		}
		if ok, err := c.queue.WorkOne(ctx, w, workerHides); err != nil {
			return err
		} else if !ok {
			time.Sleep(10 * time.Minute)
		}
	}
	return errors.New("the queue does not become empty")
}

// clean checks that all rows are as the primaries imply and that no operation has left a
// record.
func (c *cluster) clean(ctx context.Context) error {
	if err := verify(ctx, c.own, c.other, c.views, nil); err != nil {
		return err
	}
	rows, err := readTable(ctx, c.own)
	if err != nil {
		return err
	}
	for key := range rows {
		if strings.Contains(key, "~azp_outbox_") {
			return fmt.Errorf("%s remains", key)
		}
	}
	return nil
}

// inPartition checks the rows that change in the transaction of their primaries.
func inPartition(ctx context.Context, c *cluster) error {
	views := slices.DeleteFunc(slices.Clone(c.views), func(view string) bool { return !slices.Contains(viewsHere, view) })
	return verify(ctx, c.own, nil, views, func(table, key string) bool {
		return table != "own" || strings.HasPrefix(key, "badge|") || strings.HasPrefix(key, "company|") || strings.Contains(key, "~azp_outbox_")
	})
}

// inVirtualTime runs body in a synctest bubble and returns its error.
func inVirtualTime(t *testing.T, body func(ctx context.Context) error) error {
	t.Helper()
	var err error
	synctest.Test(t, func(t *testing.T) { err = body(t.Context()) })
	return err
}
