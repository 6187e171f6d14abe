package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// typeName is the type of err as a type switch over the exported types finds it.
func typeName(err error) string {
	switch err.(type) {
	case *patterns.Error:
		return "Error"
	case *patterns.PropertyError:
		return "PropertyError"
	case *patterns.BatchError:
		return "BatchError"
	case *patterns.ViewError:
		return "ViewError"
	case *patterns.DuplicateError:
		return "DuplicateError"
	case *patterns.ViewMismatchError:
		return "ViewMismatchError"
	case *patterns.PlanError:
		return "PlanError"
	}
	return fmt.Sprintf("%T", err)
}

// innermost returns the first error of a known type in the chain of err.
func innermost(err error) string {
	for err != nil {
		if name := typeName(err); name[0] != '*' {
			return name
		}
		err = errors.Unwrap(err)
	}
	return ""
}

func TestReturnedErrorsHaveTheExportedTypes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[counter](t, b.Table(t), nil)
		v := harness.Insert(t, table, counter{"hits", "0", 1})
		_, missing := table.Get(ctx, keys.Key{Partition: "hits", Row: "none"})
		_, exists := table.Insert(ctx, &counter{"hits", "0", 1})
		_, stale := table.Batch().Insert(&counter{"hits", "0", 1}).Commit(ctx)
		_, property := table.Do(ctx, patterns.MergeOp(v).Only("None"))
		for _, c := range []struct {
			what, want, verb string
			err              error
		}{
			{"get", "Error", "*types.Error", missing},
			{"insert", "Error", "*types.Error", exists},
			{"batch", "BatchError", "*types.BatchError", stale},
		} {
			assert.Equal(t, typeName(c.err), c.want, c.what, "a type switch finds")
			if got := fmt.Sprintf("%T", c.err); got != c.verb {
				t.Errorf("%s: %%T prints %s, want %s", c.what, got, c.verb)
			}
		}
		assert.Equal(t, innermost(property), "PropertyError", "a property without a field: found", "in", property)

		same := func(name string, rows func(*counter) ([]patterns.DerivedRow, error)) *patterns.Store[counter] {
			return assert.Must(patterns.NewStore(table, &patterns.StoreOptions[counter]{Views: []patterns.View[counter]{patterns.ViewOf(name, patterns.Shape{}, rows)}}))(t)
		}
		taken := keys.Key{Partition: "hits", Row: "taken"}
		unique := same("unique", func(*counter) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(taken, patterns.CopySpec{Unique: true})}, nil
		})
		failing := same("failing", func(*counter) ([]patterns.DerivedRow, error) { return nil, context.Canceled })
		large := same("large", func(c *counter) (rows []patterns.DerivedRow, err error) {
			for i := range 100 {
				rows = append(rows, patterns.CopyRow(keys.Key{Partition: "hits", Row: fmt.Sprint("copy", i)}, patterns.CopySpec{}))
			}
			return rows, nil
		})
		assert.Must(unique.Insert(ctx, &counter{"hits", "1", 1}))(t)
		_, duplicate := unique.Insert(ctx, &counter{"hits", "2", 1})
		_, mismatch := failing.Put(ctx, &counter{"hits", "1", 2})
		_, view := failing.Insert(ctx, &counter{"hits", "3", 1})
		_, plan := large.Insert(ctx, &counter{"hits", "4", 1})
		for want, err := range map[string]error{"DuplicateError": duplicate, "ViewMismatchError": mismatch, "ViewError": view, "PlanError": plan} {
			assert.Equal(t, innermost(err), want, "found", "in", err)
		}
		_, stored := unique.Batch().Insert(&counter{"hits", "5", 1}).Insert(&counter{"hits", "5", 1}).Commit(ctx)
		assert.Equal(t, typeName(stored), "BatchError", "StoreBatch: a type switch finds")
	})
}
