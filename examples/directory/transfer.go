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

// Transfer is the message of a move to another department.
type Transfer struct {
	From, ID, Stay string // who
	To             string
}

const transferKind = "employee.transfer"

// Transfer moves an employee to another department, soon: a worker does it.
//
// The department is the partition key, so this is no change of a row, which the
// Store could do with all that follows in one operation: it is a new row and the end
// of an old one, in two partitions. No transaction spans them, and a process that
// died between the two would leave two employees or none. So the intention is put
// on a queue first, and the steps are repeated until all are done.
func (d *Directory) Transfer(ctx context.Context, from keys.Key, to string) error {
	item, err := d.staff.Get(ctx, from)
	if err != nil {
		return err
	}
	switch {
	case to == from.Partition:
		return nil
	case to == "" || keys.Escape(to) != to:
		return fmt.Errorf("%w: a department is letters, digits and spaces", ErrBadEmployee)
	}
	return eventual.Enqueue(ctx, d.jobs, transferKind, Transfer{from.Partition, from.Row, item.Value.Stay, to}, nil)
}

// ErrOvertaken: what a job is about has changed meanwhile.
var ErrOvertaken = errors.New("overtaken by another change")

// transfer carries a Transfer out. Each step is one operation of the Store, and each
// finds out by itself whether it was done before; an error means: again, from the
// first step on.
//
//  1. store a row in the new department, arriving: not in force, but it holds the
//     e-mail address, so that one which is taken there stops the move right here
//  2. mark the old row leaving, if it is as it was copied: it frees the badge, the
//     count, the last name
//  3. put the new row in force
//  4. delete the old row
//
// There is always at least one row, and never are two in force. A step 1 that comes
// when all is over, from a worker that slept, is found in step 2, which sees no old
// row, and taken back.
func (d *Directory) transfer(ctx context.Context, job eventual.Job[Transfer]) error {
	m := job.Message
	from, to := keys.Key{Partition: m.From, Row: m.ID}, keys.Key{Partition: m.To, Row: m.ID}
	old, err := d.staff.Get(ctx, from)
	switch {
	case errors.Is(err, patterns.ErrNotFound), err == nil && !m.concerns(&old.Value, job.ID):
		return d.over(ctx, to, job.ID)
	case err != nil:
		return err
	}
	if err := d.settled(ctx, &old.Value); err != nil {
		return err
	}
	if old.Value.State == "" {
		if old, err = d.leave(ctx, old, to, job.ID); err != nil {
			return d.withdraw(ctx, job, err)
		}
	}
	if err := d.enforce(ctx, to, job.ID); err != nil {
		return err
	}
	return gone(d.staff.DeleteItem(ctx, old))
}

// concerns tells whether old is who the message means, and still to be moved.
func (m *Transfer) concerns(old *Employee, id string) bool {
	return old.Stay == m.Stay && old.State != archived && (old.State != leaving || old.Next == id)
}

// settled makes a job wait for the end of the transfer before it: while the old row
// of that is there, its worker may still look for the new one.
func (d *Directory) settled(ctx context.Context, e *Employee) error {
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

// leave is steps 1 and 2.
func (d *Directory) leave(ctx context.Context, old patterns.Item[Employee], to keys.Key, id string) (patterns.Item[Employee], error) {
	if err := d.arrive(ctx, old.Value, to, id); err != nil {
		return old, err
	}
	left := old.Value
	left.State, left.Next = leaving, id
	return d.staff.PutItem(ctx, old, &left) // only if it is as it was copied
}

// arrive is step 1.
func (d *Directory) arrive(ctx context.Context, e Employee, to keys.Key, stay string) error {
	e.CameFrom, e.Department, e.Stay, e.State = e.Department, to.Partition, stay, arriving
	e.IsManager = false // of that department, not of this one
	_, err := d.staff.Insert(ctx, &e)
	if isPlain(err, patterns.ErrExists) {
		_, err = d.staff.Update(ctx, to, func(have *Employee) error {
			switch {
			case have.Stay != stay:
				return eventual.Cancel(errors.New("somebody else has the id there"))
			case have.State == arriving:
				*have = e // as it is now; it was stored by an earlier attempt
			}
			return nil
		})
	}
	if isDuplicate(err) {
		// The e-mail address is somebody else's there. Nothing else has changed yet.
		if failed := d.takeBack(ctx, to, stay); failed != nil {
			return failed
		}
		return eventual.Cancel(err)
	}
	return err
}

// enforce is step 3.
func (d *Directory) enforce(ctx context.Context, to keys.Key, stay string) error {
	enforce := func(e *Employee) error {
		if e.Stay == stay && e.State == arriving {
			e.State = ""
		}
		return nil
	}
	_, err := d.staff.Update(ctx, to, enforce)
	if isDuplicate(err) {
		// Somebody was quick, and was given the badge between steps 2 and 3. The
		// old row cannot have it back either: so he arrives without one.
		_, err = d.staff.Update(ctx, to, func(e *Employee) error {
			e.Badge = ""
			return enforce(e)
		})
	}
	return err
}

// over ends a transfer that finds nobody to move: it was carried out before, or
// overtaken by another.
func (d *Directory) over(ctx context.Context, to keys.Key, stay string) error {
	item, err := d.staff.Get(ctx, to)
	if err == nil && item.Value.Stay == stay && item.Value.State != arriving {
		return nil
	}
	if err == nil || errors.Is(err, patterns.ErrNotFound) {
		err = d.takeBack(ctx, to, stay)
	}
	if err == nil {
		err = eventual.Cancel(ErrOvertaken)
	}
	return err
}

// withdraw looks after what failed in step 1 or 2. Others may be through with the
// message by now, if it came twice, and nobody would take the new row back.
func (d *Directory) withdraw(ctx context.Context, job eventual.Job[Transfer], failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	m := job.Message
	old, err := d.staff.Get(ctx, keys.Key{Partition: m.From, Row: m.ID})
	if errors.Is(err, patterns.ErrNotFound) || err == nil && !m.concerns(&old.Value, job.ID) {
		err = d.takeBack(ctx, keys.Key{Partition: m.To, Row: m.ID}, job.ID)
	}
	if err != nil {
		return err
	}
	return failed
}

// takeBack deletes what step 1 stored, while it is not in force.
func (d *Directory) takeBack(ctx context.Context, to keys.Key, stay string) error {
	item, err := d.staff.Get(ctx, to)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	if err != nil || item.Value.Stay != stay || item.Value.State != arriving {
		return err
	}
	return gone(d.staff.DeleteItem(ctx, item))
}

// gone takes the row that another worker deleted for deleted.
func gone(err error) error {
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	return err
}

// isDuplicate: another employee has what is to be unique.
func isDuplicate(err error) bool {
	var taken *patterns.DuplicateError
	return errors.As(err, &taken)
}

// isPlain: the row itself, and nothing that follows from it, is what err is about.
func isPlain(err, sentinel error) bool { return errors.Is(err, sentinel) && !isDuplicate(err) }
