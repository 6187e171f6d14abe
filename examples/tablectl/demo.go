package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// person is an entity of the Store of -demo.
type person struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Name       string
	Email      string
	Badge      string
	Salary     int32
	Hired      time.Time
}

// newPeople returns the Store of -demo. A service would share such a function with its tools. It
// makes no request.
func newPeople(a *account) (*patterns.Store[person], error) {
	email, err1 := secondaryindex.Intra("email", func(p *person) (string, bool) { return p.Email, true }, nil)
	badge, err2 := secondaryindex.Inter("badge", a.tables.NewClient("Badges"), func(p *person) (string, bool) { return p.Badge, true }, nil)
	table, err3 := patterns.NewTable[person](a.tables.NewClient("People"), nil)
	queue, err4 := a.queue("jobs")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	outbox, err := eventual.NewOutbox(queue, "")
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[person]{Views: []patterns.View[person]{email, badge}, Outbox: outbox})
}

// fillDemo creates the table Types with a row of every type, the Store people with rows of a view that
// are missing and left over, and the queue jobs with two poison messages.
func fillDemo(ctx context.Context, a *account) error {
	return errors.Join(fillTypes(ctx, a), fillPeople(ctx, a), fillJobs(ctx, a))
}

func fillTypes(ctx context.Context, a *account) error {
	t, err := openTable(a.tables.NewClient("Types"))
	if err != nil {
		return err
	}
	if err := t.Create(ctx); err != nil {
		return err
	}
	for i, p := range []properties{
		{"Text": "Grüße, \"quoted\"\n", "Yes": true, "Small": int32(-1), "Big": int64(math.MaxInt64), "Half": 0.5, "Whole": 1.0},
		{"NotANumber": math.NaN(), "Infinite": math.Inf(1), "Negative": math.Inf(-1)},
		{
			"First": time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), "Last": time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC),
			"Bytes": []byte{0, 255}, "ID": [16]byte{0xc9, 0xda, 15: 1},
		},
	} {
		if _, err := t.Do(ctx, patterns.InsertOp(&stored{p}).At(keys.Key{Partition: "it's", Row: fmt.Sprint(i)})); err != nil {
			return err
		}
	}
	return nil
}

func fillPeople(ctx context.Context, a *account) error {
	s, err := newPeople(a)
	if err != nil {
		return err
	}
	if err := s.Create(ctx); err != nil {
		return err
	}
	if _, err := s.Bulk(ctx, samplePeople(), nil); err != nil {
		return err
	}
	// A program that does not use the Store removes two people, and so leaves their rows of the views.
	t, err := openTable(a.tables.NewClient("People"))
	if err != nil {
		return err
	}
	batch := t.Batch()
	for _, id := range []string{"000010", "000011"} {
		batch.Delete(keys.Key{Partition: "Sales", Row: id}, "")
	}
	_, err = batch.Commit(ctx)
	return err
}

func samplePeople() iter.Seq[patterns.StoreOp[person]] {
	return func(yield func(patterns.StoreOp[person]) bool) {
		for i := range 100 {
			p := &person{
				Department: "Sales", ID: fmt.Sprintf("%06d", i), Name: fmt.Sprintf("Person %d", i), Email: fmt.Sprintf("p%d@example.com", i),
				Badge: fmt.Sprintf("B%04d", i), Salary: int32(1000 + i), Hired: time.Date(2014, 7, 31, 0, 0, i, 0, time.UTC),
			}
			if !yield(patterns.PutEntity(p)) {
				return
			}
		}
	}
}

// fillJobs enqueues two jobs that no worker can process.
func fillJobs(ctx context.Context, a *account) error {
	queue, err1 := a.queue("jobs")
	poison, err2 := a.queue("jobs-poison")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var left atomic.Int32
	w, err := eventual.NewWorker(queue, &eventual.Options{
		Poison: poison,
		Observe: func(eventual.Event) {
			if left.Add(-1) == 0 {
				stop()
			}
		},
	})
	if err != nil {
		return err
	}
	eventual.Handle(w, "mail", func(context.Context, eventual.Job[map[string]string]) error {
		return eventual.Cancel(errors.New("no such mailbox"))
	})
	if err := w.Create(ctx); err != nil {
		return err
	}
	for i, to := range []string{"ann@example.com", "bob@example.com"} {
		left.Add(1)
		opts := &eventual.EnqueueOptions{ID: fmt.Sprintf("mail-%d", i+1)}
		if err := eventual.Enqueue(ctx, queue, "mail", map[string]string{"to": to}, opts); err != nil {
			return err
		}
	}
	return w.Run(ctx)
}
