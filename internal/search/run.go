package search

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
)

// run is one run of a case, in virtual time.
type run struct {
	*World
	ctx     context.Context
	c       *Case
	sys     *System
	running sync.WaitGroup
	steps   []string // that were made, if kept
	keep    bool

	used  [resume + 1]int // how often a kind was chosen
	held  *option         // the delayed request
	last  string          // the process that was chosen last
	quiet bool            // no choice is possible any more
}

// step is a second more than any pause before a retry.
const step = 2 * time.Second

func startRun(ctx context.Context, c *Case) (*run, error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	r := &run{World: w, ctx: ctx, c: c}
	if r.sys, err = c.Start(ctx, w); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if err := w.observe(ctx); err != nil {
		return nil, err
	}
	for _, p := range r.sys.Processes {
		r.running.Go(func() {
			p.Run(ctx)
			p.Client.mu.Lock()
			p.Client.done = true
			p.Client.mu.Unlock()
		})
	}
	return r, r.await()
}

// await waits until every process waits for a choice, or has ended, and reads what they wait for.
func (r *run) await() error {
	time.Sleep(step)
	synctest.Wait()
	for _, c := range r.clients {
		if !c.dead && !c.done && c.paused == nil && len(c.waiting) == 0 {
			return fmt.Errorf("process %s waits for something that is no request", c.Name)
		}
		slices.SortStableFunc(c.waiting, func(a, b *request) int { return strings.Compare(r.names.in("", a.raw), r.names.in("", b.raw)) })
		for _, q := range c.waiting {
			q.text = inOrder(r.names.in(c.Name, q.raw))
		}
	}
	return nil
}

// options returns what can be chosen, faults first: then the search does not repeat one after a choice that is independent of it.
func (r *run) options() []*option {
	var faults, all []*option
	idle := true // but for the paused process, none has a request on its way
	for _, c := range r.clients {
		if c.dead || c.done {
			continue
		}
		if c.paused != nil {
			if r.used[pause] > 0 {
				all = append(all, &option{choice: choice{process: c.Name, kind: resume}})
			}
			continue
		}
		if r.used[crash] < r.c.Crashes && !r.steady(c) && len(c.seen)+len(c.past) > 0 {
			faults = append(faults, &option{choice: choice{process: c.Name, kind: crash}})
		}
		seen := map[string]int{}
		for _, q := range c.waiting {
			o := option{choice: choice{process: c.Name, request: q.text, nth: seen[q.text]}, access: q.access, begins: c.begins, request: q}
			seen[q.text]++
			if q.among != nil {
				for _, id := range q.among() {
					one := o
					one.among, one.access = id, messageAccess(strings.TrimSuffix(id, old))
					all = append(all, &one)
				}
				continue
			}
			idle = false
			all = append(all, &o)
			if q.late && r.used[delay] < r.c.Late && !r.steady(c) {
				late := o
				late.kind, late.access = delay, access{}
				faults = append(faults, &late)
			}
			if r.used[hold] == 0 && r.c.Pause > 0 && !r.steady(c) && len(c.waiting) == 1 {
				held := o
				held.kind = hold
				faults = append(faults, &held)
			}
		}
	}
	if r.held != nil {
		late := *r.held
		late.kind, late.access = arrive, late.request.access
		all = append(all, &late)
	}
	if r.used[hold] > 0 && r.used[pause] == 0 && idle && r.held == nil {
		all = append(all, &option{choice: choice{kind: pause}})
	}
	return append(faults, all...)
}

// steady reports whether the process has no faults.
func (r *run) steady(c *Client) bool { return slices.Contains(r.sys.Steady, c) }

// make makes a choice, and waits until every process waits again.
func (r *run) make(o *option) error {
	r.used[o.kind]++
	var reply string
	var err error
	var c *Client
	if i := slices.IndexFunc(r.clients, func(c *Client) bool { return c.Name == o.process }); i >= 0 {
		c = r.clients[i]
	}
	if o.kind != arrive && c != nil {
		r.last = c.Name
	}
	ended := 0
	if c != nil {
		ended = len(c.past)
	}
	switch o.kind {
	case carryOut, hold:
		r.begin(c)
		c.waiting = slices.DeleteFunc(c.waiting, func(q *request) bool { return q == o.request })
		reply, err = r.carryOut(o.request, o.among)
		c.seen = append(c.seen, o.choice.request+o.among+"\n"+reply)
		if o.kind == hold {
			c.paused = func() { o.request.answer <- err }
		} else {
			o.request.answer <- err
		}
	case delay:
		r.begin(c)
		c.lost++
		c.waiting = slices.DeleteFunc(c.waiting, func(q *request) bool { return q == o.request })
		r.held = o
		c.seen = append(c.seen, o.choice.request+"\nlost")
		o.request.answer <- harness.ErrLost
	case arrive:
		reply, _ = r.carryOut(r.held.request, "")
		r.held = nil
	case crash:
		r.kill(c)
	case pause:
		time.Sleep(r.c.Pause)
		r.names.pauses = append(r.names.pauses, time.Now().UTC().Format(timeLayout))
	case resume:
		deliver := c.paused
		c.paused = nil
		deliver()
	}
	if r.keep {
		r.steps = append(r.steps, fmt.Sprint(o.choice, "\n    ", strings.ReplaceAll(o.request.textOf()+"\n => "+reply, "\n", "\n    ")))
	}
	if err := r.await(); err != nil {
		return err
	}
	o.ends = c != nil && len(c.past) > ended
	if r.sys.Always != nil && (o.kind == carryOut || o.kind == hold || o.kind == arrive) && o.access.writes {
		rows, err := parseRows(r.rows)
		if err == nil {
			err = r.sys.Always(rows)
		}
		return err
	}
	return nil
}

// begin marks the beginning of an operation, unless it has begun.
func (r *run) begin(c *Client) {
	if !c.begins {
		return
	}
	c.begins, c.began = false, time.Now()
	for _, o := range r.clients { // an order of the results must have those operations first that have ended
		c.seen = append(c.seen, fmt.Sprint(o.Name, len(o.past)))
	}
}

func (q *request) textOf() string {
	if q == nil {
		return ""
	}
	return q.text
}

// carryOut carries a request out, and returns its reply with names.
func (r *run) carryOut(q *request, among string) (string, error) {
	reply, err := q.do(r.ctx, among)
	if q.access.writes && !strings.HasPrefix(q.access.places[0], messages) {
		if err := r.observe(r.ctx); err != nil {
			return "", err
		}
	}
	reply = r.names.in(q.client.Name, reply)
	if err != nil {
		reply = err.Error()
	}
	return reply, err
}

// kill ends a process: no request of it is carried out any more.
func (r *run) kill(c *Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
	if c.paused != nil {
		c.paused()
		c.paused = nil
	}
	for _, q := range c.waiting {
		q.answer <- harness.ErrDead
	}
	c.waiting = nil
}

// stop ends all processes.
func (r *run) stop() {
	for _, c := range r.clients {
		r.kill(c)
	}
	r.running.Wait()
}

// state identifies the present state: two runs with the same one continue in the same ways, and have had the same results. What
// a process knows that has ended, or crashed, makes no difference.
func (r *run) state(end bool) [16]byte {
	h := sha256.New()
	add := func(texts ...string) {
		for _, text := range texts {
			_ = binary.Write(h, binary.LittleEndian, int64(len(text)))
			_, _ = h.Write([]byte(text))
		}
	}
	add(r.rows, r.Queue.text())
	for _, c := range r.clients {
		add(c.Name, fmt.Sprint(c.begins, len(c.past)))
		add(c.past...)
		if end || c.dead || c.done {
			continue
		}
		add(fmt.Sprint(c.paused != nil, len(c.seen)))
		add(c.seen...)
		for _, q := range c.waiting {
			add(q.text)
		}
	}
	if end {
		return [16]byte(h.Sum(nil))
	}
	add(fmt.Sprint(r.used[crash], r.used[delay], r.used[hold], r.used[pause]))
	for _, c := range r.clients {
		add(fmt.Sprint(c.dead, c.done))
	}
	if r.held != nil {
		add(r.held.choice.String(), r.held.choice.request)
	}
	return [16]byte(h.Sum(nil))
}

// errEnd ends a run that leads to nothing new.
var errEnd = errors.New("nothing new")

// finish ends the processes, and has the case check what they have left.
func (r *run) finish() error {
	r.stop()
	if r.sys.Finish == nil {
		return nil
	}
	return r.sys.Finish(r.ctx)
}
