package patterns_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// badge has some properties of a person.
type badge struct {
	Dept      string `table:"PartitionKey"`
	Name      string `table:"RowKey"`
	Timestamp time.Time
	Badge     int64
	Note      *string
}

func TestAReaderReturnsItsPropertiesAndKeys(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann, bob := harness.NewPerson("ann"), harness.NewPerson("bob")
		ann.Note = "here"
		harness.Insert(t, table, ann)
		harness.Insert(t, table, bob)
		reader := assert.Must(patterns.Project[badge](table))(t)
		check := func(what string, items ...patterns.Item[badge]) {
			t.Helper()
			assert.Equal(assert.Now(t), len(items), 2, what, "items")
			a, b := items[0], items[1]
			if a.Key != ann.Key() || a.ETag == "" || a.Timestamp.IsZero() || !a.Projected() {
				t.Errorf("%s: the system properties are %+v", what, a)
			}
			v := a.Value
			if v.Dept != "sales" || v.Name != "ann" || !v.Timestamp.Equal(a.Timestamp) || v.Badge != 1<<60 || v.Note == nil || *v.Note != "here" {
				t.Errorf("%s: the value is %+v", what, v)
			}
			if b.Value.Note != nil {
				t.Errorf("%s: a property that the row lacks is %q", what, *b.Value.Note)
			}
		}

		a := assert.Must(reader.Get(t.Context(), ann.Key()))(t)
		o := assert.Must(reader.Get(t.Context(), bob.Key()))(t)
		check("Get", a, o)
		assert.WantError(t, assert.ErrorOf(reader.Get(t.Context(), keys.Key{Partition: "sales", Row: "eve"})), patterns.ErrNotFound, "Get of no row")

		all := query.And(query.PartitionKey.Eq("sales"), query.Prop("Age").Eq(int32(42))) // Age is not badge's
		check("Query", assert.All(t, reader.Query(t.Context(), all, nil))...)
		both := query.And(query.PartitionKey.Eq("sales"), query.RowKey.In("ann", "bob"))
		check("Query of points", assert.All(t, reader.Query(t.Context(), both, nil))...)
		page := assert.Must(reader.Page(t.Context(), both, "", nil))(t)
		check("Page", page.Items...)
	})
}

// everyType has a property of each type, and both keys.
type everyType struct {
	Dept  string `table:"PartitionKey"`
	Name  string `table:"RowKey"`
	Text  string
	Yes   bool
	Small int32
	Large int64
	Whole float64
	Real  float64
	NaN   float64
	Less  float64
	At    time.Time
	Bytes []byte
	ID    [16]byte
	Opt   *int64
}

func TestAReaderWithoutMetadataReadsEveryTypeExactly(t *testing.T) {
	type narrow struct {
		Text  string
		Yes   bool
		Small int32
		Large int64
		Whole float64
		Real  float64
		NaN   float64
		Less  float64
		At    time.Time
		Bytes []byte
		ID    [16]byte
		Opt   *int64
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[everyType](t, b.Table(t), nil)
		row := everyType{
			Dept: "d", Name: "n", Text: "9007199254740993", Yes: true, Small: math.MinInt32, Large: 1<<53 + 1,
			Whole: 3, Real: 0.1, NaN: math.NaN(), Less: math.Inf(-1), At: time.Date(2026, 1, 2, 3, 4, 5, 123456700, time.UTC),
			Bytes: []byte{0, 255}, ID: [16]byte{1, 2, 15: 3}, Opt: new(int64),
		}
		harness.Insert(t, table, row)
		reader := assert.Must(patterns.Project[narrow](table))(t)
		b.ResetRequests()
		item := assert.Must(reader.Get(t.Context(), keys.Key{Partition: "d", Row: "n"}))(t)
		bare := b.Requests()[0].ReplyBytes
		v := item.Value
		if !math.IsNaN(v.NaN) {
			t.Errorf("NaN is %v", v.NaN)
		}
		v.NaN, row.NaN = 0, 0
		want := narrow{row.Text, row.Yes, row.Small, row.Large, row.Whole, row.Real, row.NaN, row.Less, row.At, row.Bytes, row.ID, row.Opt}
		assert.DeepEqual(t, v, want, "read")
		if item.Key != (keys.Key{Partition: "d", Row: "n"}) || !item.Timestamp.IsZero() {
			t.Errorf("the item has %+v, %q, %v", item.Key, item.ETag, item.Timestamp)
		}
		assert.WantError(t, table.Delete(t.Context(), item.Key, item.ETag), patterns.ErrBadETag, "a delete with the ETag of the item")

		type tagged struct {
			narrow
			ETag azcore.ETag
		}
		withTag := assert.Must(patterns.Project[tagged](table))(t)
		b.ResetRequests()
		same, err := withTag.Get(t.Context(), item.Key)
		if err != nil || same.ETag == "" || same.Timestamp.IsZero() || same.Value.ETag != same.ETag {
			t.Errorf("with a field ETag: %+v, %v", same, err)
		}
		if full := b.Requests()[0].ReplyBytes; full < 2*bare {
			t.Errorf("%d bytes without metadata, %d with it", bare, full)
		}
	})
}

// The key of a partition that the filter fixes need not be sent with each row.
func TestAReaderOfOnePartitionAddsItsKey(t *testing.T) {
	type narrow struct {
		Dept string `table:"PartitionKey"`
		Age  int32
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann, eve := harness.NewPerson("ann"), harness.NewPerson("eve")
		eve.Dept = "" // is legal
		harness.Insert(t, table, ann)
		harness.Insert(t, table, eve)
		reader := assert.Must(patterns.Project[narrow](table))(t)
		check := func(f query.Filter, want ...harness.Person) (replyBytes int64) {
			t.Helper()
			b.ResetRequests()
			items := assert.All(t, reader.Query(t.Context(), f, &patterns.QueryOptions{Allow: query.TableScan}))
			assert.Equal(assert.Now(t), len(items), len(want), "items")
			for i, item := range items {
				assert.Equal(t, item.Key, want[i].Key())
				assert.Equal(t, item.Value, narrow{want[i].Dept, want[i].Age})
			}
			return b.Requests()[0].ReplyBytes
		}
		pk := query.PartitionKey
		one := check(pk.Eq("sales"), ann)
		if several := check(pk.Ge("sales"), ann); several-one != int64(len(`"PartitionKey":"sales",`)) {
			t.Errorf("a reply of %d bytes for one partition, and %d for several", one, several)
		}
		check(pk.Eq(""), eve)
		check(query.And(pk.Eq("sales"), query.RowKey.In("a", "ann")), ann)
		check(query.And(pk.Ge("sales"), pk.Le("sales")), ann)
		check(query.Or(query.And(pk.Eq("sales"), query.RowKey.Lt("b")), query.And(pk.Eq("sales"), query.Prop("Age").Eq(int32(42)))), ann)
		check(pk.In("", "sales"), eve, ann)
		check(query.Filter{}, eve, ann)

		page, err := reader.Page(t.Context(), pk.Eq("sales"), "", &patterns.QueryOptions{PageSize: 1})
		if err != nil || len(page.Items) != 1 || page.Items[0].Key != ann.Key() {
			t.Errorf("a page: %+v, %v", page, err)
		}
	})
}

func TestNothingIsWrittenWithAnItemWithoutAVersion(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		harness.Insert(t, table, ann)
		item := assert.Must(assert.Must(patterns.Project[harness.Person](table))(t).Get(t.Context(), ann.Key()))(t)
		b.ResetRequests()
		do := func(op patterns.Op[harness.Person]) error { _, err := table.Do(t.Context(), op); return err }
		bulk := func(op patterns.Op[harness.Person]) error {
			report, err := table.Bulk(t.Context(), slices.Values([]patterns.Op[harness.Person]{op}), nil)
			if err == nil && len(report.Failures) == 1 {
				err = report.Failures[0].Err
			}
			return err
		}
		for name, err := range map[string]error{
			"Merge":             do(patterns.MergeOp(item)),
			"Replace":           do(patterns.ReplaceOp(item)),
			"Delete":            do(patterns.DeleteOp[harness.Person](item.Key, item.ETag)),
			"Merge in Bulk":     bulk(patterns.MergeOp(item)),
			"Delete in Bulk":    bulk(patterns.DeleteOp[harness.Person](item.Key, item.ETag)),
			"Merge of a change": do(patterns.MergeOp(item).Only("Age")),
		} {
			if !errors.Is(err, patterns.ErrBadETag) && !errors.Is(err, patterns.ErrProjected) {
				t.Errorf("%s: %v", name, err)
			}
		}
		assert.Equal(t, len(b.Requests()), 0, "requests")
	})
}

func TestAProjectionSavesBytes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		ann.Photo = make([]byte, 10_000)
		harness.Insert(t, table, ann)
		reply := func(opts *patterns.QueryOptions) int64 {
			t.Helper()
			b.ResetRequests()
			assert.All(t, table.Query(t.Context(), query.And(query.PartitionKey.Eq("sales"), query.RowKey.Ge("a")), opts))
			log := b.Requests()
			assert.Equal(assert.Now(t), len(log), 1, "requests")
			return log[0].ReplyBytes
		}
		whole, part := reply(nil), reply(&patterns.QueryOptions{Select: []string{"Badge"}})
		none := reply(&patterns.QueryOptions{Select: []string{}})
		if whole < 13_000 || part > 1000 || none >= part || none == 0 {
			t.Errorf("replies of %d, %d and %d bytes for all properties, one and none", whole, part, none)
		}
	})
}

func TestSelectReadsOnlyTheNamedProperties(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		harness.Insert(t, table, ann)
		opts := &patterns.QueryOptions{Select: []string{"Age", "Timestamp", "RowKey", "Age"}}
		for _, f := range []query.Filter{query.PartitionKey.Eq("sales"), query.And(query.PartitionKey.Eq("sales"), query.RowKey.Eq("ann"))} {
			items := assert.All(t, table.Query(t.Context(), f, opts))
			if len(items) != 1 || items[0].Key != ann.Key() || items[0].Timestamp.IsZero() || items[0].ETag == "" {
				t.Fatalf("got %+v", items)
			}
			if v := items[0].Value; v.Age != 42 || v.Badge != 0 || v.Photo != nil || v.Name != "ann" {
				t.Errorf("got %+v", v)
			}
		}
		bad := &patterns.QueryOptions{Select: []string{"age"}}
		b.ResetRequests()
		for _, err := range table.Query(t.Context(), query.PartitionKey.Eq("sales"), bad) {
			var p *patterns.PropertyError
			if !errors.As(err, &p) || p.Property != "age" {
				t.Errorf("got %v", err)
			}
		}
		b.WantRequestCount(t, 0)
	})
}

func TestProjectRefusesPropertiesThatTheTableDoesNotHave(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
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
		type properties = map[string]any
		loose := harness.NewTable(t, b.Table(t), &patterns.TableOptions[properties]{Keyless: true})
		assert.Equal(t, assert.ErrorOf(patterns.Project[struct{ Anything int64 }](loose)), nil, "of a table of maps")
	})
}

func TestAScanOfAReaderReadsItsPropertiesOnly(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		harness.Insert(t, table, harness.NewPerson("ann"))
		reader := assert.Must(patterns.Project[badge](table))(t)
		for page, err := range reader.Scan(t.Context(), query.Prop("Age").Eq(int32(42)), "", nil) {
			assert.NoError(t, err)
			if len(page.Items) != 1 || page.Items[0].Value.Badge != 1<<60 || !page.Items[0].Projected() {
				t.Errorf("got %+v", page.Items)
			}
		}
	})
}
