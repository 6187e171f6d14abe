package patterns_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func TestAProjectedItemCanBeMergedButNotReplaced(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		harness.Insert(t, table, ann)
		var item patterns.Item[harness.Person]
		for it, err := range table.Query(ctx, query.PartitionKey.Eq("sales"), &patterns.QueryOptions{Select: []string{"Age"}}) {
			if err != nil {
				t.Fatal(err)
			}
			item = it
		}
		if !item.Projected() || item.Value.Age != ann.Age || item.Value.Badge != 0 {
			t.Fatalf("read %+v", item)
		}
		b.ResetRequests()
		_, err := table.Replace(ctx, item)
		harness.WantError(t, err, patterns.ErrProjected)
		_, err = table.Batch().Replace(item).Commit(ctx)
		harness.WantError(t, err, patterns.ErrProjected)
		b.WantRequestCount(t, 0)

		item.Value.Age++
		merged, err := table.Merge(ctx, item)
		if err != nil {
			t.Fatal(err)
		}
		_, err = table.Replace(ctx, merged)
		harness.WantError(t, err, patterns.ErrProjected)
		merged.Value.Age++
		if _, err := table.Batch().Merge(merged).Commit(ctx); err != nil {
			t.Fatal(err)
		}
		ann.Age += 2
		if got := harness.Get(t, table, ann.Key()).Value; !reflect.DeepEqual(got, ann) {
			t.Errorf("the row is %+v, want %+v", got, ann)
		}
	})
}

// keylessEntity has no key, and a field that a projection can leave out.
type keylessEntity struct {
	Name  string
	Count int64
}

// The key function needs a property that the projection omits.
func TestAProjectedItemIsMergedAtTheKeyItWasReadFrom(t *testing.T) {
	incomplete := errors.New("no name, no key")
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table, err := patterns.NewTable(b.Table(t), &patterns.TableOptions[keylessEntity]{Key: func(p *keylessEntity) (keys.Key, error) {
			if p.Name == "" {
				return keys.Key{}, incomplete
			}
			return keys.Key{Partition: "p", Row: p.Name}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Insert(t.Context(), &keylessEntity{"a", 1}); err != nil {
			t.Fatal(err)
		}
		for item, err := range table.Query(t.Context(), query.PartitionKey.Eq("p"), &patterns.QueryOptions{Select: []string{"Count"}}) {
			if err != nil {
				t.Fatal(err)
			}
			item.Value.Count = 2
			if _, err := table.Merge(t.Context(), item); err != nil {
				t.Fatal(err)
			}
		}
		item, err := table.Get(t.Context(), keys.Key{Partition: "p", Row: "a"})
		if err != nil || item.Value != (keylessEntity{"a", 2}) {
			t.Errorf("read %+v, %v", item.Value, err)
		}
	})
}

func TestAWrittenItemKeepsThePropertiesThatWithAdded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, stamped := range []bool{false, true} {
			table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[counter]{StampWrites: stamped})
			v := counter{"hits", "0", 1}
			item, err := table.Do(t.Context(), patterns.InsertOp(&v).With("Kind", "counter"))
			if err != nil {
				t.Fatal(err)
			}
			item.Value.N = 2
			if item, err = table.Replace(t.Context(), item); err != nil {
				t.Fatal(err)
			}
			if item, err = table.Do(t.Context(), patterns.MergeOp(item).With("More", "text")); err != nil {
				t.Fatal(err)
			}
			if item, err = table.Do(t.Context(), patterns.ReplaceOp(item).With("Kind", "tally")); err != nil {
				t.Fatal(err)
			}
			for what, item := range map[string]patterns.Item[counter]{"written": item, "read": harness.Get(t, table, tally)} {
				kind, _ := item.Property("Kind")
				if more, _ := item.Property("More"); kind != "tally" || more != "text" || item.Value.N != 2 {
					t.Errorf("%s: %+v with %v and %v", what, item.Value, kind, more)
				}
			}
		}
	})
}
