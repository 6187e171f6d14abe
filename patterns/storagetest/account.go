package storagetest

import (
	"encoding/base64"
	"errors"
	"sync"
	"testing"

	"github.com/azpatterns/azpatterns/internal/emulator/auth"
	"github.com/azpatterns/azpatterns/internal/emulator/blob"
	"github.com/azpatterns/azpatterns/internal/emulator/queue"
	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/emulator/table"
	"github.com/azpatterns/azpatterns/internal/fault"
)

const (
	// AccountName is the name of every account, the one that the storage
	// emulators have always used.
	AccountName = "devstoreaccount1"

	// AccountKey is the shared key of every account. It is public, the same as
	// that of the storage emulators, and protects nothing.
	AccountKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Options of an account. The zero value is the account as documented, with
// nothing going wrong.
type Options struct {
	// PageRows is the most rows that a page of any query answers; 0 is the
	// service's 1,000.
	PageRows int

	// PageScan ends the page of any query after so many rows were looked at,
	// as the service does after five seconds. Pages then are short, or empty,
	// with a token. 0: never.
	PageScan int

	// PageBoundary ends the page of any query where a partition ends.
	PageBoundary bool

	// LogLimit is how many requests the log keeps, the newest; older ones are
	// dropped, down to half of it at times. 0: 20,000.
	LogLimit int

	// Seed decides what a fault of some probability decides. 0: at random, see
	// [Account.Seed].
	Seed uint64
}

// Account is one storage account in this process. It is safe for concurrent
// use.
type Account struct {
	tables *table.Service
	queues *queue.Service
	blobs  *blob.Service
	faults *fault.Transport

	mu      sync.Mutex
	servers []*Server

	arms  bool   // Arm was called
	armed int    // the last request before the crash points
	onArm func() // what Arm has to do in a run of CrashPoints
}

// New returns a fresh, empty account for a test. It needs no cleaning up. When
// the test fails, the seed of its random faults is printed, if there were any, and
// every rule that met no request: go test -v prints those of a test that passed, too.
func New(t testing.TB) *Account {
	t.Helper()
	a := Start(nil)
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Errorf("storagetest: closing the loopback server: %v", err)
		}
		if t.Failed() && a.faults.Random() {
			t.Logf("storagetest: random faults were decided by seed %d", a.Seed())
		}
		for _, r := range a.faults.Idle() {
			t.Logf("storagetest: no request met with %v", r)
		}
	})
	return a
}

// Start returns a fresh, empty account outside of a test. Nil options are the
// zero options. Nothing runs in the background, so there is nothing to stop;
// the account is gone when nobody holds it.
func Start(opts *Options) *Account {
	var o Options
	if opts != nil {
		o = *opts
	}
	a := &Account{tables: table.New(), queues: queue.New(), blobs: blob.New()}
	a.tables.SetPage(rest.Page{Rows: o.PageRows, Scan: o.PageScan, Boundary: o.PageBoundary})
	a.faults = fault.Wrap(&direct{&routes{
		verifier: &auth.Verifier{Account: AccountName, Keys: [][]byte{decodedKey()}, Policy: a.policy},
		tables:   a.tables,
		queues:   a.queues,
		blobs:    a.blobs,
		access:   a.blobs.PublicAccess,
	}}, &fault.Options{Seed: o.Seed, LogLimit: o.LogLimit})
	return a
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

// Seed is the seed of the account's random faults; give it to Options to see
// them again.
func (a *Account) Seed() uint64 { return a.faults.Seed() }

func decodedKey() []byte {
	k, err := base64.StdEncoding.DecodeString(AccountKey)
	if err != nil {
		panic("storagetest: the account key is not base64") // a constant of this package
	}
	return k
}
