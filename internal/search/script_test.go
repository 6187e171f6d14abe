package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/search"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

const (
	grace  = time.Hour
	expiry = 12 * time.Hour
)

// script is a case of a Store: what is stored before, what each client does, and how many messages a worker handles meanwhile.
type script struct {
	name     string
	views    []string
	before   []op
	clients  [][]op
	messages int

	long      bool  // the gate does not search it with faults
	late      bool  // a request may arrive late
	pauses    bool  // a process is paused, and may leave something to a sweep
	retries   int32 // of the SDK
	parallel  int   // requests of an operation in flight; 1 if it is 0
	follow    patterns.Follow
	finishers int // how many clients have a Finisher and close it at the end, -1 for all but the first
}

// op is an operation of a client.
type op func(context.Context, *actor) error

// actor is a process with a Store.
type actor struct {
	*search.Client
	store   *patterns.Store[thing]
	history *harness.History
	remote  bool

	finisher *patterns.Finisher // nil for none

	ended, met, crashed bool // of a client: its operations have ended, a worker has handled a message before, it has crashed
}

func (s *script) actor(c *search.Client, h *harness.History) (*actor, error) {
	return s.open(c, h, nil)
}

func (s *script) open(c *search.Client, h *harness.History, f *patterns.Finisher) (*actor, error) {
	table, err := patterns.NewTable(c.Tables(s.retries).NewClient(search.TableName), &patterns.TableOptions[thing]{
		Key: func(t *thing) (keys.Key, error) { return t.key(), nil },
	})
	if err != nil {
		return nil, err
	}
	opts := &patterns.StoreOptions[thing]{Outbox: c.Outbox(), Grace: grace, Expiry: expiry, Parallel: max(s.parallel, 1), Follow: s.follow, Finisher: f}
	for _, name := range s.views {
		opts.Views = append(opts.Views, views[name])
	}
	store, err := patterns.NewStore(table, opts)
	remote := slices.ContainsFunc(s.views, func(v string) bool {
		return !slices.Contains([]string{"email", "place", "tag", "ends", "history", "fed"}, v)
	})
	return &actor{Client: c, store: store, history: h, remote: remote, finisher: f}, err
}

// start is [search.Case.Start].
func (s *script) start(ctx context.Context, w *search.World) (*search.System, error) {
	history := &harness.History{}
	sys := &search.System{Always: func(rows []search.Row) error { return checkAlways(readContents(rows), s.views) }}
	first, err := s.actor(w.Reliable("before"), history)
	if err != nil {
		return nil, err
	}
	for _, do := range s.before {
		if err := do(first.within(ctx), first); err != nil {
			return nil, err
		}
	}
	var unexpected error
	var clients []*actor
	for i, ops := range s.clients {
		client := w.Client(string(rune('A' + i)))
		var f *patterns.Finisher
		if client.Keeps = i < s.finishers || s.finishers < 0 && i > 0; client.Keeps {
			f, err = patterns.NewFinisher(nil)
		}
		if err != nil {
			return nil, err
		}
		a, err := s.open(client, history, f)
		if err != nil {
			return nil, err
		}
		clients = append(clients, a)
		sys.Processes = append(sys.Processes, search.Process{Client: a.Client, Run: func(ctx context.Context) {
			defer func() { a.ended, a.crashed = true, a.Dead() }()
			for _, do := range ops {
				if err := do(a.within(ctx), a); err != nil && !expected(err) && !a.Dead() {
					unexpected = fmt.Errorf("%w: client %s: %w", errUnexpected, a.Name, err)
				}
			}
			if f != nil {
				_ = f.Close(ctx)
			}
		}})
	}
	if s.messages > 0 {
		worker, err := s.actor(w.Client("worker"), history)
		if err != nil {
			return nil, err
		}
		sys.Processes = append(sys.Processes, search.Process{Client: worker.Client, Run: func(ctx context.Context) {
			for range s.messages {
				handle := func(ctx context.Context, m patterns.OutboxMessage) (time.Duration, error) {
					for _, a := range clients {
						a.met = a.met || !a.ended
					}
					return worker.handle(ctx, m)
				}
				if err := worker.Receive(worker.within(ctx), handle); err != nil && !expected(err) && !worker.Dead() {
					unexpected = fmt.Errorf("%w: the worker: %w", errUnexpected, err)
				}
				worker.End("message")
			}
		}})
	}
	sys.Finish = func(ctx context.Context) error {
		last, err := s.actor(w.Reliable("last"), history)
		if err != nil {
			return err
		}
		// What a client wrote while a worker brought the rows up to date, and did not correct, because it crashed, is corrected after Expiry.
		wrote := slices.ContainsFunc(clients, func(a *actor) bool { return a.met && a.crashed })
		return errors.Join(unexpected, s.finish(ctx, w, last, wrote))
	}
	return sys, nil
}

// finish completes what is left, as workers and, later, a sweep do, and checks all that the case promises.
func (s *script) finish(ctx context.Context, w *search.World, last *actor, wrote bool) error {
	if s.follow != later && !s.late && !s.pauses { // otherwise a message may be young, or a late write be corrected after Expiry
		if err := w.Queue.HandleAll(last.within(ctx), last.handle); err != nil {
			return fmt.Errorf("%w: the first delivery: %w", errUnexpected, err)
		}
		if err := s.complete(ctx, w); err != nil && !(wrote && errors.Is(err, errDerived)) {
			return fmt.Errorf("after the first delivery: %w", err)
		}
	}
	if err := recover(ctx, w, last); err != nil {
		return err
	}
	if err := s.complete(ctx, w); err != nil {
		return err
	}
	time.Sleep(2 * expiry)
	if report, err := last.store.Sweep(ctx, nil); err != nil || report.Failed > 0 {
		return fmt.Errorf("%w: sweep: %w, %v", errUnexpected, err, report.Failures)
	}
	if err := recover(ctx, w, last); err != nil {
		return err
	}
	return s.clean(ctx, w, last)
}

// complete checks that no operation is incomplete, and all derived rows.
func (s *script) complete(ctx context.Context, w *search.World) error {
	rows, err := w.Rows(ctx)
	if err != nil {
		return err
	}
	c := readContents(rows)
	want := implied(c.things, s.views)
	for key, text := range c.derived {
		var row search.Row
		_ = json.Unmarshal([]byte(text), &row) // was made so
		switch op := row.Text("azp_op"); {
		case op == "":
		case want[key] != "", row.Text("azp_state") != "reserved", w.Queue.Named(op) && !s.pauses:
			return fmt.Errorf("%w: %s is %s", errReserved, key, text)
		default: // the process crashed before it put the message: readers ignore the row, and a sweep removes it
			delete(c.derived, key)
		}
	}
	if c.pending {
		return fmt.Errorf("%w: %s", errPending, c.records)
	}
	return compare(errDerived, c.derived, want)
}

// clean checks the rows when no operation has anything left to do.
func (s *script) clean(ctx context.Context, w *search.World, last *actor) error {
	rows, err := w.Rows(ctx)
	if err != nil {
		return err
	}
	c := readContents(rows)
	if len(c.records) > 0 {
		return fmt.Errorf("%w: %s", errLeft, c.records)
	}
	for row := range c.lookups {
		if !c.named[row] {
			return fmt.Errorf("%w: %s", errSuperfluous, row)
		}
	}
	if err := compare(errDerived, c.derived, implied(c.things, s.views)); err != nil {
		return err
	}
	if slices.Contains(s.views, "total") && c.marks != len(c.things) {
		return fmt.Errorf("%w: %d marks, %d entities", errMarks, c.marks, len(c.things))
	}
	for finding, err := range reindex.Verify(ctx, last.store, "", nil) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: %v", errVerify, finding)
	}
	if slices.Contains(s.views, "fed") {
		if err := c.checkOrder(true); err != nil {
			return err
		}
	}
	for _, id := range []string{"1", "2"} {
		_ = read(id)(ctx, last)
		if slices.Contains(s.views, "history") {
			if err := checkHistory(ctx, last, id); err != nil {
				return err
			}
		}
	}
	if err := last.history.Check(); err != nil {
		return fmt.Errorf("%w: %w", errUntrue, err)
	}
	if slices.Contains(s.views, "ends") {
		return expireAll(ctx, w, last)
	}
	return nil
}

// expireAll waits until all entities have expired, and checks that a sweep leaves nothing of them.
func expireAll(ctx context.Context, w *search.World, last *actor) error {
	time.Sleep(time.Until(hour(longest)) + time.Hour)
	for range 2 { // a row that the first one moves is young
		time.Sleep(2 * expiry)
		if report, err := ends.On(last.store).Sweep(ctx, nil); err != nil || report.Failed > 0 {
			return fmt.Errorf("%w: sweep: %w, %v", errUnexpected, err, report.Failures)
		}
	}
	rows, err := w.Rows(ctx)
	if err != nil {
		return err
	}
	c := readContents(rows)
	for _, t := range c.things {
		if t.Ends != 0 {
			return fmt.Errorf("%w: %v", errExpired, t)
		}
	}
	if len(c.ends) > 0 {
		return fmt.Errorf("%w: %v", errSuperfluous, c.ends)
	}
	return nil
}

// longest is the last hour in which an entity of a case expires.
const longest = 4000

// recover handles messages until none is left, and lets time pass.
func recover(ctx context.Context, w *search.World, last *actor) error {
	for range 100 {
		if w.Queue.Len() == 0 {
			return nil
		}
		if err := w.Queue.HandleAll(last.within(ctx), last.handle); err != nil {
			return fmt.Errorf("%w: recovery: %w", errUnexpected, err)
		}
		time.Sleep(expiry / 4)
	}
	return errNotDelivered
}

// expected reports whether an operation may fail with err, because of other clients or a fault.
func expected(err error) bool {
	for _, e := range []error{
		context.DeadlineExceeded, // after a pause
		patterns.ErrExists, patterns.ErrNotFound, patterns.ErrConflict, patterns.ErrOutcomeUnknown, harness.ErrLost, harness.ErrDead,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return err == nil || strings.Contains(err.Error(), "took longer than half of") // likewise
}
