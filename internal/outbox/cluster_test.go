package outbox_test

import (
	"cmp"
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
	expiry  time.Duration
	stamped bool
	guard   bool                 // StoreOptions.GuardInserts
	follow  patterns.Follow      // StoreOptions.Follow
	plain   bool                 // the clients are not accelerated
	account *storagetest.Account // nil in a random schedule, which has no log
	inner   policy.Transporter
	queue   *harness.OutboxQueue
	own     *aztables.Client // for the test itself; its requests never fail
	other   *aztables.Client
}

func newCluster(ctx context.Context, views []string) (*cluster, error) {
	c := &cluster{views: views, expiry: testExpiry, account: storagetest.Start(nil)}
	c.inner = c.account.Transport()
	return c, c.create(ctx)
}

// create creates the tables and the queue.
func (c *cluster) create(ctx context.Context) error {
	service, err := (&harness.Process{Inner: c.inner}).Tables(false, 0)
	if err != nil {
		return err
	}
	c.queue, c.own, c.other = &harness.OutboxQueue{}, service.NewClient("hires"), service.NewClient("other")
	_, err1 := c.own.CreateTable(ctx, nil)
	_, err2 := c.other.CreateTable(ctx, nil)
	return errors.Join(err1, err2)
}

const (
	workerHides = 30 * time.Second // a message that it handles
	testGrace   = time.Minute
	testExpiry  = 12 * time.Hour
)

// version is a version of a program: the views of its Store.
type version struct{ views, building, retired []string }

// process is a program with a Store of its own. At any request it can be killed: none of
// its later requests is sent.
type process struct {
	*patterns.Store[hire]
	*harness.Process // if nil, the process is reliable but for the fields below
	inner            policy.Transporter
	queue            *harness.OutboxQueue
	version          // of the program; without views it has those of the cluster

	mu    sync.Mutex
	steps int   // requests so far, to tables and the queue
	die   int   // the step at which the process is killed, 0 for never
	after bool  // it is killed after that step, else before
	lost  int   // the step whose reply is lost, 0 for none
	tries int   // StoreOptions.Tries
	guard bool  // StoreOptions.GuardInserts
	now   bool  // StoreOptions.Follow is Immediately, also if that of the cluster is Later
	again int32 // retries of the SDK, 0 for one

	parallel int           // StoreOptions.Parallel
	takes    time.Duration // by each request

	finisher *patterns.Finisher // StoreOptions.Finisher
	uneven   bool               // takes is a mean

	changed     func()                         // is called after each transaction that was sent
	sending     func(method, path string)      // is called before each request
	loseRequest func(method, path string) bool // reports whether a request is lost
	loseReply   func(method, path string) bool // reports whether the reply to a request is lost
}

func (c *cluster) start(pr *process) (*process, error) {
	pr.inner, pr.queue = c.inner, c.queue
	if pr.views == nil {
		pr.views = c.views
	}
	if pr.Process == nil {
		pr.Process = &harness.Process{Decide: pr.decide}
	}
	pr.Inner = harness.Transport(pr.send)
	service, err := pr.Tables(!c.plain, cmp.Or(pr.again, 1))
	if err != nil {
		return nil, err
	}
	opts := patterns.StoreOptions[hire]{
		Views: someViews(service.NewClient("other"), pr.views), Outbox: processQueue{pr}, Grace: testGrace, Expiry: c.expiry, Tries: pr.tries, GuardInserts: pr.guard || c.guard,
		Parallel: pr.parallel, Follow: c.follow, Finisher: pr.finisher,
		Building: pr.building, Retired: pr.retired,
	}
	if pr.now {
		opts.Follow = patterns.Immediately
	}
	pr.Store, err = openHires(service.NewClient("hires"), c.stamped, opts)
	return pr, err
}

// decide decides the fate of the requests of a process with scripted faults.
func (p *process) decide(string, string) (f harness.Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps++
	f.Before = p.takes
	if p.uneven {
		f.Before += time.Duration(rand.Int64N(int64(p.takes))) - p.takes/2
	}
	f.Dies = p.steps == p.die
	switch {
	case f.Dies && !p.after:
		f.What = harness.RequestLost
	case f.Dies || p.steps == p.lost:
		f.What = harness.ReplyLost
	}
	return f
}

// requests is how many requests the process has sent, also while a Finisher may send some.
func (p *process) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.steps
}

// send calls the functions of the test and carries a request out.
func (p *process) send(req *http.Request) (*http.Response, error) {
	if p.sending != nil {
		p.sending(req.Method, req.URL.Path)
	}
	if p.loseRequest != nil && p.loseRequest(req.Method, req.URL.Path) {
		return nil, harness.ErrLost
	}
	res, err := p.inner.Do(req)
	if p.changed != nil && strings.HasSuffix(req.URL.Path, "$batch") {
		p.changed()
	}
	if p.loseReply != nil && p.loseReply(req.Method, req.URL.Path) {
		return nil, harness.ErrLost
	}
	return res, err
}

// replyIsLost reports whether the reply of step lost has been lost.
func (p *process) replyIsLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost != 0 && p.steps > p.lost
}

// processQueue is the queue of a process, whose requests are steps.
type processQueue struct{ p *process }

// errRefused is the error of a request to the queue that was answered with a status.
var errRefused = errors.New("refused by the queue")

func refused(status int) error { return fmt.Errorf("%w: status %d", errRefused, status) }

func (q processQueue) Put(ctx context.Context, w patterns.OutboxMessage, after time.Duration) (r patterns.Receipt, err error) {
	err = q.p.Step(ctx, "POST", "/queue", func(answered bool) error {
		receipt, err := q.p.queue.Put(ctx, w, after)
		if answered {
			r = receipt
		}
		return err
	}, refused)
	return r, err
}

func (q processQueue) Delete(ctx context.Context, r patterns.Receipt) error {
	return q.p.Step(ctx, "DELETE", "/queue", func(bool) error { return q.p.queue.Delete(ctx, r) }, refused)
}

// recover runs a worker until the queue is empty, and lets time pass.
func (c *cluster) recover(ctx context.Context) error { return c.recoverAs(ctx, version{}) }

func (c *cluster) recoverAs(ctx context.Context, v version) error {
	w, err := c.start(&process{version: v})
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
	if err := errors.Join(verify(ctx, c.own, c.other, c.views, nil), c.checkLookups(ctx, true)); err != nil {
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
	views := slices.DeleteFunc(slices.Clone(c.views), func(view string) bool { return view != unmarked && !slices.Contains(viewsHere, view) })
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
