package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// Transfer is the message that moves an employee to another department.
type Transfer struct {
	From, ID, Stay string // the employee
	To             string
}

const transferKind = "employee.transfer"

// Transfer adds a message with which a worker moves the employee to another department.
//
// The department is the partition key. A transfer therefore does not change a row, which
// would be one operation of the Store, but inserts a row in one partition and deletes one
// in another. No transaction spans partitions, and a process that dies between the two
// steps would leave two employees or none. So the intent is stored in the queue first, and
// the steps are repeated until all are done.
func (d *Directory) Transfer(ctx context.Context, from keys.Key, to string) error {
	item, err := d.staff.Get(ctx, from)
	if err != nil {
		return err
	}
	switch {
	case to == from.Partition:
		return nil
	case to == "" || keys.Escape(to) != to:
		return fmt.Errorf("%w: a department consists of letters, digits and spaces", ErrBadEmployee)
	}
	return eventual.Enqueue(ctx, d.jobs, transferKind, Transfer{from.Partition, from.Row, item.Value.Stay, to}, nil)
}

// ErrOvertaken means that the employee was changed by another job after the message was
// added.
var ErrOvertaken = errors.New("overtaken by another change")

// transfer processes a Transfer message. Each step is one operation of the Store and
// detects whether it was done before. After an error all steps are repeated.
//
//  1. insert a row in the new department, in state arriving: it does not count yet, but it
//     reserves the e-mail address, so a duplicate address ends the transfer here
//  2. mark the old row as leaving, if it is unchanged since it was copied: it releases the
//     badge, the count and the last name
//  3. activate the new row
//  4. delete the old row
//
// There is always at least one row, and never more than one active row. If a delayed worker
// executes step 1 after the transfer is complete, step 2 finds no old row, and undoes step
// 1.
func (d *Directory) transfer(ctx context.Context, job eventual.Job[Transfer]) error {
	m := job.Message
	from, to := keys.Key{Partition: m.From, Row: m.ID}, keys.Key{Partition: m.To, Row: m.ID}
	old, err := d.staff.Get(ctx, from)
	switch {
	case errors.Is(err, patterns.ErrNotFound), err == nil && !m.concerns(&old.Value, job.ID):
		return d.finished(ctx, to, job.ID)
	case err != nil:
		return err
	}
	if err := d.waitForTransfer(ctx, &old.Value); err != nil {
		return err
	}
	if old.Value.State == "" {
		if old, err = d.leave(ctx, old, to, job.ID); err != nil {
			return d.undoIfFinished(ctx, job, err)
		}
	}
	if err := d.activate(ctx, to, job.ID); err != nil {
		return err
	}
	return ignoreNotFound(d.staff.DeleteItem(ctx, old))
}

// concerns reports whether old is the employee of the message and not yet transferred.
func (m *Transfer) concerns(old *Employee, id string) bool {
	return old.Stay == m.Stay && old.State != archived && (old.State != leaving || old.Next == id)
}

// waitForTransfer postpones a job until an earlier transfer of the employee is complete:
// while its old row exists, its worker may still read the new one.
func (d *Directory) waitForTransfer(ctx context.Context, e *Employee) error {
	if e.State == arriving {
		return eventual.Snooze(time.Second)
	}
	if e.CameFrom == "" {
		return nil
	}
	before, err := d.staff.Get(ctx, keys.Key{Partition: e.CameFrom, Row: e.ID})
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	if err == nil && before.Value.Next == e.Stay {
		return eventual.Snooze(time.Second)
	}
	return err
}

// leave executes steps 1 and 2.
func (d *Directory) leave(ctx context.Context, old patterns.Item[Employee], to keys.Key, id string) (patterns.Item[Employee], error) {
	if err := d.arrive(ctx, old.Value, to, id); err != nil {
		return old, err
	}
	left := old.Value
	left.State, left.Next = leaving, id
	return d.staff.PutItem(ctx, old, &left) // only if it is unchanged since it was copied
}

// arrive executes step 1.
func (d *Directory) arrive(ctx context.Context, e Employee, to keys.Key, stay string) error {
	e.CameFrom, e.Department, e.Stay, e.State = e.Department, to.Partition, stay, arriving
	e.IsManager = false // of the old department, not of the new one
	_, err := d.staff.Insert(ctx, &e)
	if isPlain(err, patterns.ErrExists) {
		_, err = d.staff.Update(ctx, to, func(have *Employee) error {
			switch {
			case have.Stay != stay:
				return eventual.Cancel("another employee has this id in the new department", nil)
			case have.State == arriving:
				*have = e // an earlier attempt inserted it; the employee may have changed since
			}
			return nil
		})
	}
	if isDuplicate(err) {
		// Another employee of the department has the e-mail address. Nothing else has changed.
		if failed := d.undoArrival(ctx, to, stay); failed != nil {
			return failed
		}
		return eventual.Cancel("", err)
	}
	return err
}

// activate executes step 3.
func (d *Directory) activate(ctx context.Context, to keys.Key, stay string) error {
	activate := func(e *Employee) error {
		if e.Stay == stay && e.State == arriving {
			e.State = ""
		}
		return nil
	}
	_, err := d.staff.Update(ctx, to, activate)
	if isDuplicate(err) {
		// Another employee got the badge between steps 2 and 3. The old row cannot have it
		// either, so the employee arrives without a badge.
		_, err = d.staff.Update(ctx, to, func(e *Employee) error {
			e.Badge = ""
			return activate(e)
		})
	}
	return err
}

// finished ends a transfer whose old row does not exist or has changed: it was completed
// before, or overtaken by another job.
func (d *Directory) finished(ctx context.Context, to keys.Key, stay string) error {
	item, err := d.staff.Get(ctx, to)
	if err == nil && item.Value.Stay == stay && item.Value.State != arriving {
		return nil
	}
	if err == nil || errors.Is(err, patterns.ErrNotFound) {
		err = d.undoArrival(ctx, to, stay)
	}
	if err == nil {
		err = eventual.Cancel("overtaken by another change", ErrOvertaken)
	}
	return err
}

// undoIfFinished handles an error of step 1 or 2. If the message was delivered twice, the
// other worker may have completed the transfer by now, and would not delete the new row.
func (d *Directory) undoIfFinished(ctx context.Context, job eventual.Job[Transfer], failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	m := job.Message
	old, err := d.staff.Get(ctx, keys.Key{Partition: m.From, Row: m.ID})
	if errors.Is(err, patterns.ErrNotFound) || err == nil && !m.concerns(&old.Value, job.ID) {
		err = d.undoArrival(ctx, keys.Key{Partition: m.To, Row: m.ID}, job.ID)
	}
	if err != nil {
		return err
	}
	return failed
}

// undoArrival deletes the row that step 1 inserted, if it is not active.
func (d *Directory) undoArrival(ctx context.Context, to keys.Key, stay string) error {
	item, err := d.staff.Get(ctx, to)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	if err != nil || item.Value.Stay != stay || item.Value.State != arriving {
		return err
	}
	return ignoreNotFound(d.staff.DeleteItem(ctx, item))
}

// ignoreNotFound returns nil if another worker deleted the row already.
func ignoreNotFound(err error) error {
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	return err
}

// isDuplicate reports whether another employee has a value that must be unique.
func isDuplicate(err error) bool {
	var taken *patterns.DuplicateError
	return errors.As(err, &taken)
}

// isPlain reports whether err is about the row itself, and not about a derived row.
func isPlain(err, sentinel error) bool { return errors.Is(err, sentinel) && !isDuplicate(err) }
