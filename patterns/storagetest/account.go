package storagetest

import (
	"encoding/base64"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/fakeaccount"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

const (
	// AccountName is the name of every account, the same as in the storage emulators.
	AccountName = "devstoreaccount1"

	// AccountKey is the shared key of every account. It is the public key of the
	// storage emulators, and protects nothing.
	AccountKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Options are the options of [Start]. The zero value is the documented service, without faults.
type Options struct {
	// PageRows is the largest number of rows on a page of a query. Zero means 1,000, as
	// in the service.
	PageRows int

	// PageScan ends the page of a query after that many rows were examined, as the
	// service does after five seconds. Such a page is short or empty, with a token.
	// Zero means never, and with Production 250. A page that examines more than 10,000 rows, which the
	// service does in five seconds at the target of a partition, has a warning in the log.
	PageScan int

	// PageBoundary ends the page of a query at the end of a partition.
	PageBoundary bool

	// LogLimit is the largest number of requests in the log. When it is reached, the older
	// half is dropped. Zero means 20,000.
	LogLimit int

	// Seed determines on which requests rules with a probability act, and random delays.
	// Zero means a random seed, see [Account.Seed].
	Seed uint64

	// Strict refuses what the service may refuse, although no recording, documentation or source is known that it does.
	// Otherwise the account accepts it, and adds a warning to the entry of the log; see [Request].
	Strict bool

	// Production does what the service may do at any time, together. A page of a query ends after 250 examined rows and at the end
	// of a partition. Requests beyond the documented targets are refused, see [Account.Throttle]. There is a secondary, 15
	// seconds behind, see [Account.Replicate]. The clock of the account is two minutes ahead of that of the process or behind it, as
	// Seed determines. A change of a stored access policy takes effect after 30 seconds; until then a policy that was added or
	// changed permits nothing. The name of a deleted table is blocked for 60 seconds. A figure that the account sets itself
	// replaces that of Production: PageScan and ClockSkew if they are not zero, and those of Throttle and Replicate, of which the
	// first call copies the account as it does without Production. See also [ProductionVariable].
	Production bool

	// ClockSkew is how far the clock of the account is ahead of this process; it may be
	// negative. The header Date, Timestamp, Last-Modified, ETags, and the times of queues and
	// leases are by the clock of the account. Credentials are not: the service would refuse
	// every Shared Key request if the clocks differ by more than 15 minutes, but the account
	// verifies credentials by the clock of this process.
	ClockSkew time.Duration
}

// Account is a storage account in this process. The zero value is an empty account with
// the zero Options. It is safe for concurrent use, and must not be copied.
type Account struct {
	once   sync.Once
	core   *fakeaccount.Account
	skew   time.Duration
	faults *transport
	t      testing.TB // to report misuse; nil outside of tests

	mu      sync.Mutex
	servers []*Server

	arms  bool   // Arm was called
	armed int    // the number of the last request before the crash points
	onArm func() // called by Arm in a run of CrashPoints
}

// New returns a new, empty account for a test. It needs no cleanup. At the end of the test
// it logs the warnings, the rules that matched no request and, if the test failed, the seed of the random
// faults, if any.
func New(t testing.TB) *Account {
	t.Helper()
	a := &Account{t: t}
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Errorf("storagetest: closing the loopback server: %v", err)
		}
		if t.Failed() && a.script().Random() {
			t.Logf("storagetest: random faults were decided by seed %d", a.Seed())
		}
		for _, w := range a.script().Warnings() {
			t.Logf("storagetest: the service may refuse this: %s", w)
		}
		for _, r := range a.script().Idle() {
			t.Logf("storagetest: no request matched %v", r)
		}
	})
	return a
}

// Start returns a new, empty account for use outside of a test. nil means the zero Options.
// The account starts no goroutine and need not be closed.
func Start(opts *Options) *Account {
	a := new(Account)
	a.once.Do(func() { a.open(opts) })
	return a
}

func (a *Account) open(opts *Options) {
	var o Options
	if opts != nil {
		o = *opts
	}
	key, _ := base64.StdEncoding.DecodeString(AccountKey) // a constant
	production := o.isProduction()
	if production {
		o = o.production()
	}
	a.core = fakeaccount.New(AccountName, key, request.Page{Rows: o.PageRows, Scan: o.PageScan, Boundary: o.PageBoundary}, o.ClockSkew)
	a.core.Strict = o.Strict
	a.skew = o.ClockSkew
	a.faults = wrap(a.core, transportOptions{account: AccountName, seed: o.Seed, logLimit: o.LogLimit, clockSkew: a.skew})
	if production {
		a.beginProduction()
	}
}

// script returns the transport with the rules and the log.
func (a *Account) script() *transport {
	a.once.Do(func() { a.open(nil) })
	return a.faults
}

// restarted returns the account for the next process: with the same storage, the same late
// requests, an empty log and no rules.
func (a *Account) restarted() *Account {
	next := &Account{core: a.core, skew: a.skew, t: a.t}
	next.once.Do(func() {
		next.faults = wrap(a.script().Inner(), transportOptions{account: AccountName, seed: a.Seed(), clockSkew: a.skew})
	})
	return next
}

func (a *Account) close() error {
	a.mu.Lock()
	servers := a.servers
	a.servers = nil
	a.mu.Unlock()
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Seed returns the seed of rules with a probability. If it is set in [Options], the rules
// act on the same requests again.
func (a *Account) Seed() uint64 { return a.script().Seed() }
