package compoundkey_test

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
)

type employee struct {
	Department string
	ID         string
	FirstName  string
	Reviews    int64
}

type review struct {
	Department    string
	EmployeeID    string
	Year          string
	ManagerRating int32
	Comments      string
}

func employeeID(e *employee) compoundkey.ID {
	return compoundkey.ID{Partition: e.Department, Parent: e.ID}
}

func reviewID(r *review) (compoundkey.ID, string) {
	return compoundkey.ID{Partition: r.Department, Parent: r.EmployeeID}, r.Year
}

type family = compoundkey.Family[employee, review]

func newFamily(t testing.TB, b *harness.Backend, opts *compoundkey.Options) *family {
	t.Helper()
	f := assert.Must(compoundkey.New(b.Table(t), employeeID, reviewID, opts))(t)
	return f
}

func sales(id string) compoundkey.ID { return compoundkey.ID{Partition: "Sales", Parent: id} }

// hire inserts an employee with a review for each of the years.
func hire(t testing.TB, f *family, id string, years ...string) {
	t.Helper()
	var reviews []*review
	for _, y := range years {
		reviews = append(reviews, &review{Department: "Sales", EmployeeID: id, Year: y, ManagerRating: 3})
	}
	assert.NoError(t, assert.ErrorOf(f.Insert(t.Context(), &employee{Department: "Sales", ID: id, FirstName: "E" + id}, reviews...)))
}

func yearsOf(t testing.TB, f *family, id compoundkey.ID, span compoundkey.Span) []string {
	t.Helper()
	var years []string
	for item, err := range f.Children(t.Context(), id, span, nil) {
		assert.NoError(t, err)
		years = append(years, item.Value.Year)
	}
	return years
}

// modes runs body with both forms of the parent's key.
func modes(t *testing.T, body func(t *testing.T, b *harness.Backend, opts *compoundkey.Options)) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		t.Run("separated parent", func(t *testing.T) { body(t, b, nil) })
		t.Run("bare parent", func(t *testing.T) { body(t, b, &compoundkey.Options{BareParent: true}) })
	})
}

func third(_, _ any, err error) error { return err }
