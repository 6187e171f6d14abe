package compoundkey_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
)

func TestFamiliesAgreeWithAModel(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		text := rapid.StringMatching(`[0-9a-b_/' ]{1,4}`)
		for _, opts := range []*compoundkey.Options{nil, {BareParent: true}} {
			f := newFamily(t, b, opts)
			run := 0
			rapid.Check(t, func(rt *rapid.T) {
				run++
				partition := fmt.Sprint("p", run)
				model := map[string]map[string]bool{}
				for range rapid.IntRange(1, 6).Draw(rt, "families") {
					id := text.Draw(rt, "id")
					if model[id] != nil {
						continue
					}
					model[id] = map[string]bool{}
					assert.NoError(rt, assert.ErrorOf(f.Insert(t.Context(), &employee{Department: partition, ID: id})))
					for range rapid.IntRange(0, 4).Draw(rt, "children") {
						year := text.Draw(rt, "year")
						_, err := f.AddChild(t.Context(), &review{Department: partition, EmployeeID: id, Year: year})
						if model[id][year] != errors.Is(err, patterns.ErrExists) || err != nil && !errors.Is(err, patterns.ErrExists) {
							rt.Fatalf("insert of a child that exists: %v: %v", model[id][year], err)
						}
						model[id][year] = true
					}
				}
				for id, years := range model {
					m, err := f.Get(t.Context(), compoundkey.ID{Partition: partition, Parent: id})
					if err != nil || m.Parent == nil || len(m.Children) != len(years) {
						rt.Fatalf("%q: %d children, want %d, %v", id, len(m.Children), len(years), err)
					}
					if !slices.IsSortedFunc(m.Children, func(a, b patterns.Item[review]) int {
						return keys.Compare(a.Value.Year, b.Value.Year)
					}) {
						rt.Fatalf("%q: children out of order", id)
					}
				}
			})
		}
	})
}

func TestTheZeroFamilyReturnsErrNil(t *testing.T) {
	ctx, id := t.Context(), sales("1")
	var f family
	ken := &employee{Department: "Sales", ID: "1"}
	children := func() error {
		for _, err := range f.Children(ctx, id, compoundkey.Span{}, nil) {
			return err
		}
		return nil
	}
	for what, err := range map[string]error{
		"Parent":           assert.ErrorOf(f.Parent(ctx, id)),
		"Child":            assert.ErrorOf(f.Child(ctx, id, "2012")),
		"Children":         children(),
		"Page":             assert.ErrorOf(f.Page(ctx, id, compoundkey.Span{}, "", nil)),
		"Get":              assert.ErrorOf(f.Get(ctx, id)),
		"Insert":           assert.ErrorOf(f.Insert(ctx, ken)),
		"AddChild":         assert.ErrorOf(f.AddChild(ctx, &review{})),
		"Update":           third(f.Update(ctx, id, "2012", func(*employee, *review) error { return nil })),
		"Delete":           f.Delete(ctx, id),
		"Create":           f.Create(ctx),
		"Transaction":      assert.ErrorOf(f.Transaction().Parent(patterns.InsertOp(ken)).Commit(ctx)),
		"zero Transaction": assert.ErrorOf(new(compoundkey.Transaction[employee, review]).Child(patterns.InsertOp(&review{})).Commit(ctx)),
	} {
		assert.WantError(t, err, patterns.ErrNil, what, "want ErrNil")
	}
	assert.WantError(t, assert.ErrorOf(compoundkey.New(nil, employeeID, reviewID, nil)), patterns.ErrNil, "nil client")
}

func TestInvalidArgumentsAreRefusedBeforeARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		f, ctx := newFamily(t, b, nil), t.Context()
		b.ResetRequests()
		long := strings.Repeat("x", 512)
		many := make([]*review, 100)
		for i := range many {
			many[i] = &review{Department: "Sales", EmployeeID: "1", Year: fmt.Sprint(i)}
		}
		for _, c := range []struct {
			what string
			err  error
			want error
		}{
			{"empty parent id", assert.ErrorOf(f.Insert(ctx, &employee{Department: "Sales"})), compoundkey.ErrNoID},
			{"empty child id", assert.ErrorOf(f.Insert(ctx, &employee{Department: "Sales", ID: "1"}, &review{Department: "Sales", EmployeeID: "1"})), compoundkey.ErrNoID},
			{"child of another", assert.ErrorOf(f.Insert(ctx, &employee{Department: "Sales", ID: "1"}, &review{Department: "Sales", EmployeeID: "2", Year: "1"})), compoundkey.ErrWrongParent},
			{"nil parent", assert.ErrorOf(f.Insert(ctx, nil)), patterns.ErrNil},
			{"nil child", assert.ErrorOf(f.Insert(ctx, &employee{Department: "Sales", ID: "1"}, nil)), patterns.ErrNil},
			{"101 rows", assert.ErrorOf(f.Insert(ctx, &employee{Department: "Sales", ID: "1"}, many...)), patterns.ErrTooLarge},
			{"long id", assert.ErrorOf(f.Insert(ctx, &employee{Department: "Sales", ID: long})), patterns.ErrBadKey},
			{"slash in the partition", assert.ErrorOf(f.Insert(ctx, &employee{Department: "a/b", ID: "1"})), patterns.ErrBadKey},
			{"nil function", third(f.Update(ctx, sales("1"), "2", nil)), patterns.ErrNil},
			{"delete of no id", f.Delete(ctx, sales("")), compoundkey.ErrNoID},
		} {
			assert.WantError(t, c.err, c.want, c.what)
		}
		b.WantRequestCount(t, 0)
		assert.WantError(t, assert.ErrorOf(compoundkey.New[employee, review](b.Table(t), nil, reviewID, nil)), patterns.ErrNil, "nil id function")
	})
}

func TestCreate(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		b.WantCreate(t, func(client *aztables.Client) func(context.Context) error {
			return assert.Must(compoundkey.New(client, employeeID, reviewID, nil))(t).Create
		})
	})
}
