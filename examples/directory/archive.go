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

// Archive is the message that moves an employee to the archive.
type Archive struct{ Department, ID, Stay string }

const archiveKind = "employee.archive"

// Archive adds a message with which a worker moves the employee to the archive. The archive
// is another table, so no transaction can do that.
func (d *Directory) Archive(ctx context.Context, key keys.Key) error {
	item, err := d.staff.Get(ctx, key)
	if err != nil {
		return err
	}
	return eventual.Enqueue(ctx, d.jobs, archiveKind, Archive{key.Partition, key.Row, item.Value.Stay}, nil)
}

// archiveNow processes an Archive message in two idempotent steps:
//
//  1. mark the employee as archived: the Store deletes the rows derived from the employee
//  2. move the row, which has no derived rows any more, by [eventual.Move]
//
// Move does not use the Store. Without step 1 it would leave the index rows of the e-mail
// address and the badge, and a wrong count.
func (d *Directory) archiveNow(ctx context.Context, job eventual.Job[Archive]) error {
	m := job.Message
	key := keys.Key{Partition: m.Department, Row: m.ID}
	item, err := d.staff.Get(ctx, key)
	if err != nil && !errors.Is(err, patterns.ErrNotFound) {
		return err
	}
	if err == nil && item.Value.Stay == m.Stay && item.Value.State != archived {
		if item.Value.State == leaving {
			return eventual.Snooze(time.Second) // until the transfer has deleted this row
		}
		if err := d.waitForTransfer(ctx, &item.Value); err != nil {
			return err
		}
		out := item.Value
		out.State = archived
		if _, err := d.staff.PutItem(ctx, item, &out); err != nil { // only if the row is unchanged since it was read
			return err
		}
	}
	err = eventual.Move(ctx, d.employees, d.archive, eventual.Row{
		PartitionKey: m.Department, RowKey: m.ID,
		Where: query.And(query.Prop("Stay").Eq(m.Stay), query.Prop("State").Eq(archived)).String(),
	})
	if errors.Is(err, eventual.ErrSuperseded) || errors.Is(err, patterns.ErrNotFound) {
		// The employee moved to another department, or was archived before and hired again:
		// the row is not the one that the message refers to.
		return eventual.Cancel("overtaken by another change", errors.Join(ErrOvertaken, err))
	}
	return err
}
