package patterns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// clerk is an entity whose key follows from its properties.
type clerk struct {
	Dept, ID    string
	Name, Email string
	Members     int32 // a list row has a text of this name
}

func (c *clerk) key() keys.Key { return keys.Key{Partition: c.Dept, Row: "id_" + c.ID} }

func clerkKey(c *clerk) (keys.Key, error) {
	if c.ID == "" {
		panic("an entity of another type")
	}
	return c.key(), nil
}

// nameList is a list of row keys, separated by commas.
type nameList struct{}

func (nameList) members(row map[string]any) []string {
	text, _ := row["Members"].(string)
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

func (l nameList) Add(row map[string]any, m keys.Key) (bool, error) {
	list := l.members(row)
	if slices.Contains(list, m.Row) {
		return false, nil
	}
	row["Members"] = strings.Join(append(list, m.Row), ",")
	return true, nil
}

func (l nameList) Remove(row map[string]any, m keys.Key) (bool, error) {
	list := l.members(row)
	kept := slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == m.Row })
	row["Members"] = strings.Join(kept, ",")
	return len(kept) < len(list), nil
}

func (l nameList) Len(row map[string]any) (int, error) { return len(l.members(row)), nil }

// clerkViews have rows of every kind, all in the partition "sales".
func clerkViews() []patterns.View[clerk] {
	sales := func(row string) keys.Key { return keys.Key{Partition: "sales", Row: row} }
	return []patterns.View[clerk]{
		patterns.ViewOf("email", patterns.Shape{Remote: true}, func(c *clerk) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(sales("email_"+c.Email), patterns.CopySpec{Unique: true})}, nil
		}),
		patterns.ViewOf("names", patterns.Shape{Kind: patterns.Members, List: nameList{}, Remote: true}, func(c *clerk) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.MemberRow(sales("name_" + c.Name))}, nil
		}),
		patterns.ViewOf("stats", patterns.Shape{Kind: patterns.Merges, Remote: true}, func(c *clerk) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.MergeRow(sales("stats"), patterns.MergeSpec{Add: map[string]any{"Clerks": int64(1)}})}, nil
		}),
		patterns.ViewOf("chief", patterns.Shape{Kind: patterns.Merges, Remote: true}, func(c *clerk) ([]patterns.DerivedRow, error) {
			// id_00 is a clerk, id_99 does not exist.
			to := map[string]string{"01": "id_00", "02": "id_99"}[c.ID]
			if to == "" || c.Dept != "sales" {
				return nil, nil
			}
			return []patterns.DerivedRow{patterns.MergeRow(sales(to), patterns.MergeSpec{Set: map[string]any{"Deputy": c.Name}, Add: map[string]any{"Clerks": int64(1)}})}, nil
		}),
	}
}

// mixedTable is a table with 25 clerks in the partition "sales", five in "ops", and rows of
// every other kind between them.
type mixedTable struct {
	client *aztables.Client
	all    []string // the row keys of the clerks in "sales", in order
}

func (m *mixedTable) store(t *testing.T, client *aztables.Client, opts *patterns.StoreOptions[clerk]) *patterns.Store[clerk] {
	t.Helper()
	opts.Views, opts.Outbox = clerkViews(), &harness.OutboxQueue{}
	s := assert.Must(patterns.NewStore(harness.NewTable(t, client, &patterns.TableOptions[clerk]{Key: clerkKey}), opts))(t)
	return s
}

func newMixedTable(t *testing.T, b *harness.Backend) (*mixedTable, *patterns.Store[clerk]) {
	t.Helper()
	m := &mixedTable{client: b.Table(t)}
	s := m.store(t, m.client, &patterns.StoreOptions[clerk]{})
	for i := range 30 {
		c := clerk{Dept: "sales", ID: fmt.Sprintf("%02d", i), Name: fmt.Sprint("n", i%4), Email: fmt.Sprintf("e%02d", i)}
		if i >= 25 {
			c.Dept = "ops"
		} else {
			m.all = append(m.all, c.key().Row)
		}
		assert.Must(s.Insert(t.Context(), &c))(t)
	}
	for _, row := range []map[string]any{
		{"RowKey": "~azp_outbox_X", "azp_state": "pending", "Members": "text"}, // of an operation in progress
		{"RowKey": "email_old", "azp_pk": "sales", "azp_rk": "id_1", "azp_view": "retired", "Dept": "sales", "ID": "00"},
		{"RowKey": "email_held", "azp_pk": "sales", "azp_rk": "id_1", "azp_view": "email", "azp_state": "reserved"},
		{"RowKey": "id_proj", "Title": "an entity of another type"},
		{"RowKey": "id_proj2", "Dept": "sales", "ID": "00", "Name": "at a wrong key"},
		{"RowKey": "", "Name": "n1"},
	} {
		row["PartitionKey"] = "sales"
		body := assert.Must(json.Marshal(row))(t)
		assert.NoError(t, assert.ErrorOf(m.client.AddEntity(t.Context(), body, nil)))
	}
	b.ResetRequests()
	return m, s
}

func inSales(fs ...query.Filter) query.Filter {
	return query.And(append([]query.Filter{query.PartitionKey.Eq("sales")}, fs...)...)
}

func rowKeysOf[T any](items []patterns.Item[T]) []string {
	var rows []string
	for _, item := range items {
		rows = append(rows, item.Key.Row)
	}
	return rows
}

func collect[T any](t *testing.T, s *patterns.Store[T], f query.Filter, opts *patterns.QueryOptions) []patterns.Item[T] {
	t.Helper()
	var items []patterns.Item[T]
	for item, err := range s.Query(t.Context(), f, opts) {
		assert.NoError(t, err)
		items = append(items, item)
	}
	return items
}

func TestAStoreQueryReturnsExactlyThePrimaries(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		m, s := newMixedTable(t, b)
		for what, c := range map[string]struct {
			filter   query.Filter
			opts     *patterns.QueryOptions
			want     []string
			requests int
		}{
			"the partition":       {inSales(), nil, m.all, 1},
			"the table":           {query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan, Limit: 8}, append([]string{"id_25", "id_26", "id_27", "id_28", "id_29"}, m.all[:3]...), 2},
			"a range":             {inSales(query.RowKey.Ge("id_1"), query.RowKey.Lt("id_2")), nil, m.all[10:20], 1},
			"by a property":       {inSales(query.Prop("Name").Eq("n1")), nil, []string{"id_01", "id_05", "id_09", "id_13", "id_17", "id_21"}, 1},
			"a primary":           {inSales(query.RowKey.Eq("id_07")), nil, m.all[7:8], 1},
			"a copy":              {inSales(query.RowKey.Eq("email_e07")), nil, nil, 1},
			"a list":              {inSales(query.RowKey.Eq("name_n1")), nil, nil, 1},
			"merged rows":         {inSales(query.RowKey.In("stats", "id_99", "id_00")), nil, m.all[:1], 3},
			"another type":        {inSales(query.RowKey.In("id_proj", "id_proj2", "")), nil, nil, 3},
			"a limit":             {inSales(), &patterns.QueryOptions{Limit: 3}, m.all[:3], 2},
			"a limit in a range":  {inSales(query.RowKey.Ge("id_")), &patterns.QueryOptions{Limit: 3}, m.all[:3], 1},
			"a limit of all":      {inSales(), &patterns.QueryOptions{Limit: 25}, m.all, 2},
			"small pages":         {inSales(query.RowKey.Prefix("id_")), &patterns.QueryOptions{PageSize: 4}, m.all, 7},
			"reserved rows":       {inSales(query.RowKey.Ge("~")), nil, nil, 1},
			"part of a primary":   {inSales(query.RowKey.Eq("id_07")), &patterns.QueryOptions{Select: []string{"Name"}}, m.all[7:8], 1},
			"part of a list":      {inSales(query.RowKey.Eq("name_n1")), &patterns.QueryOptions{Select: []string{"Name"}}, nil, 1},
			"part of merged rows": {inSales(query.RowKey.In("stats", "id_99", "id_00")), &patterns.QueryOptions{Select: []string{}}, m.all[:1], 3},
		} {
			b.ResetRequests()
			got := collect(t, s, c.filter, c.opts)
			requests := len(b.Requests())
			assert.EqualSlices(t, rowKeysOf(got), c.want, what)
			if b.InProcess() && requests != c.requests { // Azurite ends pages elsewhere
				t.Errorf("%s: %d requests, want %d", what, requests, c.requests)
			}
			for _, item := range got {
				if item.Key != item.Value.key() && !item.Projected() {
					t.Errorf("%s: %+v", what, item)
				}
			}
		}
	})
}

func TestASelectionOfAStoreShowsOnlyWhatWasSelected(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		m, s := newMixedTable(t, b)
		isClerk := query.RowKey.Prefix("id_")
		filtered := m.store(t, m.client, &patterns.StoreOptions[clerk]{Primaries: query.And(isClerk, query.Prop("Email").Ge(""))})
		b.ResetRequests()
		for what, s := range map[string]*patterns.Store[clerk]{"by key": s, "by Primaries": filtered} {
			points := inSales(query.RowKey.In("id_03", "id_00", "email_e00", "stats", "id_99", "name_n1"))
			for want, f := range map[int]query.Filter{25: inSales(isClerk), 2: points} {
				items := collect(t, s, f, &patterns.QueryOptions{Select: []string{"Name"}})
				if rows := rowKeysOf(items); len(rows) != want || rows[0] != m.all[0] {
					t.Errorf("%s: %q", what, rowKeysOf(items))
				}
				for _, item := range items {
					_, views := item.Property("azp_views")
					_, deputy := item.Property("Deputy")
					if v := item.Value; v != (clerk{Name: v.Name}) || v.Name == "" || !item.Projected() || views || deputy || item.ETag == "" {
						t.Errorf("%s: %+v", what, item)
					}
					_, err := s.Table().Replace(t.Context(), item)
					assert.WantError(t, err, patterns.ErrProjected)
				}
			}
		}
	})
}

func TestPagesOfAStoreContainExactlyThePrimaries(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		m, s := newMixedTable(t, b)
		rules := [][]storagetest.Rule{nil}
		if b.InProcess() {
			rules = append(rules, []storagetest.Rule{storagetest.On("Table.Query").ShortPage(2)}, []storagetest.Rule{storagetest.On("Table.Query").EmptyPage().Probability(0.4)})
		}
		for _, rules := range rules {
			for _, opts := range []*patterns.QueryOptions{{PageSize: 7}, {Limit: 3}, {PageSize: 5, Select: []string{"Name"}}} {
				b.ClearFaults()
				b.Fault(rules...)
				var got []string
				short := false
				for cursor, first := "", true; first || cursor != ""; first = false {
					b.ResetRequests()
					page := assert.Must(s.Page(t.Context(), inSales(), cursor, opts))(t)
					b.WantRequestCount(t, 1)
					got = append(got, rowKeysOf(page.Items)...)
					short = short || len(page.Items) == 0 && page.Cursor != ""
					cursor = page.Cursor
				}
				assert.EqualSlices(t, got, m.all, opts)
				if !short {
					t.Errorf("%+v: no page was empty, although there are many copies", opts)
				}
				if got := rowKeysOf(collect(t, s, inSales(), opts)); opts.Limit == 0 && !slices.Equal(got, m.all) {
					t.Errorf("query, %+v: %q, want %q", opts, got, m.all)
				}
			}
		}
	})
}

// scanOnce continues a scan from a cursor until it has received the given number of pages.
func scanOnce(t *testing.T, s *patterns.Store[clerk], cursor string, pages int, opts *patterns.QueryOptions, found map[keys.Key]int) string {
	t.Helper()
	n := 0
	for page, err := range s.Scan(t.Context(), query.Filter{}, cursor, opts) {
		assert.NoError(t, err)
		for _, item := range page.Items {
			found[item.Key]++
		}
		cursor = page.Cursor
		if n++; n == pages {
			break
		}
	}
	return cursor
}

func TestAScanOfAStoreReturnsEachPrimaryOnceWhereverItIsInterrupted(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		m, s := newMixedTable(t, b)
		want := map[keys.Key]int{}
		for _, row := range m.all {
			want[keys.Key{Partition: "sales", Row: row}] = 1
		}
		for i := 25; i < 30; i++ {
			want[keys.Key{Partition: "ops", Row: fmt.Sprint("id_", i)}] = 1
		}
		for _, opts := range []*patterns.QueryOptions{{PageSize: 6, Parallel: 1}, {PageSize: 3, Parallel: 4}, {PageSize: 9, Parallel: 3, Select: []string{"Name"}}} {
			for every := 1; every <= 4; every++ {
				b.ClearFaults()
				if b.InProcess() && every%2 == 0 {
					b.Fault(storagetest.On("Table.Query").EmptyPage().Probability(0.3), storagetest.On("Table.Query").ShortPage(1).Probability(0.3))
				}
				found := map[keys.Key]int{}
				for cursor, first := "", true; first || cursor != ""; first = false {
					cursor = scanOnce(t, s, cursor, every, opts, found)
				}
				assert.EqualMaps(t, found, want, opts, "killed every", every, "pages")
			}
		}
		b.ClearFaults()
		rows := 0
		for page, err := range s.Scan(t.Context(), inSales(), "", nil) {
			assert.NoError(t, err)
			rows = page.Progress.Found
		}
		assert.Equal(t, rows, len(m.all), "rows counted")
	})
}

func TestPrimariesIsSentToTheService(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		// Both key fields are fields of the type, so that every entity has the right key.
		client := b.Table(t)
		people := harness.NewTable[harness.Person](t, client, nil)
		s, err := patterns.NewStore(people, &patterns.StoreOptions[harness.Person]{Primaries: query.Prop("Age").Ge(int32(40))})
		assert.NoError(t, err)
		for i := range 4 {
			v := harness.NewPerson(fmt.Sprint("p", i))
			assert.Must(s.Insert(t.Context(), &v))(t)
		}
		assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), []byte(`{"PartitionKey":"sales","RowKey":"p2b","Age":"text"}`), nil)))
		b.ResetRequests()
		want := []string{"p0", "p1", "p2", "p3"}
		for _, opts := range []*patterns.QueryOptions{nil, {Select: []string{"Note"}}, {PageSize: 1}} {
			assert.EqualSlices(t, rowKeysOf(collect(t, s, inSales(), opts)), want)
		}
		assert.EqualSlices(t, rowKeysOf(collect(t, s, inSales(query.RowKey.In("p2", "p2b")), nil)), want[2:3])
		page := assert.Must(s.Page(t.Context(), inSales(), "", &patterns.QueryOptions{PageSize: 2}))(t)
		for item, err := range people.Query(t.Context(), inSales(), nil) {
			if err == nil && item.Key.Row == "p2b" {
				t.Error("the row does not fit the type")
			}
		}
		_, err = people.Page(t.Context(), inSales(), page.Cursor, &patterns.QueryOptions{PageSize: 2})
		assert.WantError(t, err, patterns.ErrBadCursor)
		for what, bad := range map[string]query.Filter{
			"an unknown name": query.Prop("Nickname").Eq("x"), "a wrong type": query.Prop("Age").Eq("x"), "an invalid filter": query.Prop("Age").Eq(struct{}{}),
		} {
			if _, err := patterns.NewStore(people, &patterns.StoreOptions[harness.Person]{Primaries: bad}); err == nil || !strings.Contains(err.Error(), "Primaries") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestAnEntityThatDoesNotFitIsAnError(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		m, s := newMixedTable(t, b)
		assert.NoError(t, assert.ErrorOf(m.client.AddEntity(t.Context(), []byte(`{"PartitionKey":"sales","RowKey":"id_07b","Members":"text"}`), nil)))
		for _, f := range []query.Filter{inSales(), inSales(query.RowKey.Eq("id_07b"))} {
			var last error
			for _, err := range s.Query(t.Context(), f, nil) {
				last = err
			}
			var e *patterns.PropertyError
			if !errors.As(last, &e) || e.Property != "Members" {
				t.Errorf("%v", last)
			}
		}
	})
}

func TestARowThatAMergeCreatedIsNoPrimaryUntilTheStoreWritesOne(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for what, partition := range map[string]string{"local": "sales", "remote": "ops"} {
			client := b.Table(t)
			boss := patterns.ViewOf("boss", patterns.Shape{Kind: patterns.Merges, Remote: true}, func(p *harness.Person) ([]patterns.DerivedRow, error) {
				if p.Name == "boss" {
					return nil, nil
				}
				return []patterns.DerivedRow{patterns.MergeRow(keys.Key{Partition: "sales", Row: "boss"},
					patterns.MergeSpec{Set: map[string]any{"Deputy": p.Name}, Add: map[string]any{"Reports": int64(1)}})}, nil
			})
			s := harness.NewStore(t, client, &patterns.StoreOptions[harness.Person]{Views: []patterns.View[harness.Person]{boss}, Outbox: &harness.OutboxQueue{}})
			p := harness.NewPerson("ann")
			p.Dept = partition
			assert.Must(s.Insert(t.Context(), &p))(t)
			key := harness.NewPerson("boss").Key()
			_, err := s.Get(t.Context(), key)
			assert.WantError(t, err, patterns.ErrNotFound)
			row := assert.Must(s.Table().Get(t.Context(), key))(t)
			if state, _ := row.Property("azp_state"); state != "part" {
				t.Errorf("%s: state %v", what, state)
			}
			f := inSales(query.RowKey.Eq("boss"))
			if got := collect(t, s, f, nil); len(got) > 0 {
				t.Errorf("%s: %+v", what, got)
			}
			v := harness.NewPerson("boss")
			_, err1 := s.PutItem(t.Context(), row, &v)
			_, err2 := s.UpdateItem(t.Context(), row, func(*harness.Person) error { return nil })
			for _, err := range []error{err1, err2, s.DeleteItem(t.Context(), row), s.Repair(t.Context(), key)} {
				assert.WantError(t, err, patterns.ErrNotFound)
			}
			if what == "local" {
				assert.Must(s.Insert(t.Context(), &v))(t)
			} else {
				assert.Must(s.Put(t.Context(), &v))(t)
			}
			_, err = s.Insert(t.Context(), &v)
			assert.WantError(t, err, patterns.ErrExists)
			got := collect(t, s, f, nil)
			assert.Equal(assert.Now(t), len(got), 1, what)
			assert.Equal(assert.Now(t), got[0].Value.Age, v.Age, what)
			state, marked := got[0].Property("azp_state")
			deputy, _ := got[0].Property("Deputy")
			if marked || deputy != "ann" {
				t.Errorf("%s: state %v, deputy %v", what, state, deputy)
			}
			// Another merge into a primary does not make it a part.
			assert.Must(s.Update(t.Context(), p.Key(), func(p *harness.Person) error { p.Age++; return nil }))(t)
			assert.NoError(t, s.Delete(t.Context(), p.Key()))
			if got := collect(t, s, f, nil); len(got) != 1 {
				t.Errorf("%s: %+v", what, got)
			}
		}
	})
}
