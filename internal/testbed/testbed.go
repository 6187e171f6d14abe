// Package testbed runs one test body on every account and in every mode that the library promises to work on: the
// in-process account of storagetest and a real Azurite, each with a plain aztables client and with an accelerated one.
//
//	func TestX(t *testing.T) {
//		testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
//			table, err := patterns.NewTable[Employee](b.Table(t), nil)
//			…
//			b.Fault(fault.On("Table.Insert").Nth(1).LoseReply())
//			b.ResetRequests()
//			…
//			if n := b.Requests().Count("Table.*"); n != 2 { … }
//		})
//	}
package testbed

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Run runs body as the subtests storagetest/plain, storagetest/accelerated, azurite/plain and azurite/accelerated. The
// azurite ones are skipped, with the reason, where Azurite is not available; see azurite.Variable.
func Run(t *testing.T, body func(t *testing.T, b *Backend)) {
	t.Helper()
	RunInProcess(t, body)
	t.Run("azurite", func(t *testing.T) {
		a := azurite.Shared(t)
		inModes(t, body, func(*testing.T) *Backend { return onAzurite(a) })
	})
}

// RunInProcess runs body on storagetest only, in both modes: for what Azurite cannot do, and for virtual time.
func RunInProcess(t *testing.T, body func(t *testing.T, b *Backend)) {
	t.Helper()
	t.Run("storagetest", func(t *testing.T) {
		inModes(t, body, func(t *testing.T) *Backend { return onAccount(storagetest.New(t)) })
	})
}

func inModes(t *testing.T, body func(*testing.T, *Backend), open func(*testing.T) *Backend) {
	t.Helper()
	for _, mode := range []string{"plain", "accelerated"} {
		t.Run(mode, func(t *testing.T) {
			b := open(t)
			b.Name, b.t = t.Name(), t
			b.Accelerated = mode == "accelerated"
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the requests, retries included:\n%v", b.Requests())
				}
			})
			body(t, b)
		})
	}
}

func onAccount(account *storagetest.Account) *Backend {
	script := account.Transport().(*fault.Transport)
	return &Backend{
		Account:    account,
		connection: account.ConnectionString(),
		script:     script,
		direct:     fault.Wrap(script.Inner(), nil),
	}
}

func onAzurite(a *azurite.Azurite) *Backend {
	return &Backend{
		connection: a.ConnectionString(),
		script: fault.Wrap(loopback, &fault.Options{Services: map[string]op.Service{
			host(a.TableURL()): op.Table,
			host(a.QueueURL()): op.Queue,
			host(a.BlobURL()):  op.Blob,
		}}),
		direct: loopback,
	}
}

// host is the host and port of an http URL.
func host(address string) string {
	rest := strings.TrimPrefix(address, "http://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// Backend is one account in one mode. What the clients that it makes send passes its fault script and its request log,
// both empty at first; what it does itself, such as creating tables, passes neither.
//
// The other subtests use the same Azurite: count and change only what the test has made itself.
type Backend struct {
	// Name is the subtest's.
	Name string
	// Accelerated tells that the table clients have the accelerating policy.
	Accelerated bool
	// Account is the in-process account, for its own switches. Nil on Azurite.
	Account *storagetest.Account

	t          testing.TB
	connection string
	script     *fault.Transport
	direct     policy.Transporter // around the script
}

// InProcess tells that the account is storagetest's: strict where Azurite is not, and usable in virtual time.
func (b *Backend) InProcess() bool { return b.Account != nil }

// Fault adds rules to the fault script. They count requests from now on. A rule that can
// never act fails the test.
func (b *Backend) Fault(rules ...fault.Rule) {
	b.t.Helper()
	if err := b.script.Fault(rules...); err != nil {
		b.t.Error(err)
	}
}

// ClearFaults removes all rules.
func (b *Backend) ClearFaults() { b.script.Clear() }

// Requests returns what was sent so far, retries of the SDK included, in order.
func (b *Backend) Requests() fault.Log { return b.script.Log() }

// ResetRequests empties the log, so that what follows can be counted.
func (b *Backend) ResetRequests() { b.script.ResetLog() }

// loopback is the one HTTP client of all tests on Azurite, so that connections are used again.
var loopback = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}}

// options sends through transport, and repeats a failed try as often as by default, but at once.
func options(transport policy.Transporter) azcore.ClientOptions {
	return azcore.ClientOptions{
		Transport: transport,
		Retry:     policy.RetryOptions{RetryDelay: time.Millisecond, MaxRetryDelay: 2 * time.Millisecond},
	}
}
