package shards_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// separate is n storage accounts, of which a process can lose the first.
type separate struct {
	stored []*storagetest.Account
	away   atomic.Bool // requests to the first account fail
	hangs  atomic.Bool // and only after their context has ended
}

func newSeparate(n int) *separate {
	s := &separate{}
	for range n {
		s.stored = append(s.stored, storagetest.Start(nil))
	}
	return s
}

// accounts returns the accounts as the process that loses the first, or another one, has them.
func (s *separate) accounts(loses bool) (list []shards.Account) {
	for i, a := range s.stored {
		opts := harness.Accelerated()
		if inner := a.Transport(); i == 0 && loses {
			opts.Transport = harness.Transport(func(req *http.Request) (*http.Response, error) {
				if s.away.Load() {
					if s.hangs.Load() {
						<-req.Context().Done()
					}
					return nil, errors.New("no connection")
				}
				return inner.Do(req)
			})
		}
		list = append(list, shards.Account{Name: fmt.Sprint("account", i), Tables: a.TablesWith(opts)})
	}
	return list
}

// TestHealthyAccountsAreUsedWhileTheFirstIsDown reads and writes for ten minutes, in a process that
// knows the directory, and in one that has just begun.
func TestHealthyAccountsAreUsedWhileTheFirstIsDown(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newSeparate(3)
			s, table := create(t, w.accounts(true), nil)
			all := fill(t, table, 12, 1)
			owner := map[string]string{}
			for _, key := range all {
				owner[key.Partition] = assert.Must(s.Account(t.Context(), key.Partition))(t).Name
			}
			w.hangs.Store(hangs)
			w.away.Store(true)
			other := assert.Must(shards.NewTable[doc](assert.Must(shards.New(w.accounts(true), "docs", nil))(t), nil))(t)
			var longest time.Duration
			for began := time.Now(); time.Since(began) < 10*time.Minute; time.Sleep(5 * time.Second) {
				for _, key := range all {
					for _, table := range []*shards.Table[doc]{table, other} {
						if owner[key.Partition] == "account0" {
							continue
						}
						began := time.Now()
						_, err := table.Get(t.Context(), key)
						if err == nil {
							_, err = table.Update(t.Context(), key, func(d *doc) error { d.B += "x"; return nil })
						}
						if longest = max(longest, time.Since(began)); err != nil {
							t.Fatalf("after %v: %v", time.Since(began), err)
						}
					}
				}
			}
			t.Logf("the longest read and write took %v", longest)
			if longest > 5*time.Second {
				t.Error("too long")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Add(ctx, shards.Account{Name: "more", Tables: w.stored[1].Tables(), Table: "more"}, nil); err == nil {
				t.Error("an account was added without the directory")
			}
			w.away.Store(false)
			assert.NoError(t, s.Add(t.Context(), shards.Account{Name: "more", Tables: w.stored[1].Tables(), Table: "more"}, nil))
			assert.EqualSlices(t, keysOf(assert.All(t, table.Query(t.Context(), query.Filter{}, everything))), all)
		})
	}
}

// A process that cannot reach the first account reads while another one moves partitions. It never
// misses a row and reads no version that was replaced: its reads fail while partitions move, and then
// use their new accounts.
func TestAProcessWithoutTheFirstAccountReadsNothingOutdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSeparate(4)
		_, table := create(t, w.accounts(true)[:3], nil)
		lone := assert.Must(shards.NewTable[doc](assert.Must(shards.New(w.accounts(true), "docs", nil))(t), nil))(t)
		whole := w.accounts(false)
		s := assert.Must(shards.New(whole, "docs", nil))(t)
		writer := assert.Must(shards.NewTable[doc](s, nil))(t)
		all := fill(t, table, 12, 1)
		for _, key := range all {
			assert.Must(lone.Get(t.Context(), key))(t)
		}
		w.away.Store(true)
		moved := make(chan error, 1)
		whole[3].Weight = 5
		go func() { moved <- s.Add(t.Context(), whole[3], &shards.MoveOptions{Rows: 2}) }()
		answers, failures, after := 0, 0, 0
		written := map[keys.Key]string{}
		for round := 0; after < 3; round++ {
			for _, key := range all {
				if assert.Must(s.Account(t.Context(), key.Partition))(t).Name == "account0" {
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				item, err := lone.Get(ctx, key)
				cancel()
				switch {
				case errors.Is(err, patterns.ErrNotFound):
					t.Fatalf("%v was not found", key)
				case err != nil:
					failures++
				case item.Value.B != written[key]:
					t.Fatalf("%v has %q, want %q", key, item.Value.B, written[key])
				default:
					answers++
				}
				value := fmt.Sprint(round)
				assert.Must(writer.Update(t.Context(), key, func(d *doc) error { d.B = value; return nil }))(t)
				written[key] = value
			}
			select {
			case err := <-moved:
				assert.NoError(t, err)
				moved <- nil
				after++
				time.Sleep(time.Minute)
			default:
				time.Sleep(time.Second)
			}
		}
		t.Logf("%d reads were answered, %d failed", answers, failures)
		if answers < 36 || failures == 0 {
			t.Error("too few answers, or no failure")
		}
	})
}
