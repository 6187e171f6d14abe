package shards

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// Account is one storage account that holds a share of the partitions.
type Account struct {
	// Name identifies the account in the directory and in the hash of each partition. It must
	// never change, and need not be the name that the service knows.
	Name string

	// Weight is the share of the partitions relative to those of the other accounts. Zero
	// means 1. It takes effect in [Shards.Create] and [Shards.Add] only: afterwards the
	// directory decides.
	Weight float64

	// Tables is the table service of the account.
	Tables *aztables.ServiceClient

	// Table is the name of the table in this account. Empty means the name passed to [New].
	Table string

	// Queues and Blobs are for callers of [Shards.Account]. They may be nil.
	Queues *azqueue.ServiceClient
	Blobs  *service.Client
}

// Options are the options of [New]. nil and the zero value select the defaults.
type Options struct {
	// Directory is the name of the table in the first account that contains the directory.
	// Empty means "azpshards".
	Directory string

	// Lease is how long a process uses the directory that it has read while no partition
	// moves. [Shards.Create] stores it, so that it is the same in all processes. Zero means
	// 30 seconds, the maximum is 7 days. A process that is in use reads the directory every half of it. The first
	// partition that moves can move after this time.
	Lease time.Duration
}

const (
	defaultDirectory = "azpshards"
	defaultLease     = 30 * time.Second
)

// Shards is one logical table in several accounts. It is safe for concurrent use; it starts
// no goroutine that outlives a call, and needs no closing.
type Shards struct {
	table   string
	lease   time.Duration
	home    *patterns.Table[entry]
	initial []Account

	accounts sync.Map // name to Account
	rows     perAccount[*patterns.Table[patterns.Row]]
	copies   perAccount[*patterns.Table[entry]] // of the directory
	seen     atomic.Pointer[seen]
	begun    atomic.Int64  // requests that read the directory
	reading  chan struct{} // has a value while one of them is made
}

// New returns the logical table of this name. It makes no request.
//
// All processes must pass the same first account, which contains the directory. The others
// may come in any order. They may include accounts that [Shards.Add] has not added yet; these
// are not used. A process that lacks an account of the directory fails with
// [ErrUnknownAccount] when it needs it, so let all processes know an account before it is
// added.
func New(accounts []Account, table string, opts *Options) (*Shards, error) {
	o := *cmp.Or(opts, &Options{})
	s := &Shards{table: table, reading: make(chan struct{}, 1)}
	err := azerr.Default(&o.Lease, defaultLease, "Lease")
	switch s.lease = o.Lease; {
	case err != nil:
	case table == "" || len(accounts) == 0:
		err = azerr.Errorf("%w: no table name, or no accounts", azerr.ErrBadOption)
	case o.Lease > maxLease:
		err = azerr.Errorf("%w: Options.Lease: more than 7 days", azerr.ErrBadOption)
	}
	if err != nil {
		return nil, during("new shards", err)
	}
	for i := range accounts {
		a, err := s.complete(accounts[i])
		if _, twice := s.accounts.LoadOrStore(a.Name, a); twice && err == nil {
			err = azerr.Errorf("%w: its name is not unique", azerr.ErrBadOption)
		}
		if err != nil {
			return nil, fmt.Errorf("new shards: account %d: %w", i, err)
		}
		s.initial = append(s.initial, a)
	}
	s.rows.shards, s.copies.shards, s.copies.table = s, s, cmp.Or(o.Directory, defaultDirectory)
	s.rows.open = func(c *aztables.Client) (*patterns.Table[patterns.Row], error) {
		return patterns.NewTable[patterns.Row](c, nil)
	}
	s.copies.open = func(c *aztables.Client) (*patterns.Table[entry], error) {
		return patterns.NewTable(c, &patterns.TableOptions[entry]{StampWrites: true})
	}
	s.home, err = s.copies.of(s.initial[0].Name)
	return s, during("new shards", err)
}

// complete returns a with its defaults.
func (s *Shards) complete(a Account) (Account, error) {
	a.Weight, a.Table = cmp.Or(a.Weight, 1), cmp.Or(a.Table, s.table)
	switch {
	case a.Tables == nil:
		return a, fmt.Errorf("client of the table service: %w", patterns.ErrNil)
	case a.Name == "", !(a.Weight > 0 && a.Weight <= maxWeight):
		return a, azerr.Errorf("%w: no name, or a weight that is negative, not finite or more than %g", azerr.ErrBadOption, float64(maxWeight))
	}
	return a, nil
}

// Create creates the table in every account passed to [New], and the directory with these
// accounts and their weights. What exists already is not an error and stays as it is: a
// directory does not change. Three requests for each account.
func (s *Shards) Create(ctx context.Context) error {
	d := layout{Lease: s.lease, Idle: s.lease}
	for _, a := range s.initial {
		if err := cmp.Or(s.createTable(ctx, a.Name), d.Config.set(a)); err != nil {
			return during("create shards", err)
		}
	}
	err := s.home.Create(ctx)
	if err == nil {
		err = s.createDirectory(ctx, d)
	}
	if err == nil {
		err = s.createCopies(ctx)
	}
	return during("create shards: directory", err)
}

// createTable creates the table in a known account.
func (s *Shards) createTable(ctx context.Context, name string) error {
	t, err := s.rows.of(name)
	if err != nil {
		return err
	}
	return t.Create(ctx)
}

// Account returns the account that owns the partition now, for a queue or a container whose
// name the caller knows. Messages and blobs do not move with the partition: receive from the
// queues of all accounts, and store the name of the account together with that of a blob. At
// most one request, and two while the partition moves.
func (s *Shards) Account(ctx context.Context, partition string) (a Account, err error) {
	err = s.read(ctx, partition, func(owner string) error {
		a, err = s.account(owner)
		return err
	})
	return a, err
}

// account returns the account of this name.
func (s *Shards) account(name string) (Account, error) {
	if a, ok := s.accounts.Load(name); ok {
		return a.(Account), nil
	}
	return Account{}, ErrUnknownAccount
}

// perAccount makes one V for the table of each account, when it is needed first.
type perAccount[V any] struct {
	shards *Shards
	table  string // empty: that of the account
	open   func(*aztables.Client) (V, error)
	made   sync.Map // account name to V
}

func (p *perAccount[V]) of(account string) (v V, err error) {
	if made, ok := p.made.Load(account); ok {
		return made.(V), nil
	}
	a, err := p.shards.account(account)
	if err == nil {
		v, err = p.open(a.Tables.NewClient(cmp.Or(p.table, a.Table)))
	}
	if err != nil {
		return v, err
	}
	made, _ := p.made.LoadOrStore(account, v)
	return made.(V), nil
}
