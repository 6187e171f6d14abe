package main

import (
	"context"
	"errors"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/query"
)

// Archive is the message of an employee who goes to the archive.
type Archive struct{ Department, ID, Stay string }

const archiveKind = "employee.archive"

// Archive moves an employee to the archive, soon: a worker does it. The archive is
// another table, so no transaction can.
func (d *Directory) Archive(ctx context.Context, key keys.Key) error {
	item, err := d.staff.Get(ctx, key)
	if err != nil {
		return err
	}
	return eventual.Enqueue(ctx, d.jobs, archiveKind, Archive{key.Partition, key.Row, item.Value.Stay}, nil)
}

// archiveNow carries an Archive out, in two steps that can both be repeated:
//
//  1. mark the employee archived: the Store removes all that followed
//  2. move the row, from which nothing follows any more, by [eventual.Move]
//
// Move knows nothing of the Store. Without step 1 it would leave an e-mail address, a
// badge and a count behind.
func (d *Directory) archiveNow(ctx context.Context, job eventual.Job[Archive]) error {
	m := job.Message
	key := keys.Key{Partition: m.Department, Row: m.ID}
	item, err := d.staff.Get(ctx, key)
	if err != nil && !errors.Is(err, patterns.ErrNotFound) {
		return err
	}
	if err == nil && item.Value.Stay == m.Stay && item.Value.State != archived {
		if item.Value.State == leaving {
			return eventual.Snooze(time.Second) // then there will be nobody here
		}
		if err := d.settled(ctx, &item.Value); err != nil {
			return err
		}
		out := item.Value
		out.State = archived
		if _, err := d.staff.PutItem(ctx, item, &out); err != nil { // only if it is as it was read
			return err
		}
	}
	err = eventual.Move(ctx, d.employees, d.archive, eventual.Row{
		PartitionKey: m.Department, RowKey: m.ID,
		Where: query.And(query.Prop("Stay").Eq(m.Stay), query.Prop("State").Eq(archived)).String(),
	})
	if errors.Is(err, eventual.ErrSuperseded) || errors.Is(err, patterns.ErrNotFound) {
		// Gone to another department, or hired again after an archive that was done
		// before: not the one who was meant.
		return eventual.Cancel(errors.Join(ErrOvertaken, err))
	}
	return err
}
