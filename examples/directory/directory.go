package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// Directory is the employees of a company: three tables and two queues.
type Directory struct {
	staff       *patterns.Store[Employee]
	byEmail     *secondaryindex.Reader[Employee] // in a department
	byBadge     *secondaryindex.Reader[Employee] // in the company
	byLastName  *indexentity.Reader[Employee]    // in the company
	departments *patterns.Table[Department]      // the same table as staff

	employees, badges, archive *aztables.Client
	jobs, poison               *azqueue.QueueClient
	patience                   patience
}

// patience is how long work waits for a process that may be dead. Zero means the
// defaults of the packages.
type patience struct {
	grace      time.Duration // of an operation, patterns.StoreOptions.Grace
	expiry     time.Duration // of its record, patterns.StoreOptions.Expiry
	visibility time.Duration // of a job, eventual.Options.Visibility
	poll       time.Duration // eventual.Options.PollMin and PollMax
}

// NewDirectory makes a directory whose tables and queues have names that end in
// suffix. It makes no request.
func NewDirectory(a *account.Account, suffix string, p patience) (*Directory, error) {
	d := &Directory{
		employees: a.Tables.NewClient("Employees" + suffix),
		badges:    a.Tables.NewClient("Badges" + suffix),
		archive:   a.Tables.NewClient("Archive" + suffix),
		patience:  p,
	}
	var err1, err2 error
	d.jobs, err1 = a.Queue("jobs" + suffix)
	d.poison, err2 = a.Queue("jobs" + suffix + "-poison")
	return d, errors.Join(err1, err2, d.declare())
}

// declare says what follows from an employee. That is all there is to keeping it.
func (d *Directory) declare() error {
	// E-mail addresses are looked up in a department, so their rows stand in its
	// partition and change in one transaction with the employee.
	email, err1 := secondaryindex.Intra("email", func(e *Employee) (string, bool) {
		return e.Email, e.Email != "" && (e.in("") || e.in(arriving))
	}, nil)
	// Badges are unique in the whole company: one partition of a table of their own,
	// which no transaction with the employee reaches.
	badge, err2 := secondaryindex.Inter("badge", d.badges, func(e *Employee) (string, bool) {
		return e.Badge, e.Badge != "" && e.in("")
	}, &secondaryindex.Options[Employee]{Partition: func(string) string { return "" }})
	// Many have the same last name, and whoever asks wants all of the company.
	lastName, err3 := indexentity.OtherPartition("lastname", nil, func(e *Employee) (string, bool) {
		return e.LastName, e.in("")
	}, nil)
	count, err4 := denormalize.Count("count", "EmployeeCount", func(e *Employee) (keys.Key, bool) {
		return department(e.Department), e.in("")
	}, nil)
	boss, err5 := denormalize.Into("manager", func(e *Employee) (keys.Key, manager, bool) {
		return department(e.Department), manager{e.name(), e.Email}, e.IsManager && e.in("")
	}, nil)
	table, err6 := patterns.NewTable[Employee](d.employees, nil)
	outbox, err7 := eventual.NewOutbox(d.jobs, "")
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		return err
	}
	d.staff, err1 = patterns.NewStore(table, &patterns.StoreOptions[Employee]{
		Views:  []patterns.View[Employee]{email, badge, lastName, count, boss},
		Outbox: outbox,
		Grace:  d.patience.grace,
		Expiry: d.patience.expiry,
	})
	if err1 != nil {
		return err1
	}
	d.byEmail, err1 = email.On(d.staff)
	d.byBadge, err2 = badge.On(d.staff)
	d.byLastName, err3 = lastName.On(d.staff)
	d.departments, err4 = patterns.NewTable(d.employees, &patterns.TableOptions[Department]{Keyless: true})
	return errors.Join(err1, err2, err3, err4)
}

// Create makes the tables and queues.
func (d *Directory) Create(ctx context.Context) error {
	for _, t := range []*aztables.Client{d.employees, d.badges, d.archive} {
		if _, err := t.CreateTable(ctx, nil); err != nil {
			return fmt.Errorf("create table: %w", err)
		}
	}
	w, err := d.worker(nil)
	if err != nil {
		return err
	}
	return w.Create(ctx)
}

// Drop deletes them.
func (d *Directory) Drop(ctx context.Context) (err error) {
	for _, t := range []*aztables.Client{d.employees, d.badges, d.archive} {
		_, failed := t.Delete(ctx, nil)
		err = errors.Join(err, failed)
	}
	for _, q := range []*azqueue.QueueClient{d.jobs, d.poison} {
		_, failed := q.Delete(ctx, nil)
		err = errors.Join(err, failed)
	}
	return err
}

// ErrBadEmployee: somebody who cannot be hired.
var ErrBadEmployee = errors.New("not an employee to hire")

// Hire stores a new employee and all that follows.
func (d *Directory) Hire(ctx context.Context, e Employee) error {
	switch {
	case e.ID == "" || strings.Trim(e.ID, "0123456789") != "":
		return fmt.Errorf("%w: an id is digits", ErrBadEmployee) // no other row's key is
	case e.Department == "" || keys.Escape(e.Department) != e.Department:
		return fmt.Errorf("%w: a department is letters, digits and spaces", ErrBadEmployee)
	}
	e.Stay, e.State, e.CameFrom = rand.Text(), "", ""
	_, err := d.staff.Insert(ctx, &e)
	return err
}

// ErrOnTheWay: the employee is just being moved or archived.
var ErrOnTheWay = errors.New("on the way to another department or to the archive")

// Change changes an employee, and all that follows.
func (d *Directory) Change(ctx context.Context, key keys.Key, change func(*Employee)) (Employee, error) {
	item, err := d.staff.Update(ctx, key, func(e *Employee) error {
		if e.State != "" {
			return ErrOnTheWay
		}
		change(e)
		return nil
	})
	return item.Value, err
}
