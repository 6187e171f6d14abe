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

// place is an account with the tables and the queue of a Store, for tests in virtual
// time.
type cluster struct {
	views   []string // of the Store, by name
	account *storagetest.Account
	queue   *harness.OutboxQueue
	own     *aztables.Client // for the test itself: nothing goes wrong on it
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

// process is one running program: a Store of its own, whose requests can be cut off
// for good at any point.
type process struct {
	*patterns.Store[hire]
	inner policy.Transporter
	queue *harness.OutboxQueue

	mu    sync.Mutex
	steps int  // requests so far, to tables and queue
	die   int  // the step at which the process dies; 0: never
	after bool // it dies after that step was carried out, else before
	dead  bool
	lost  int // the step that is carried out and whose reply gets lost; 0: none
	tries int // of an operation; 0: as many as usual

	chance  *rand.Rand    // nil: no delays, no lost replies
	latency time.Duration // of a request, at most
	lose    float64       // part of the requests, and of the replies, that get lost
	changed func()        // is called after each transaction that was carried out

	sending     func(method, path string)      // is called before each request is carried out
	loseRequest func(method, path string) bool // whether a request gets lost
	loseReply   func(method, path string) bool // whether the reply to a request gets lost
}

func (c *cluster) start(pr *process) (*process, error) {
	pr.inner, pr.queue = c.account.Transport(), c.queue
	retry := policy.RetryOptions{MaxRetries: 1, RetryDelay: time.Second}
	if pr.die > 0 {
		retry.MaxRetries = -1 // its lost requests stay lost
	}
	client, err := aztables.NewServiceClientFromConnectionString(c.account.ConnectionString(),
		patterns.Accelerate(&aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: pr, Retry: retry}}))
	if err != nil {
		return nil, err
	}
	pr.Store, err = newHires(client.NewClient("hires"), patterns.StoreOptions[hire]{
		Views: someViews(client.NewClient("other"), c.views), Outbox: processQueue{pr}, Grace: testGrace, Expiry: testExpiry, Tries: pr.tries,
	})
	return pr, err
}

var (
	errKilled = errors.New("the process is dead")
	errLost   = errors.New("connection lost")
)

// step lets do happen, or not, and its outcome be known, or not.
func (p *process) step(ctx context.Context, do func() error) error {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return errKilled
	}
	p.steps++
	dies := p.steps == p.die
	var before, behind time.Duration
	var never, unheard bool
	if p.chance != nil {
		before, behind = time.Duration(p.chance.Int64N(int64(p.latency)))+1, time.Duration(p.chance.Int64N(int64(p.latency)))+1
		never, unheard = p.chance.Float64() < p.lose, p.chance.Float64() < p.lose
	}
	p.dead = dies
	unheard = unheard || p.steps == p.lost
	p.mu.Unlock()
	time.Sleep(before)
	if dies && !p.after {
		return errKilled
	}
	if never {
		return errLost
	}
	err := do()
	time.Sleep(behind)
	if dies {
		return errKilled
	}
	if unheard && err == nil {
		return errLost
	}
	return err
}

// hasLost reports whether the reply that it was to lose is behind it.
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

// processQueue is the queue as a process reaches it.
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

// recover lets workers run until the queue is empty, and time pass as it has to.
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

// clean checks that everything is right and that nothing is left of any operation.
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
			return fmt.Errorf("%s is left", key)
		}
	}
	return nil
}

// inPartition checks the rows that change with their primaries.
func inPartition(ctx context.Context, c *cluster) error {
	views := slices.DeleteFunc(slices.Clone(c.views), func(view string) bool { return !slices.Contains(viewsHere, view) })
	return verify(ctx, c.own, nil, views, func(table, key string) bool {
		return table != "own" || strings.HasPrefix(key, "badge|") || strings.HasPrefix(key, "company|") || strings.Contains(key, "~azp_outbox_")
	})
}

// inVirtualTime runs body, whose time passes only while all of it waits.
func inVirtualTime(t *testing.T, body func(ctx context.Context) error) error {
	t.Helper()
	var err error
	synctest.Test(t, func(t *testing.T) { err = body(t.Context()) })
	return err
}
