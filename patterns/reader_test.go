package patterns_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// badge is a part of a person.
type badge struct {
	Dept      string `table:"PartitionKey"`
	Name      string `table:"RowKey"`
	Timestamp time.Time
	Badge     int64
	Note      *string
}

func TestReaderGivesItsPropertiesAndTheSystemsWhateverTheWay(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := people(t, b)
		ann, bob := somebody("ann"), somebody("bob")
		ann.Note = "here"
		wrote := insert(t, table, ann)
		insert(t, table, bob)
		reader, err := patterns.Project[badge](table)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, items ...patterns.Item[badge]) {
			t.Helper()
			if len(items) != 2 {
				t.Fatalf("%s: %d items", what, len(items))
			}
			a, b := items[0], items[1]
			if a.Key != ann.key() || a.ETag != wrote.ETag || a.Timestamp.IsZero() || !a.Projected() {
				t.Errorf("%s: the system's properties are %+v", what, a)
			}
			v := a.Value
			if v.Dept != "sales" || v.Name != "ann" || !v.Timestamp.Equal(a.Timestamp) || v.Badge != 1<<60 || v.Note == nil || *v.Note != "here" {
				t.Errorf("%s: the value is %+v", what, v)
			}
			if b.Value.Note != nil {
				t.Errorf("%s: a property that the row lacks is %q", what, *b.Value.Note)
			}
		}

		a, err := reader.Get(t.Context(), ann.key())
		if err != nil {
			t.Fatal(err)
		}
		o, err := reader.Get(t.Context(), bob.key())
		if err != nil {
			t.Fatal(err)
		}
		check("Get", a, o)
		if _, err := reader.Get(t.Context(), keys.Key{Partition: "sales", Row: "eve"}); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("Get of no row: %v", err)
		}

		all := query.And(partitionIs("sales"), query.Prop("Age").Eq(int32(42))) // Age is not badge's
		check("Query", collect(t, reader.Query(t.Context(), all, nil))...)
		both := query.And(partitionIs("sales"), query.RowKey.In("ann", "bob"))
		check("Query of points", collect(t, reader.Query(t.Context(), both, nil))...)
		page, err := reader.Page(t.Context(), both, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		check("Page", page.Items...)
	})
}

func TestAProjectionSavesBytes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := people(t, b)
		ann := somebody("ann")
		ann.Photo = make([]byte, 10_000)
		insert(t, table, ann)
		reply := func(opts *patterns.QueryOptions) int64 {
			t.Helper()
			b.ResetRequests()
			collect(t, table.Query(t.Context(), query.And(partitionIs("sales"), query.RowKey.Ge("a")), opts))
			log := b.Requests()
			if len(log) != 1 {
				t.Fatalf("%d requests", len(log))
			}
			return log[0].ReplyBytes
		}
		whole, part := reply(nil), reply(&patterns.QueryOptions{Select: []string{"Badge"}})
		none := reply(&patterns.QueryOptions{Select: []string{}})
		if whole < 13_000 || part > 1000 || none >= part || none == 0 {
			t.Errorf("replies of %d, %d and %d bytes for all properties, one and none", whole, part, none)
		}
	})
}

func TestSelectLeavesTheRestZeroAndAsksForEachNameOnce(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := people(t, b)
		ann := somebody("ann")
		insert(t, table, ann)
		opts := &patterns.QueryOptions{Select: []string{"Age", "Timestamp", "RowKey", "Age"}}
		for _, f := range []query.Filter{partitionIs("sales"), query.And(partitionIs("sales"), query.RowKey.Eq("ann"))} {
			items := collect(t, table.Query(t.Context(), f, opts))
			if len(items) != 1 || items[0].Key != ann.key() || items[0].Timestamp.IsZero() || items[0].ETag == "" {
				t.Fatalf("got %+v", items)
			}
			if v := items[0].Value; v.Age != 42 || v.Badge != 0 || v.Photo != nil || v.Name != "ann" {
				t.Errorf("got %+v", v)
			}
		}
		bad := &patterns.QueryOptions{Select: []string{"age"}}
		b.ResetRequests()
		for _, err := range table.Query(t.Context(), partitionIs("sales"), bad) {
			var p *patterns.PropertyError
			if !errors.As(err, &p) || p.Property != "age" {
				t.Errorf("got %v", err)
			}
		}
		cost(t, b, 0)
	})
}

func TestIntoRefusesWhatTheTableDoesNotHave(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := people(t, b)
		for what, into := range map[string]func() error{
			"Ages": func() error { _, err := patterns.Project[struct{ Ages int32 }](table); return err },
			"Age":  func() error { _, err := patterns.Project[struct{ Age int64 }](table); return err },
		} {
			err := into()
			var p *patterns.PropertyError
			if !errors.As(err, &p) || p.Property != what {
				t.Errorf("%s: got %v", what, err)
			}
		}
		type bag = map[string]any
		loose := newTable(t, b.Table(t), &patterns.TableOptions[bag]{Keyless: true})
		if _, err := patterns.Project[struct{ Anything int64 }](loose); err != nil {
			t.Errorf("of a table of bags: %v", err)
		}
	})
}

// A page may be empty, with more to follow, also where one row is asked for.
func TestAPointSurvivesEmptyPages(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := newTable[mark](t, b.Table(t), nil)
		insert(t, table, mark{"p", "a", 1})
		insert(t, table, mark{"p", "b", 2})
		insert(t, table, mark{"", "a", 3})
		reader, err := patterns.Project[struct{ N int32 }](table)
		if err != nil {
			t.Fatal(err)
		}
		b.Fault(emptyPages)
		for _, k := range []keys.Key{{Partition: "p", Row: "a"}, {Row: "a"}} {
			if _, err := reader.Get(t.Context(), k); err != nil {
				t.Errorf("a projected Get: %v", err)
			}
			if _, err := table.Get(t.Context(), k); err != nil {
				t.Errorf("Get: %v", err)
			}
		}
		page, err := reader.Page(t.Context(), query.And(partitionIs("p"), query.RowKey.In("a", "b", "c")), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := slices.Collect(func(yield func(int32) bool) {
			for _, item := range page.Items {
				yield(item.Value.N)
			}
		}); !slices.Equal(n, []int32{1, 2}) || page.Cursor != "" {
			t.Errorf("got %v, cursor %q", n, page.Cursor)
		}
	})
}
