package main

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func newDirectory(t *testing.T) *Directory {
	t.Helper()
	_, d, err := newWithStaff(t.Context(), storagetest.New(t))
	assert.NoError(t, err)
	return d
}

var jun = keys.Key{Partition: "Sales", Row: "000223"}

// job returns the job of a transfer that is enqueued now.
func (d *Directory) job(t *testing.T, id string, from keys.Key, to string) eventual.Job[Transfer] {
	t.Helper()
	item := assert.Must(d.staff.Get(t.Context(), from))(t)
	return eventual.Job[Transfer]{ID: id, Message: Transfer{from.Partition, from.Row, item.Value.Stay, to}}
}

func (d *Directory) mustBeConsistent(t *testing.T) {
	t.Helper()
	assert.Equal(t, d.checkAll(t.Context()), nil)
}

func TestARepeatedTransferDoesNothing(t *testing.T) {
	d := newDirectory(t)
	first := d.job(t, "1", jun, "Marketing")
	for range 2 {
		assert.NoError(t, d.transfer(t.Context(), first))
		d.mustBeConsistent(t)
	}
	back := d.job(t, "2", keys.Key{Partition: "Marketing", Row: jun.Row}, "Sales")
	assert.NoError(t, d.transfer(t.Context(), back))
	assert.WantError(t, d.transfer(t.Context(), first), ErrOvertaken, "a transfer from an earlier stay")
	assert.Equal(t, assert.ErrorOf(d.staff.Get(t.Context(), jun)), nil)
	d.mustBeConsistent(t)
}

func TestATransferToADepartmentWithTheSameAddressChangesNothing(t *testing.T) {
	d := newDirectory(t)
	assert.NoError(t, d.Hire(t.Context(), Employee{Department: "Marketing", ID: "000500", LastName: "Cao", Email: "junc@contoso.com"}))
	if err := d.transfer(t.Context(), d.job(t, "1", jun, "Marketing")); !isDuplicate(err) {
		t.Errorf("%v", err)
	}
	d.mustBeConsistent(t)
	assert.Equal(t, assert.Must(d.staff.Get(t.Context(), jun))(t).Value.State, "")
}

func TestABadgeThatIsTakenDuringATransferIsLost(t *testing.T) {
	acct := storagetest.New(t)
	_, d, err := newWithStaff(t.Context(), acct)
	assert.NoError(t, err)
	job := d.job(t, "1", jun, "Marketing")
	old := assert.Must(d.staff.Get(t.Context(), jun))(t)
	// Steps 1 and 2; then the process dies.
	assert.NoError(t, d.arrive(t.Context(), old.Value, keys.Key{Partition: "Marketing", Row: jun.Row}, "1"))
	left := old.Value
	left.State, left.Next = leaving, "1"
	assert.NoError(t, assert.ErrorOf(d.staff.PutItem(t.Context(), old, &left)))
	if _, err := d.Change(t.Context(), jun, func(e *Employee) { e.Badge = "C-1" }); !errors.Is(err, ErrMoving) {
		t.Errorf("changed an employee during a transfer: %v", err)
	}
	assert.NoError(t, d.Hire(t.Context(), Employee{Department: "Sales", ID: "000501", LastName: "Li", Badge: "A-19"}))
	assert.NoError(t, d.transfer(t.Context(), job))
	d.mustBeConsistent(t)
}

func TestArchivingAnEmployeeWhoWasHiredAgainIsRefused(t *testing.T) {
	d := newDirectory(t)
	item := assert.Must(d.staff.Get(t.Context(), jun))(t)
	job := eventual.Job[Archive]{ID: "1", Message: Archive{jun.Partition, jun.Row, item.Value.Stay}}
	for range 2 {
		assert.NoError(t, d.archiveNow(t.Context(), job))
		d.mustBeConsistent(t)
	}
	assert.NoError(t, d.Hire(t.Context(), item.Value))
	assert.WantError(t, d.archiveNow(t.Context(), job), ErrOvertaken)
	assert.Equal(t, assert.ErrorOf(d.staff.Get(t.Context(), jun)), nil)
}

// Several jobs move or archive the same employees while messages are delivered late and twice, and two workers run
// concurrently. Requests are delayed by up to 3 s each. The record of an operation has to outlast every writer that
// is still retrying it, so Expiry is longer than the whole chain of delayed requests; the time is virtual.
func TestRacingJobsLeaveOneEmployee(t *testing.T) {
	limits := shortTimeouts()
	limits.expiry = time.Minute
	seeds := uint64(40)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				acct := storagetest.Start(&storagetest.Options{Seed: seed + 1})
				if _, _, err := newWithStaff(t.Context(), acct); err != nil {
					t.Fatal(err)
				}
				a := account.Local(acct)
				d := assert.Must(NewDirectory(a.Tables, a.Queue, "", limits, nil))(t)
				for _, ask := range []func() error{
					func() error { return d.Transfer(t.Context(), jun, "Marketing") },
					func() error { return d.Transfer(t.Context(), jun, "Research") },
					func() error { return d.Archive(t.Context(), mary) },
					func() error { return d.Transfer(t.Context(), mary, "Research") },
				} {
					assert.NoError(t, ask())
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
						d, err := NewDirectory(a.Tables, a.Queue, "", limits, nil)
						if err == nil {
							err = d.Recover(t.Context())
						}
						assert.Equal(t, err, nil)
					})
				}
				workers.Wait()
				acct.ClearFaults()
				// The jobs that were overtaken are in the poison queue.
				assert.NoError(t, assert.ErrorOf(d.poison.ClearMessages(t.Context(), nil)))
				d.mustBeConsistent(t)
			})
		})
	}
}

func TestInvalidEmployeesAndTransfersAreRefused(t *testing.T) {
	d := newDirectory(t)
	for _, e := range []Employee{{Department: "Sales"}, {Department: "Sales", ID: "Department"}, {ID: "1"}, {Department: "a/b", ID: "1"}} {
		assert.WantError(t, d.Hire(t.Context(), e), ErrBadEmployee, e.Department, e.ID)
	}
	assert.WantError(t, d.Transfer(t.Context(), jun, "a/b"), ErrBadEmployee)
	assert.WantError(t, d.Transfer(t.Context(), keys.Key{Partition: "Sales", Row: "9"}, "Marketing"), patterns.ErrNotFound)
}
