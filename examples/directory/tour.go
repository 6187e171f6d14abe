package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// staff returns the employees that are hired first.
func staff() []Employee {
	return []Employee{
		{Department: "Sales", ID: "000152", FirstName: "Mary", LastName: "Jones", Email: "maryj@contoso.com", Badge: "A-17"},
		{Department: "Sales", ID: "000010", FirstName: "Ken", LastName: "Kwok", Email: "kenk@contoso.com", Badge: "A-18", IsManager: true},
		{Department: "Sales", ID: "000223", FirstName: "Jun", LastName: "Cao", Email: "junc@contoso.com", Badge: "A-19"},
		{Department: "Marketing", ID: "000231", FirstName: "Jim", LastName: "Jones", Email: "jimj@contoso.com", Badge: "B-02"},
		{Department: "Marketing", ID: "000160", FirstName: "Ann", LastName: "Beebe", Email: "annb@contoso.com", IsManager: true},
	}
}

// tour demonstrates the operations of a Directory.
type tour struct {
	*Directory
	out io.Writer
}

// run prints what each step returns, and how many requests it made.
func (t *tour) run(ctx context.Context, requests func() int) error {
	return account.Run(ctx, t.out, 72, requests,
		t.create, t.hire, t.idAndEmail, t.badge, t.lastName, t.department, t.emailTaken, t.badgeTaken,
		t.explain, t.marry, t.finish, t.transfer, t.work, t.moved, t.archive, t.work, t.finish, t.check)
}

func (t *tour) create(ctx context.Context) (string, error) {
	return "created three tables and two queues", t.Create(ctx)
}

func (t *tour) hire(ctx context.Context) (string, error) {
	all := staff()
	for _, e := range all {
		if err := t.Hire(ctx, e); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("hired %d employees", len(all)), nil
}

var mary = keys.Key{Partition: "Sales", Row: "000152"}

func (t *tour) idAndEmail(ctx context.Context) (string, error) {
	byID, err := t.staff.Get(ctx, mary)
	if err != nil {
		return "", err
	}
	byEmail, err := t.byEmail.Get(ctx, "Sales", "kenk@contoso.com")
	return fmt.Sprintf("found %s by id, %s by e-mail address", byID.Value.name(), byEmail.Value.name()), err
}

func (t *tour) badge(ctx context.Context) (string, error) {
	copied, err := t.byBadge.Get(ctx, "", "B-02")
	if err != nil {
		return "", err
	}
	// GetFresh also reads the primary row, because the copy may be out of date.
	item, fresh, err := t.byBadge.GetFresh(ctx, "", "A-17", nil)
	return fmt.Sprintf("found %s by badge, %s with a check of the primary: %v", copied.Value.name(), item.Value.name(), fresh), err
}

func (t *tour) lastName(ctx context.Context) (string, error) {
	var names []string
	for item, err := range t.byLastName.Query(ctx, "", "Jones", nil) {
		if err != nil {
			return "", err
		}
		names = append(names, item.Value.name())
	}
	return "found by last name: " + strings.Join(names, ", "), nil
}

func (t *tour) department(ctx context.Context) (string, error) {
	d, err := t.departments.Get(ctx, department("Sales"))
	return fmt.Sprintf("Sales has %d employees and the manager %s", d.Value.EmployeeCount, d.Value.ManagerName), err
}

// refused tries to hire an employee with a value that another employee has.
func (t *tour) refused(ctx context.Context, e Employee) (string, error) {
	err := t.Hire(ctx, e)
	var taken *patterns.DuplicateError
	if !errors.As(err, &taken) {
		return "", fmt.Errorf("hired %s with a value that is taken: %w", e.name(), err)
	}
	return fmt.Sprintf("did not hire %s: the %s is taken", e.name(), taken.View), nil
}

func (t *tour) emailTaken(ctx context.Context) (string, error) {
	return t.refused(ctx, Employee{Department: "Sales", ID: "000301", FirstName: "Ken", LastName: "Kwan", Email: "kenk@contoso.com"})
}

func (t *tour) badgeTaken(ctx context.Context) (string, error) {
	return t.refused(ctx, Employee{Department: "Marketing", ID: "000301", FirstName: "Ken", LastName: "Kwan", Badge: "A-18"})
}

// married is the change to Mary Jones: a new name, and with it a new address and badge.
func married(e *Employee) { e.LastName, e.Email, e.Badge = "Smith", "marys@contoso.com", "A-20" }

func (t *tour) explain(ctx context.Context) (string, error) {
	was, err := t.staff.Get(ctx, mary)
	if err != nil {
		return "", err
	}
	now := was.Value
	married(&now)
	plan, err := t.staff.ExplainChange(&was.Value, &now)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(t.out, "\n%v\n", plan)
	return "read the employee to change; ExplainChange makes no request", nil
}

func (t *tour) marry(ctx context.Context) (string, error) {
	e, err := t.Change(ctx, mary, married)
	return fmt.Sprintf("changed name, address and badge of %s", e.name()), err
}

// finish finishes what the Finisher holds. A service does that when it ends; until then the Finisher does it from time to time.
func (t *tour) finish(ctx context.Context) (string, error) {
	err := t.finisher.Flush(ctx)
	return fmt.Sprintf("finished %d operations so far, those of a department together", t.finisher.Stats().Finished), err
}

func (t *tour) transfer(ctx context.Context) (string, error) {
	return "enqueued a transfer from Sales to Marketing", t.Transfer(ctx, keys.Key{Partition: "Sales", Row: "000223"}, "Marketing")
}

// work runs a worker until it has processed one message.
func (t *tour) work(ctx context.Context) (string, error) {
	return "a worker processed the message (polls included)", t.Work(ctx, 1)
}

func (t *tour) moved(ctx context.Context) (string, error) {
	e, err := t.byBadge.Get(ctx, "", "A-19")
	if err != nil {
		return "", err
	}
	sales, err := t.departments.Get(ctx, department("Sales"))
	if err != nil {
		return "", err
	}
	marketing, err := t.departments.Get(ctx, department("Marketing"))
	return fmt.Sprintf("%s, with the same badge, is in %s; Sales has %d, Marketing %d",
		e.Value.name(), e.Value.Department, sales.Value.EmployeeCount, marketing.Value.EmployeeCount), err
}

func (t *tour) archive(ctx context.Context) (string, error) {
	return "enqueued the archiving of the manager of Sales", t.Archive(ctx, keys.Key{Partition: "Sales", Row: "000010"})
}

func (t *tour) check(ctx context.Context) (string, error) {
	differences, err := t.Check(ctx)
	if len(differences) > 0 {
		err = errors.New("the views differ from the employees: " + strings.Join(differences, "; "))
	}
	return "computed every view from the employees: no row differs", err
}
