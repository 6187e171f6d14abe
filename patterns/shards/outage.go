package shards

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// The first account has the directory, and each other one a copy, for processes that cannot reach the
// first. A run writes its move into all copies before it publishes it, and the new directory after
// the end. So a copy without a move is the directory at the time when it is read, and a process may
// use it as long: before a partition cannot be written, the run waits until the longest lease has ended
// that began before.
//
// A run that dies after its last version leaves copies with a move. They are of no use, until the next
// run ends.

// brief returns a context for a request that another account can answer.
func (s *Shards) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	if len(s.initial) == 1 {
		return ctx, func() {}
	}
	return context.WithTimeout(policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1}), max(s.lease/16, time.Second))
}

// copyOf returns the table with the copy of an account, and its key.
func (s *Shards) copyOf(account string) (*patterns.Table[entry], keys.Key, error) {
	t, err := s.copies.of(account)
	return t, keys.Key{Partition: s.table, Row: directoryRow + " " + keys.Escape(account)}, err
}

// eachCopy calls f with the copies of the accounts of d.
func (s *Shards) eachCopy(d layout, f func(*patterns.Table[entry], keys.Key) error) error {
	for _, a := range d.members() {
		t, key, err := s.copyOf(a.Name)
		if err == nil && a.Name != s.initial[0].Name {
			err = f(t, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readCopies returns the first copy that can be read. cause is why the directory could not. nil:
// there is no copy, or something moves.
func (s *Shards) readCopies(ctx context.Context, cause error) *seen {
	for _, a := range s.initial[1:] {
		t, key, err := s.copyOf(a.Name)
		if err != nil {
			continue
		}
		try, cancel := s.brief(ctx)
		asked := time.Now()
		item, err := t.Get(try, key)
		cancel()
		d, known := item.Value.Directory, s.seen.Load()
		if err == nil && d.valid() && d.Move == nil && (known == nil || known.Version <= d.Version) {
			return &seen{layout: d, asked: asked, away: cause}
		}
	}
	return nil
}

// createCopies stores the copies that do not exist, unless something moves.
func (s *Shards) createCopies(ctx context.Context) error {
	d, err := s.fresh(ctx)
	if err != nil || d.Move != nil || d.away != nil {
		return err
	}
	return s.eachCopy(d.layout, func(t *patterns.Table[entry], key keys.Key) error {
		err := t.Create(ctx)
		if err == nil {
			_, err = t.Insert(ctx, &entry{key.Partition, key.Row, d.layout})
		}
		if errors.Is(err, patterns.ErrExists) {
			return nil
		}
		return err
	})
}

// mark stores d, which has a move, in all copies, so that none is used.
func (m *run) mark(ctx context.Context, d layout) (marked map[keys.Key]patterns.Item[entry], err error) {
	marked = map[keys.Key]patterns.Item[entry]{}
	return marked, m.eachCopy(d, func(t *patterns.Table[entry], key keys.Key) error {
		err := t.Create(ctx)
		if err == nil {
			marked[key], err = t.Upsert(ctx, &entry{key.Partition, key.Row, d}, patterns.Replace)
		}
		return err
	})
}

// unmark stores the directory in the copies that m has marked, unless another run has marked them
// since. A copy that cannot be stored stays without use.
func (m *run) unmark(ctx context.Context, d layout, marked map[keys.Key]patterns.Item[entry]) {
	_ = m.eachCopy(d, func(t *patterns.Table[entry], key keys.Key) error {
		item := marked[key]
		item.Value.Directory = d
		_, _ = t.Replace(ctx, item)
		return nil
	})
}
