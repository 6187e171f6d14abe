package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// process is a running service.
type process struct {
	*service
	stop  context.CancelFunc
	ended chan error
}

func start(t *testing.T, name string, acct *storagetest.Account) *process {
	s := assert.Must(newService(name, time.Second, acct.Tables()))(t)
	assert.NoError(t, s.create(t.Context()))
	ctx, stop := context.WithCancel(t.Context())
	p := &process{s, stop, make(chan error, 1)}
	go func() { p.ended <- s.run(ctx) }()
	return p
}

func (p *process) end() error {
	p.stop()
	return <-p.ended
}

func (p *process) report(t *testing.T) Report {
	t.Helper()
	return assert.Must(p.reports.Get(t.Context(), report))(t).Value
}

func TestOneProcessWorksAndAnotherOneGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		first := start(t, "first", acct)
		time.Sleep(5 * time.Second)
		second := start(t, "second", acct)
		time.Sleep(2 * time.Minute)
		r := second.report(t)
		if r.Leader != "first" || r.Fence != 1 || r.Runs < 110 || r.Runs > 127 {
			t.Errorf("after two minutes: %+v", r)
		}

		// The leader ends in an orderly way: the lease is released.
		if err := first.end(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(16 * time.Second) // a poll of the other one, and its first run
		if r := second.report(t); r.Leader != "second" || r.Fence != 2 {
			t.Errorf("after the end of the leader: %+v", r)
		}
		if err := second.end(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestALeaderThatIsCutOffIsReplacedAndWritesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		first := start(t, "first", acct)
		time.Sleep(5 * time.Second)
		second := start(t, "second", acct)
		time.Sleep(5 * time.Second)
		before := second.report(t)

		// What the first leader sends from now on gets lost for 46 seconds: so long is the lease without an owner at most.
		acct.Fault(storagetest.On("Table.Replace").Times(storagetest.Forever).LoseRequest())
		time.Sleep(46 * time.Second)
		acct.ClearFaults()
		time.Sleep(time.Minute)
		after := second.report(t)
		if after.Fence <= before.Fence || after.Runs <= before.Runs {
			t.Errorf("before %+v, after %+v", before, after)
		}

		// A request of an earlier leader that was paused.
		if err := first.work(t.Context(), before.Fence); !errors.Is(err, eventual.ErrLeaseLost) {
			t.Errorf("got %v", err)
		}
		_, _ = first.end(), second.end()
	})
}
