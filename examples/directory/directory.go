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

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// Directory stores the employees of a company in three tables and two queues.
type Directory struct {
	staff       *patterns.Store[Employee]
	finisher    *patterns.Finisher               // of staff; nil for none
	byEmail     *secondaryindex.Reader[Employee] // in a department
	byBadge     *secondaryindex.Reader[Employee] // in the company
	byLastName  *indexentity.Reader[Employee]    // in the company
	departments *patterns.Table[Department]      // the same table as staff

	employees, badges, archive *aztables.Client
	jobs, poison               *azqueue.QueueClient
	timeouts                   timeouts
}

// timeouts are the times after which a process that does not continue is assumed dead. A
// zero field means the default of its package.
type timeouts struct {
	grace      time.Duration // patterns.StoreOptions.Grace
	expiry     time.Duration // patterns.StoreOptions.Expiry
	visibility time.Duration // eventual.Options.Visibility
	poll       time.Duration // eventual.Options.PollMin and PollMax
}

// NewDirectory returns a directory whose tables and queues have names that end in suffix. The Finisher may be nil.
// NewDirectory makes no request.
func NewDirectory(tables *aztables.ServiceClient, queue func(name string) (*azqueue.QueueClient, error), suffix string, limits timeouts, finisher *patterns.Finisher) (*Directory, error) {
	d := &Directory{
		employees: tables.NewClient("Employees" + suffix),
		badges:    tables.NewClient("Badges" + suffix),
		archive:   tables.NewClient("Archive" + suffix),
		timeouts:  limits,
		finisher:  finisher,
	}
	var err1, err2 error
	d.jobs, err1 = queue("jobs" + suffix)
	d.poison, err2 = queue("jobs" + suffix + "-poison")
	return d, errors.Join(err1, err2, d.declare())
}

// declare creates the Store and its views. The Store updates the views on each write, so
// no other code has to.
func (d *Directory) declare() error {
	// E-mail addresses are looked up in a department, so their rows are in its partition
	// and change in one transaction with the employee.
	email := secondaryindex.Intra("email", func(e *Employee) (string, bool) {
		return e.Email, e.Email != "" && (e.active() || e.State == arriving)
	}, nil)
	// Badges are unique in the whole company. Their rows are in one partition of another
	// table, so they cannot change in one transaction with the employee.
	badge := secondaryindex.Inter("badge", d.badges, func(e *Employee) (string, bool) {
		return e.Badge, e.Badge != "" && e.active()
	}, &secondaryindex.Options[Employee]{Partition: func(_, _ string) string { return "badge_" }})
	// Last names are not unique. A lookup returns all employees of the company.
	lastName := indexentity.Inter("lastname", nil, func(e *Employee) (string, bool) {
		return e.LastName, e.active()
	}, nil)
	count := denormalize.Intra("count", denormalize.Count("EmployeeCount", func(e *Employee) (keys.Key, bool) {
		return department(e.Department), e.active()
	}), nil)
	boss := denormalize.Intra("manager", denormalize.Into(func(e *Employee) (keys.Key, manager, bool) {
		return department(e.Department), manager{e.name(), e.Email}, e.IsManager && e.active()
	}), nil)
	table, err1 := patterns.NewTable[Employee](d.employees, nil)
	outbox, err2 := eventual.NewOutbox(d.jobs, "", nil)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var err error
	d.staff, err = patterns.NewStore(table, &patterns.StoreOptions[Employee]{
		Views:  []patterns.View[Employee]{email, badge, lastName, count, boss},
		Outbox: outbox,
		Grace:  d.timeouts.grace,
		Expiry: d.timeouts.expiry,

		Finisher: d.finisher,
	})
	if err != nil {
		return err
	}
	d.byEmail, d.byBadge, d.byLastName = email.On(d.staff), badge.On(d.staff), lastName.On(d.staff)
	d.departments, err = patterns.NewTable(d.employees, &patterns.TableOptions[Department]{Keyless: true})
	return err
}

// Create creates the tables and queues.
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

// Drop deletes the tables and queues.
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

// ErrBadEmployee means that an ID or a department is not valid.
var ErrBadEmployee = errors.New("invalid employee")

// Hire stores a new employee and updates the views.
func (d *Directory) Hire(ctx context.Context, e Employee) error {
	switch {
	case e.ID == "" || strings.Trim(e.ID, "0123456789") != "":
		// Digits distinguish the row keys of employees from those of all other rows.
		return fmt.Errorf("%w: an id consists of digits", ErrBadEmployee)
	case e.Department == "" || keys.Escape(e.Department) != e.Department:
		return fmt.Errorf("%w: a department consists of letters, digits and spaces", ErrBadEmployee)
	}
	e.Stay, e.State, e.CameFrom = rand.Text(), "", ""
	_, err := d.staff.Insert(ctx, &e)
	return err
}

// ErrMoving means that the employee is being transferred or archived.
var ErrMoving = errors.New("employee is moving to another department or to the archive")

// Change changes an employee and updates the views. It returns the changed employee.
func (d *Directory) Change(ctx context.Context, key keys.Key, change func(*Employee)) (Employee, error) {
	item, err := d.staff.Update(ctx, key, func(e *Employee) error {
		if e.State != "" {
			return ErrMoving
		}
		change(e)
		return nil
	})
	return item.Value, err
}
