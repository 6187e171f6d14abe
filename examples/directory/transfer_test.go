package main

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func newDirectory(t *testing.T) *Directory {
	t.Helper()
	_, d, err := newWithStaff(t.Context(), storagetest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var jun = keys.Key{Partition: "Sales", Row: "000223"}

// job returns the job of a transfer that is enqueued now.
func (d *Directory) job(t *testing.T, id string, from keys.Key, to string) eventual.Job[Transfer] {
	t.Helper()
	item, err := d.staff.Get(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return eventual.Job[Transfer]{ID: id, Message: Transfer{from.Partition, from.Row, item.Value.Stay, to}}
}

func (d *Directory) mustBeConsistent(t *testing.T) {
	t.Helper()
	if err := d.checkAll(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestARepeatedTransferDoesNothing(t *testing.T) {
	d := newDirectory(t)
	first := d.job(t, "1", jun, "Marketing")
	for range 2 {
		if err := d.transfer(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		d.mustBeConsistent(t)
	}
	back := d.job(t, "2", keys.Key{Partition: "Marketing", Row: jun.Row}, "Sales")
	if err := d.transfer(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	if err := d.transfer(t.Context(), first); !errors.Is(err, ErrOvertaken) {
		t.Errorf("a transfer from an earlier stay: %v", err)
	}
	if _, err := d.staff.Get(t.Context(), jun); err != nil {
		t.Error(err)
	}
	d.mustBeConsistent(t)
}

func TestATransferToADepartmentWithTheSameAddressChangesNothing(t *testing.T) {
	d := newDirectory(t)
	if err := d.Hire(t.Context(), Employee{Department: "Marketing", ID: "000500", LastName: "Cao", Email: "junc@contoso.com"}); err != nil {
		t.Fatal(err)
	}
	if err := d.transfer(t.Context(), d.job(t, "1", jun, "Marketing")); !isDuplicate(err) {
		t.Errorf("%v", err)
	}
	d.mustBeConsistent(t)
	if item, err := d.staff.Get(t.Context(), jun); err != nil || item.Value.State != "" {
		t.Errorf("%+v, %v", item.Value, err)
	}
}

func TestABadgeThatIsTakenDuringATransferIsLost(t *testing.T) {
	acct := storagetest.New(t)
	_, d, err := newWithStaff(t.Context(), acct)
	if err != nil {
		t.Fatal(err)
	}
	job := d.job(t, "1", jun, "Marketing")
	old, err := d.staff.Get(t.Context(), jun)
	if err != nil {
		t.Fatal(err)
	}
	// Steps 1 and 2; then the process dies.
	if err := d.arrive(t.Context(), old.Value, keys.Key{Partition: "Marketing", Row: jun.Row}, "1"); err != nil {
		t.Fatal(err)
	}
	left := old.Value
	left.State, left.Next = leaving, "1"
	if _, err := d.staff.PutItem(t.Context(), old, &left); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Change(t.Context(), jun, func(e *Employee) { e.Badge = "C-1" }); !errors.Is(err, ErrMoving) {
		t.Errorf("changed an employee during a transfer: %v", err)
	}
	if err := d.Hire(t.Context(), Employee{Department: "Sales", ID: "000501", LastName: "Li", Badge: "A-19"}); err != nil {
		t.Fatal(err)
	}
	if err := d.transfer(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	d.mustBeConsistent(t)
}

func TestArchivingAnEmployeeWhoWasHiredAgainIsRefused(t *testing.T) {
	d := newDirectory(t)
	item, err := d.staff.Get(t.Context(), jun)
	if err != nil {
		t.Fatal(err)
	}
	job := eventual.Job[Archive]{ID: "1", Message: Archive{jun.Partition, jun.Row, item.Value.Stay}}
	for range 2 {
		if err := d.archiveNow(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		d.mustBeConsistent(t)
	}
	if err := d.Hire(t.Context(), item.Value); err != nil {
		t.Fatal(err)
	}
	if err := d.archiveNow(t.Context(), job); !errors.Is(err, ErrOvertaken) {
		t.Errorf("%v", err)
	}
	if _, err := d.staff.Get(t.Context(), jun); err != nil {
		t.Error(err)
	}
}

// Several jobs move or archive the same employees while messages are delivered late and twice, and two workers run
// concurrently. Requests are delayed by up to 3 s each. The record of an operation has to outlast every writer that
// is still retrying it, so Expiry is longer than the whole chain of delayed requests; the time is virtual.
func TestRacingJobsLeaveOneEmployee(t *testing.T) {
	limits := shortTimeouts()
	limits.expiry = time.Minute
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				acct := storagetest.Start(&storagetest.Options{Seed: seed + 1})
				if _, _, err := newWithStaff(t.Context(), acct); err != nil {
					t.Fatal(err)
				}
				a := account.Local(acct)
				d, err := NewDirectory(a.Tables, a.Queue, "", limits)
				if err != nil {
					t.Fatal(err)
				}
				for _, ask := range []func() error{
					func() error { return d.Transfer(t.Context(), jun, "Marketing") },
					func() error { return d.Transfer(t.Context(), jun, "Research") },
					func() error { return d.Archive(t.Context(), mary) },
					func() error { return d.Transfer(t.Context(), mary, "Research") },
				} {
					if err := ask(); err != nil {
						t.Fatal(err)
					}
				}
				acct.Fault(
					storagetest.On("*").Times(storagetest.Forever).Probability(0.3).Delay(300*time.Millisecond),
					storagetest.On("*").Times(storagetest.Forever).Probability(0.1).Delay(3*time.Second),
					storagetest.On("Queue.Get").Times(storagetest.Forever).Probability(0.3).Redeliver(),
				)
				var workers sync.WaitGroup
				for range 2 {
					workers.Go(func() {
						a := account.Local(acct)
						d, err := NewDirectory(a.Tables, a.Queue, "", limits)
						if err == nil {
							err = d.Recover(t.Context())
						}
						if err != nil {
							t.Error(err)
						}
					})
				}
				workers.Wait()
				acct.ClearFaults()
				// The jobs that were overtaken are in the poison queue.
				if _, err := d.poison.ClearMessages(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				d.mustBeConsistent(t)
			})
		})
	}
}

func TestInvalidEmployeesAndTransfersAreRefused(t *testing.T) {
	d := newDirectory(t)
	for _, e := range []Employee{{Department: "Sales"}, {Department: "Sales", ID: "Department"}, {ID: "1"}, {Department: "a/b", ID: "1"}} {
		if err := d.Hire(t.Context(), e); !errors.Is(err, ErrBadEmployee) {
			t.Errorf("%s/%s: %v", e.Department, e.ID, err)
		}
	}
	if err := d.Transfer(t.Context(), jun, "a/b"); !errors.Is(err, ErrBadEmployee) {
		t.Error(err)
	}
	if err := d.Transfer(t.Context(), keys.Key{Partition: "Sales", Row: "9"}, "Marketing"); !errors.Is(err, patterns.ErrNotFound) {
		t.Error(err)
	}
}
