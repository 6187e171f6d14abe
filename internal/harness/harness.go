// Package harness runs one test body on every account and in every mode that the library supports: the in-process account
// of storagetest and Azurite, each with a plain aztables client and with an accelerated one. It also contains the
// assertions that tests of several packages share.
//
//	func TestX(t *testing.T) {
//		harness.Run(t, func(t *testing.T, b *harness.Backend) {
//			table, err := patterns.NewTable[Employee](b.Table(t), nil)
//			…
//			b.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
//			b.ResetRequests()
//			…
//			b.WantRequests(t, map[string]int{"Table.Insert": 2})
//		})
//	}
package harness

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Run runs body as the subtests storagetest/plain, storagetest/accelerated, azurite/plain and azurite/accelerated, with -short
// as two of them. With [LiveVariable] it runs body as live/plain and live/accelerated. The azurite subtests are skipped, with the reason, if Azurite is not available; see azurite.Variable.
func Run(t *testing.T, body func(t *testing.T, b *Backend)) {
	t.Helper()
	inProcess, modes := modesOf(t)
	if l := LiveAccount(t); l != nil {
		l.run(t, modes, body)
		return
	}
	runInProcess(t, inProcess, body)
	t.Run("azurite", func(t *testing.T) {
		a := azurite.Shared(t)
		inModes(t, modes, body, func(*testing.T) *Backend { return onAzurite(a) })
	})
}

// RunInProcess runs body on storagetest only, in both modes: for behavior that Azurite lacks, and for virtual time.
func RunInProcess(t *testing.T, body func(t *testing.T, b *Backend)) {
	t.Helper()
	runInProcess(t, modesInProcess(t), body)
}

func runInProcess(t *testing.T, modes []string, body func(t *testing.T, b *Backend)) {
	t.Helper()
	t.Run("storagetest", func(t *testing.T) {
		inModes(t, modes, body, func(t *testing.T) *Backend { return onAccount(storagetest.New(t)) })
	})
}

// InSkewedTime is InVirtualTime with an account whose clock is ahead of the clock of the
// process by skew, which may be negative.
func InSkewedTime(t *testing.T, skew time.Duration, body func(t *testing.T, b *Backend)) {
	t.Helper()
	t.Run(fmt.Sprintf("storagetest ahead by %v", skew), func(t *testing.T) {
		inModes(t, modesInProcess(t), func(t *testing.T, b *Backend) {
			synctest.Test(t, func(t *testing.T) { body(t, b) })
		}, func(*testing.T) *Backend {
			return onAccount(storagetest.Start(&storagetest.Options{ClockSkew: skew}))
		})
	})
}

func inModes(t *testing.T, modes []string, body func(*testing.T, *Backend), open func(*testing.T) *Backend) {
	t.Helper()
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			b := open(t)
			b.Name, b.t = t.Name(), t
			b.Accelerated = mode == "accelerated"
			failIfHung(t, b.script.Transport().(transport).Last)
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("requests, retries included:\n%v", b.Requests())
				}
			})
			body(t, b)
		})
	}
}

// transport is what the transport of a storagetest account can do for the tests of this module.
type transport interface {
	policy.Transporter
	Inner() policy.Transporter // without rules and log
	Last() int                 // the number of the last request
	Wrap(inner policy.Transporter, services map[string]string) *storagetest.Account
}

func onAccount(account *storagetest.Account) *Backend {
	inner := Inner(account)
	return &Backend{
		Account:    account,
		connection: account.ConnectionString(),
		script:     account,
		direct:     account.Transport().(transport).Wrap(inner, nil).Transport(),
	}
}

func onAzurite(a *azurite.Azurite) *Backend {
	script := storagetest.Start(nil).Transport().(transport).Wrap(loopback, map[string]string{
		host(a.TableURL()): "Table",
		host(a.QueueURL()): "Queue",
		host(a.BlobURL()):  "Blob",
	})
	return &Backend{connection: a.ConnectionString(), script: script, direct: Inner(script)}
}

// Inner returns the transport of an account without its rules and its log. Late requests that are due arrive before its
// requests.
func Inner(account *storagetest.Account) policy.Transporter {
	return account.Transport().(transport).Inner()
}

// host is the host and port of an http URL.
func host(address string) string {
	rest := strings.TrimPrefix(address, "http://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// Backend is one account in one mode. Requests of the clients that it returns are subject to its fault rules and recorded
// in its request log, both empty at first. Requests of its own, such as those that create tables, are neither.
//
// All tests share one Azurite: count and change only what the test itself has created.
type Backend struct {
	// Name is the name of the subtest.
	Name string
	// Accelerated reports whether the table clients have the accelerating policy.
	Accelerated bool
	// Account is the in-process account, nil on Azurite.
	Account *storagetest.Account
	// Configure changes the options of the clients that are made from then on. nil changes nothing.
	Configure func(*azcore.ClientOptions)

	t          testing.TB
	connection string
	live       *Live // in place of connection
	script     *storagetest.Account
	direct     policy.Transporter // around the script
}

// InProcess reports whether the account is that of storagetest, which is stricter than Azurite and works in virtual time.
func (b *Backend) InProcess() bool { return b.Account != nil }

// Fault adds fault rules. They count requests from now on. A rule that can never act fails the test.
func (b *Backend) Fault(rules ...storagetest.Rule) {
	b.t.Helper()
	if err := b.script.Fault(rules...); err != nil {
		b.t.Error(err)
	}
}

// Arrive carries out every late request that is pending, and returns how many these were. See storagetest.Rule.LateRequest.
func (b *Backend) Arrive() int { return b.script.Arrive() }

// ClearFaults removes all fault rules.
func (b *Backend) ClearFaults() { b.script.ClearFaults() }

// Requests returns the requests so far, retries of the SDK included, in order.
func (b *Backend) Requests() storagetest.Log { return b.script.Log() }

// ResetRequests empties the request log.
func (b *Backend) ResetRequests() { b.script.ResetLog() }

// loopback is the HTTP client of all tests on Azurite, so that connections are reused.
var loopback = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}}

// patient waits after a refusal by the targets of production, for which the delay of other retries is too short.
type patient struct{ policy.Transporter }

func (p patient) Do(req *http.Request) (*http.Response, error) {
	res, err := p.Transporter.Do(req)
	if err == nil && res.StatusCode == http.StatusServiceUnavailable {
		select {
		case <-time.After(time.Second):
		case <-req.Context().Done():
		}
	}
	return res, err
}

// WithoutTargets lets account, if it is not nil, accept any number of requests per second. For tests in virtual time: their requests
// take no time, so that programs exceed every target, however long a program waits after a refusal.
func WithoutTargets(account *storagetest.Account) {
	if account != nil {
		account.Throttle(&storagetest.Targets{Partition: -1, Queue: -1, Account: -1})
	}
}

// options returns client options that send through transport and retry as often as by default, but without delay.
func (b *Backend) options(transport policy.Transporter) azcore.ClientOptions {
	if os.Getenv(storagetest.ProductionVariable) != "" {
		transport = patient{transport}
	}
	o := azcore.ClientOptions{Transport: transport}
	o.Retry = policy.RetryOptions{RetryDelay: time.Millisecond, MaxRetryDelay: 2 * time.Millisecond}
	if b.Configure != nil {
		b.Configure(&o)
	}
	return o
}
